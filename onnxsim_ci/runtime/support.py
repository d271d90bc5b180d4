"""Which models the installed ONNX Runtime can load at all, found by asking it.

House: runtime; onnx and onnxruntime are imported inside functions.
Touch: nothing else states version limits; a new runtime needs no edit here.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from onnxsim_ci.runtime.failures import RuntimeRefusal
from onnxsim_ci.runtime.image import ModelImage
from onnxsim_ci.runtime.session import open_session

_DEFAULT_DOMAINS = ("", "ai.onnx")


@functools.cache
def warm_up() -> None:
    """Import the runtime and open its first session now (0.1 s), so that no later step is timed with it."""
    _trial(8, 13)


def runtime_version() -> str:
    """Version of the installed ONNX Runtime, for example `1.32.0`."""
    import onnxruntime

    return str(onnxruntime.__version__)


def runtime_supports(ir: int, opset: int | Mapping[str, int]) -> str | None:
    """One sentence that says why the runtime is too old for such a model, or None when it is not.

    Args:
        ir: The model's `ir_version`.
        opset: Version of the default domain, or versions by domain (others than the default are ignored).
    """
    if isinstance(opset, int):
        return _trial(ir, opset)
    versions = [version for domain, version in opset.items() if domain in _DEFAULT_DOMAINS]
    return _trial(ir, max(versions, default=1))


@functools.cache
def _trial(ir: int, opset: int) -> str | None:
    from onnx import TensorProto, helper

    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "trial", [value], [result])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = ir
    try:
        open_session(ModelImage(data=model.SerializeToString()))
    except RuntimeRefusal as refusal:
        return f"onnxruntime {runtime_version()} cannot load IR version {ir} with opset {opset}: {refusal}"
    return None
