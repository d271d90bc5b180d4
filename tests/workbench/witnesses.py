"""Numeric evidence: source and result on the same inputs, with ONNX Runtime's optimisations off and in the reference.

An input is a witness only if the source runs on it. Inputs are seeded; sizes of symbolic dims vary, also 1 and 0, and
one set of sizes gives different sizes to axes of the same name.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.reference
from onnx import ModelProto, NodeProto, TensorProto, TypeProto
from onnx_text import nodes_of

from onnxsim_ci.model import IR_WITHOUT_INPUT_INITIALIZERS
from onnxsim_ci.rewrite import ResultClass
from onnxsim_ci.runtime import ModelImage, RunFailure, RuntimeRefusal, open_session

Feeds = dict[str, Any]
SIZES = ((3, 5, 2, 7, 4), (2, 3, 4, 5, 6), (1,) * 5, (0,) * 5, (0, 2, 3, 4, 5), (1, 4, 2, 3, 5))
"""Sizes of the first, second, ... dim name; larger and different ones first."""
SIZING = frozenset(
    "Reshape Expand Tile ConstantOfShape Range Slice Pad Gather OneHot Loop TopK Split Squeeze Unsqueeze ReduceSum "
    "ReduceMean ReduceMax ReduceMin ReduceProd".split()
)
"""Operators whose integer operands are sizes or positions: they get small numbers."""
KINDS = ("ordinary", "special", "flat")
ATTEMPTS = 12
"""Samples of each kind where random numbers are sizes or axes, which seldom fit."""
NOISE_UNITS = 64
"""Allowed distance of a ROUNDING result in units of the last place of the output's largest number."""


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


def assert_equal_outputs(source: ModelProto, result: ModelProto, promise: ResultClass, seed: int = 0) -> Evidence:
    """Compare the outputs as `promise` demands; AssertionError with the input's description where they differ."""
    evidence = Evidence()
    samples = list(samples_of(source, seed, KINDS[:1] if promise is ResultClass.ROUNDING else KINDS))
    for open_model in (_runtime, _reference):
        try:
            run_source = open_model(source)
        except RuntimeRefusal as error:
            evidence.refused.append(str(error))
            continue
        run_result = open_model(result)
        for label, sizes, feeds in samples:
            try:
                wanted = run_source(feeds)
            except RunFailure as error:
                evidence.refused.append(str(error))
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
    """Why the reference evaluator is no witness for `node`: it computes other bits than the operator's text says."""
    if node.op_type == "Sum" and len(node.input) == 1:
        return "it adds the one operand of a Sum to 0, so -0 becomes +0"
    if node.op_type in ("ReduceSum", "ReduceMean") and any(a.name == "noop_with_empty_axes" and a.i for a in node.attribute):
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
    return f"{one[place]!r} became {other[place]!r} at {list(place)}, {int((~same).sum())} of {same.size} differ"


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
    allowed = NOISE_UNITS * float(ml_dtypes.finfo(dtype).eps) * largest
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


# ---- inputs


def samples_of(model: ModelProto, seed: int, kinds: tuple[str, ...]) -> Iterator[tuple[str, tuple[int, ...], Feeds]]:
    """(description, sizes, inputs by name) in a fixed order; overridable initializers are left out, then overridden."""
    stored = {t.name for t in model.graph.initializer}
    ops = {node.op_type for node in nodes_of(model)}
    axes = _symbolic_axes(model)
    can_override = model.ir_version >= IR_WITHOUT_INPUT_INITIALIZERS and stored & {i.name for i in model.graph.input}
    assignments = list(dict.fromkeys(_assignments(axes)))
    repeats = range(ATTEMPTS if _takes_sizes(model, ops) else 1)
    for number, (_, sizes, kind) in enumerate(itertools.product(repeats, assignments, kinds)):
        places = dict(zip(axes, sizes, strict=True))
        rng = np.random.default_rng([seed, number])
        for given in ("default", "override") if can_override else ("default",):
            feeds = {
                info.name: _value(info.type, info.name, places, rng, kind, ops)
                for info in model.graph.input
                if info.name not in stored or given == "override"
            }
            named = ", ".join(f"{name}[{axis}]={size}" for (name, axis), size in places.items())
            yield f"{kind} sample {number} of seed {seed} ({named or 'static'}, {given})", sizes, feeds


def _takes_sizes(model: ModelProto, ops: set[str]) -> bool:
    integers = (TensorProto.INT64, TensorProto.INT32)
    return bool(ops & SIZING) and any(i.type.tensor_type.elem_type in integers for i in model.graph.input)


