"""Which value_info entries of a model survive, and what new ones say.

House: rewrite. May import analysis and model.
Touch: `model/writeback.py` asks.
"""

from __future__ import annotations

from onnx import ValueInfoProto

from onnxsim_ci.analysis import Dim, claim_of
from onnxsim_ci.model import Graph, Value


def keep_info(value: Value, info: ValueInfoProto) -> bool:
    """False when facts contradict a value_info: another element type, rank or static dimension."""
    if not info.type.HasField("tensor_type"):
        return True
    kind = info.type.tensor_type
    if value.dtype > 0 and kind.elem_type and kind.elem_type != value.dtype:
        return False
    if value.shape is None or not kind.HasField("shape"):
        return True
    dims = kind.shape.dim
    if len(dims) != len(value.shape):
        return False
    return all(
        not d.HasField("dim_value") or not isinstance(known, int) or d.dim_value == known
        for d, known in zip(dims, value.shape, strict=True)
    )


def described(value: Value) -> tuple[int, tuple[int | str | None, ...]] | None:
    """Element type and dims of a tensor whose shape is proven; a dim is named when it is that of an input."""
    if value.dtype <= 0 or value.shape is None:
        return None
    return value.dtype, tuple(_dim(d) for d in value.shape)


def _dim(dim: Dim) -> int | str | None:
    return dim if isinstance(dim, int) else claim_of(dim)


def contradicted_output(graph: Graph) -> str | None:
    """A sentence about an output that is declared with another element type than it has; None for none."""
    for value in graph.root.outputs:
        declared = value.declared
        if declared is None or value.is_input or not declared.type.HasField("tensor_type"):
            continue
        claimed = declared.type.tensor_type.elem_type
        if value.dtype > 0 and claimed and claimed != value.dtype:
            return f"output {value.name!r} is declared with another element type than it is computed with"
    return None
