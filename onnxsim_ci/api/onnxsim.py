"""onnxsim's `simplify()` with its names and their meaning; it only translates them into a policy.

What cannot be honoured is never ignored in silence: it raises, or it warns where nothing is lost.

House: api. May import policy, model and errors.
Touch: `policy/onnxsim.py` has the meaning of each name, shared with the command line.
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from onnx import ModelProto

from onnxsim_ci.api.flow import Result, optimize
from onnxsim_ci.errors import NotAvailable
from onnxsim_ci.model import Weights, embedded, filled, load
from onnxsim_ci.policy import OnnxsimChoice, from_settings
from onnxsim_ci.policy.onnxsim import ALL

Shapes = Mapping[str | None, Sequence[int]]
"""Dims by input name; the key None means the only input."""

PROVEN = ("simplified", "unchanged")
"""Outcomes of a report in which the result stands."""

IGNORED = {
    "dynamic_input_shape": "dynamic inputs need no flag",
    "import_custom_schemas": "operators outside the standard are left alone",
    "profile": "the seconds of each phase stand in the report of optimize()",
    "ort_profile": "no profile of ONNX Runtime is written",
    "merge_ort_profile": "no profile of ONNX Runtime is written",
}
"""Arguments of onnxsim that change nothing here, and why that does no harm."""

UNBUILT: Mapping[str, tuple[tuple[Any, ...], str]] = {
    "input_data": (
        (None,),
        "arrays for the proof cannot be passed yet; name files in the policy's verify.data",
    ),
    "input_fill": ((None, "random"), "the proof makes its own inputs; only 'random' is understood yet"),
    "custom_lib": ((None,), "libraries of custom operators cannot be loaded yet"),
    "providers": ((None, ["CPUExecutionProvider"]), "proofs run on CPUExecutionProvider only, as yet"),
    "initializers_as_constants": (
        (True,),
        "False is not built yet; name weights in the policy's simplify.keep",
    ),
    "external_data_threshold": ((None,), "weights cannot be moved into an external file yet"),
}
"""Arguments that are not built yet: the values that ask for nothing, and the sentence for all others."""


def simplify(
    model: str | os.PathLike[str] | bytes | ModelProto,
    check_n: int = 0,
    perform_optimization: bool = True,
    skip_fuse_bn: bool = False,
    overwrite_input_shapes: Shapes | None = None,
    test_input_shapes: Shapes | None = None,
    skipped_optimizers: Sequence[str] | None = None,
    skip_constant_folding: bool = False,
    skip_shape_inference: bool = False,
    input_data: Mapping[str, Any] | None = None,
    dynamic_input_shape: bool = False,
    custom_lib: str | None = None,
    include_subgraph: bool = False,
    unused_output: Sequence[str] | None = None,
    tensor_size_threshold: str | int | None = None,
    mutable_initializer: bool = False,
    *,
    input_shapes: Shapes | None = None,
    inline_functions: bool = False,
    target_opset_version: str | int | None = None,
    extra_optimizers: Sequence[str] | None = None,
    output_path: str | os.PathLike[str] | None = None,
    check_rtol: float | None = None,
    check_atol: float | None = None,
    **more: Any,
) -> tuple[ModelProto, bool]:
    """(result, True) when the result is proven; else (source, False) and a warning that names the verdict.

    The model that is passed in is not changed; external data come back inside the returned one. Defaults are
    ours: without `check_n` the proof takes its usual samples, it is never off; inference writes nothing.

    Raises:
        BadInput: The model, an input or an output name cannot be used.
        BadPolicy: An argument has a value that is not understood, such as the name of an unknown rule.
        NotAvailable: An argument of onnxsim that is not built yet.
        TypeError: An argument that does not exist here; the message names the nearest one.
    """
    more |= {"input_data": input_data, "dynamic_input_shape": dynamic_input_shape, "custom_lib": custom_lib}
    _refuse_or_warn(more)
    choice = OnnxsimChoice(
        overwrite_input_shapes=_named(input_shapes) | _named(overwrite_input_shapes),
        test_input_shapes=_named(test_input_shapes),
        skipped_optimizers=(*(skipped_optimizers or ()), *(() if perform_optimization else (ALL,))),
        extra_optimizers=tuple(extra_optimizers or ()),
        skip_fuse_bn=skip_fuse_bn,
        skip_constant_folding=skip_constant_folding,
        tensor_size_threshold=tensor_size_threshold,
        unused_output=tuple(unused_output or ()),
        mutable_initializer=mutable_initializer,
        include_subgraph=include_subgraph,
        check_rtol=check_rtol,
        check_atol=check_atol,
        inline_functions=inline_functions,
        target_opset_version=target_opset_version,
        check_n=check_n,
    )
    policy = from_settings(choice.settings(lambda name: f"argument {name}"))
    result = optimize(model, policy=policy, output=output_path)
    outcome = result.report.models[0].outcome
    if outcome not in PROVEN:
        verdict = f"{result.verdict.verdict}: {result.verdict.reason}".rstrip(": ")
        warnings.warn(f"{outcome} ({verdict}); the source is returned", stacklevel=2)
    return _whole(model, result), outcome in PROVEN


def _named(shapes: Shapes | None) -> dict[str, Sequence[int]]:
    """The only input is called "" in a policy."""
    return {name or "": list(dims) for name, dims in (shapes or {}).items()}


def _refuse_or_warn(more: Mapping[str, Any]) -> None:
    """Look at the arguments that the choice has no field for."""
    known = [n for n, p in inspect.signature(simplify).parameters.items() if p.kind is not p.VAR_KEYWORD]
    for name, value in more.items():
        if name in UNBUILT:
            harmless, sentence = UNBUILT[name]
            if not any(
                value is h or (isinstance(value, (str, list, tuple)) and value == h) for h in harmless
            ):
                raise NotAvailable(f"simplify({name}=...): {sentence}")
        elif name in IGNORED:
            if value:
                warnings.warn(f"simplify({name}=...) changes nothing: {IGNORED[name]}", stacklevel=3)
        else:
            nearest = get_close_matches(name, [*known, *UNBUILT, *IGNORED], n=1, cutoff=0.0)[0]
            raise TypeError(f"simplify() has no argument {name!r}; the nearest is {nearest!r}")


def _whole(model: str | os.PathLike[str] | bytes | ModelProto, result: Result) -> ModelProto:
    """The result with all weights inside, as onnxsim returns it: a caller may save it anywhere."""
    if result.written is not None:
        loaded = load(result.written)
        return embedded(filled(loaded.proto, loaded.weights), loaded.weights)
    folder = Path(model).parent if isinstance(model, (str, os.PathLike)) else None
    return embedded(result.model, Weights(b"", folder))