def _symbolic_axes(model: ModelProto) -> dict[tuple[str, int], str]:
    """(input, axis) -> dim name; anonymous axes have names of their own."""
    found: dict[tuple[str, int], str] = {}
    for info in model.graph.input:
        for axis, dim in enumerate(info.type.tensor_type.shape.dim):
            if not dim.HasField("dim_value"):
                found[info.name, axis] = dim.dim_param or f"{info.name}[{axis}]"
    return found


def _assignments(axes: dict[tuple[str, int], str]) -> Iterator[tuple[int, ...]]:
    names = list(dict.fromkeys(axes.values()))
    for sizes in SIZES:
        by_name = dict(zip(names, itertools.cycle(sizes)))
        yield tuple(by_name[name] for name in axes.values())
    if len(names) < len(axes):
        for broken in itertools.product((1, 2, 3, 4), repeat=min(len(axes), 3)):
            yield tuple(size for size, _ in zip(itertools.cycle(broken), axes))


def _value(
    kind: TypeProto, name: str, places: dict[tuple[str, int], int], rng: np.random.Generator, how: str, ops: set[str]
) -> Any:
    if kind.HasField("sequence_type"):
        return [_value(kind.sequence_type.elem_type, f"{name}.{i}", places, rng, how, ops) for i in range(2)]
    if kind.HasField("optional_type"):
        return _value(kind.optional_type.elem_type, name, places, rng, how, ops)
    dims = kind.tensor_type.shape.dim
    shape = tuple(d.dim_value if d.HasField("dim_value") else places.get((name, a), 2) for a, d in enumerate(dims))
    return elements(kind.tensor_type.elem_type, shape, rng, how, ops)


def elements(dtype: int, shape: tuple[int, ...], rng: np.random.Generator, how: str, ops: set[str]) -> np.ndarray:
    """Seeded elements of a TensorProto type: ordinary ones, ones at the edges of the type, or ties and zeros."""
    if dtype == TensorProto.STRING:
        return np.asarray(rng.choice(np.array(["", "a", "b c", "7"], object), shape), object)
    if dtype == TensorProto.BOOL:
        return np.asarray(rng.random(shape) < {"ordinary": 0.5, "special": 0.9, "flat": 0.2}[how])
    kind = onnx.helper.tensor_dtype_to_np_dtype(dtype)
    if kind.kind in "iu":
        return _integers(kind, shape, rng, how, ops)
    if how == "flat":
        return np.asarray(rng.choice(np.array([0.0, -0.0, 1.0, -1.0, 0.5]), shape)).astype(kind)
    numbers = rng.standard_normal(shape) * 2
    if how == "special":
        numbers = np.where(rng.random(shape) < 0.7, rng.choice(_edges(kind), shape), numbers)
    with np.errstate(all="ignore"):
        return np.asarray(numbers).astype(kind)


def _edges(kind: np.dtype) -> np.ndarray:
    if kind.kind == "c":
        return np.array([0.0, -0.0, 1.0])
    info = ml_dtypes.finfo(kind)
    tiny, least, most = float(info.tiny), float(info.smallest_subnormal), float(info.max)
    numbers = [np.nan, np.inf, 0.0, least, 3 * least, tiny, most, most / 2, 88.8, 300.5, 2.5, 1 - float(info.eps)]
    numbers += [2.0**31, 2.0**31 - 1, 2.0**63, 65520.0, 0.5, 1.5, 127.5, 255.5]
    return np.array([*numbers, *(-n for n in numbers)])


def _integers(kind: np.dtype, shape: tuple[int, ...], rng: np.random.Generator, how: str, ops: set[str]) -> np.ndarray:
    low, high = (0 if kind.kind == "u" else -7), 8
    if ops & {"Div", "Mod"}:
        return np.asarray(rng.integers(1, high, shape)).astype(kind)
    if ops & SIZING:
        return np.asarray(rng.integers(-1 if kind.kind == "i" and how != "flat" else 0, 4, shape)).astype(kind)
    numbers = np.asarray(rng.integers(low, high, shape)).astype(kind)
    if how == "special":
        info = np.iinfo(kind)
        edges = np.array([info.min, info.max, info.max - 1, info.min + 1, 0, 1, info.max // 2 + 1], kind)
        numbers = np.where(rng.random(shape) < 0.7, rng.choice(edges, shape), numbers)
    return np.asarray(numbers).astype(kind)
