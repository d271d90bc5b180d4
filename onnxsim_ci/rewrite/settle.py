"""Write an index back into its model, and say whether anything changed.

House: rewrite. May import model and analysis.
Touch: `model/writeback.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from onnx import ModelProto, ValueInfoProto

from onnxsim_ci.model import Graph, Value, write_back


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


def write_back_result(
    graph: Graph, model: ModelProto, keep: Callable[[Value, ValueInfoProto], bool] = keep_info
) -> bool:
    """Bring `model` up to date with `graph`; True when its messages changed."""
    return write_back(graph, model, keep)
