"""Numeric evidence: source and result on the same inputs, in the unoptimised runtime and in the reference.

An input is a witness only if the source runs on it.

Touch: `samples.py` makes the inputs.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.reference
from onnx import ModelProto, NodeProto
from onnx_text import nodes_of
from samples import KINDS, Feeds, samples_of

from onnxsim_ci.rewrite import ResultClass
from onnxsim_ci.runtime import ModelImage, RunFailure, RuntimeRefusal, open_session

NOISE_UNITS = 128
"""Allowed distance of a ROUNDING result in units of the last place of the output's largest number."""
CANCELLED = 2.0**-4
"""Outputs with smaller numbers are what is left of numbers of order one inside, and so is their noise."""


@dataclass
class Evidence:
    """How much was compared.

    Attributes:
        runs: Pairs of runs that were compared.
        sizes: Different sets of sizes among them.
        refused: What the evaluators said against the source where they did not run it.
    """

    runs: int = 0
    sizes: set[tuple[int, ...]] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)


def assert_equal_outputs(
    source: ModelProto, result: ModelProto, promise: ResultClass, seed: int = 0
) -> Evidence:
    """Compare the outputs as `promise` demands; AssertionError, with the input described, if they differ."""
    evidence = Evidence()
    samples = list(samples_of(source, seed, KINDS[:1] if promise is ResultClass.ROUNDING else KINDS))
    for open_model in (_runtime, _reference):
        try:
            run_source = open_model(source)
        except RuntimeRefusal as error:
            evidence.refused.append(str(error))
            continue
        run_result = open_model(result)
        is_fused = open_model is _runtime and _has_casts_in_a_row(result)
        for label, sizes, feeds in samples:
            if is_fused and not label.startswith(KINDS[0]):
                continue
            try:
                wanted = run_source(feeds)
            except RunFailure as error:
                evidence.refused.append(str(error))
                with suppress(RunFailure):  # both sessions draw the same random numbers
                    run_result(feeds)
                continue
            found = run_result(feeds)
            for name, one, other in zip((o.name for o in source.graph.output), wanted, found, strict=True):
                difference = difference_of(one, other, promise)
                assert not difference, f"{open_model.__name__}, {label}, output {name!r}: {difference}"
            evidence.runs += 1
            evidence.sizes.add(sizes)
    return evidence


def _runtime(model: ModelProto) -> Any:
    session = open_session(ModelImage(data=model.SerializeToString()))
    return lambda feeds: list(session.run(feeds).values())


def _has_casts_in_a_row(model: ModelProto) -> bool:
    """The runtime makes one Cast of two (1.32), which gives NaN and numbers out of range other integers."""
    casts = {n.output[0] for n in nodes_of(model) if n.op_type == "Cast"}
    return any(n.op_type == "Cast" and n.input[0] in casts for n in nodes_of(model))


def _reference(model: ModelProto) -> Any:
    reason = next((r for node in nodes_of(model) if (r := _reference_differs(node))), "")
    if reason:
        raise RuntimeRefusal(f"reference evaluator: {reason}")
    try:
        evaluator = onnx.reference.ReferenceEvaluator(model)
    except Exception as error:
        raise RuntimeRefusal(f"reference evaluator: {error}") from None
    names = [o.name for o in model.graph.output]

    def run(feeds: Feeds) -> list[Any]:
        try:
            with np.errstate(all="ignore"):
                return list(evaluator.run(names, dict(feeds)))
        except Exception as error:
            raise RunFailure(f"reference evaluator: {type(error).__name__}: {error}") from None

    return run


def _reference_differs(node: NodeProto) -> str:
    """Why the reference evaluator is no witness: it computes other bits than the text of `node` says."""
    if node.op_type == "Sum" and len(node.input) == 1:
        return "it adds the one operand of a Sum to 0, so -0 becomes +0"
    if node.op_type in ("ReduceSum", "ReduceMean") and any(
        a.name == "noop_with_empty_axes" and a.i for a in node.attribute
    ):
        return "it adds 0 where a reduction is no operation, so -0 becomes +0"
    return ""


# ---- comparison


def difference_of(one: Any, other: Any, promise: ResultClass) -> str:
    """How two outputs differ, in words; empty when they are as equal as `promise` says."""
    if one is None or isinstance(one, (list, dict)):
        return _nested_difference(one, other, promise)
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype != other.dtype or one.shape != other.shape:
        return f"{one.dtype}{list(one.shape)} became {other.dtype}{list(other.shape)}"
    if promise is ResultClass.ROUNDING and one.dtype.kind in "fV":
        return _noise(one.astype(np.float64), other.astype(np.float64), one.dtype)
    if promise is ResultClass.VALUES and one.dtype.kind in "fV":
        one, other = one + one.dtype.type(0), other + other.dtype.type(0)
    same = np.asarray(_bits(one) == _bits(other))
    if one.dtype.kind in "fcV":
        with np.errstate(all="ignore"):
            same = same | ((one != one) & (other != other))  # noqa: PLR0124  # true for NaN
    if same.all():
        return ""
    place = tuple(int(i) for i in np.argwhere(~same)[0])
    return (
        f"{one[place]!r} became {other[place]!r} at {list(place)}, {int((~same).sum())} of {same.size} differ"
    )


def _bits(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind in "fV" and array.dtype.itemsize in (1, 2, 4, 8):
        return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").reshape(array.shape)
    return array


def _noise(one: np.ndarray, other: np.ndarray, dtype: np.dtype) -> str:
    if one.size == 0:
        return ""
    if not np.array_equal(np.isfinite(one), np.isfinite(other)):
        return "other elements are finite"
    finite = np.isfinite(one)
    largest = float(np.abs(one[finite]).max(initial=0.0))
    distance = float(np.abs(one[finite] - other[finite]).max(initial=0.0))
    step = max(float(ml_dtypes.finfo(dtype).eps), float(np.finfo(np.float32).eps))
    allowed = NOISE_UNITS * step * max(largest, CANCELLED)  # a double may be the cast of a float
    return "" if distance <= allowed else f"distance {distance:.3g}, allowed {allowed:.3g}"


def _nested_difference(one: Any, other: Any, promise: ResultClass) -> str:
    if type(one) is not type(other):
        return f"{type(one).__name__} became {type(other).__name__}"
    if one is None:
        return ""
    if isinstance(one, dict):
        one, other = [*one.items()], [*other.items()]
        return "" if one == other else f"{one} became {other}"
    if len(one) != len(other):
        return f"{len(one)} elements became {len(other)}"
    return next((d for a, b in zip(one, other, strict=True) if (d := difference_of(a, b, promise))), "")
