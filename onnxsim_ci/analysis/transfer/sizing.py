"""Shapes of the operators whose sizes are given by contents or by data.

Sizes that depend on the data are left open.

House: analysis/transfer. May import analysis and model.
Touch: `shape_chain.py` has the contents of ConstantOfShape and Range.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnxsim_ci.analysis.dim import Dim, Shape, is_nonnegative
from onnxsim_ci.analysis.opaque import ceildiv, maximum
from onnxsim_ci.analysis.transfer.reading import (
    ShapeFunction,
    ShapesFunction,
    axis_of,
    elements_of,
    is_given,
    shape_at,
    unknown_dim,
    unknown_shape,
)

if TYPE_CHECKING:
    from onnxsim_ci.analysis.facts import Facts
    from onnxsim_ci.model import Node


def _one_hot(node: Node, facts: Facts) -> Shape | None:
    """Depth is a scalar or has one element; float depths are left open."""
    indices, depth = shape_at(node, facts, 0), elements_of(node, facts, "", 1)
    if indices is None:
        return None
    axis = axis_of(node, len(indices) + 1, -1)
    if axis is None:
        return None
    size = depth[0] if depth is not None and len(depth) == 1 else None
    dim = unknown_dim(node, axis) if size is None or not is_nonnegative(size) else size
    return (*indices[:axis], dim, *indices[axis:])


def _pad(node: Node, facts: Facts) -> Shape | None:
    """Negative pads crop. Axes are an input from version 18 on; the attribute was `paddings` in version 1."""
    shape = shape_at(node, facts, 0)
    if shape is None:
        return None
    name = "paddings" if node.attribute("paddings") is not None else "pads"
    pads = elements_of(node, facts, name, 1)
    axes = facts.axes(node, len(shape), 3) if is_given(node, "axes", 3) else tuple(range(len(shape)))
    if pads is None or axes is None or len(pads) != 2 * len(axes):
        return unknown_shape(node, len(shape))
    dims = list(shape)
    for i, axis in enumerate(axes):
        begin, end = pads[i], pads[i + len(axes)]
        dims[axis] = (
            unknown_dim(node, axis) if begin is None or end is None else maximum(0, shape[axis] + begin + end)
        )
    return tuple(dims)


def _constant_of_shape(node: Node, facts: Facts) -> Shape | None:
    target = elements_of(node, facts, "", 0)
    if target is None:
        return None
    return tuple(
        unknown_dim(node, i) if t is None or not is_nonnegative(t) else t for i, t in enumerate(target)
    )


def _range(node: Node, facts: Facts) -> Shape | None:
    """ceil((limit - start) / delta), at least 0, for integers; the kernel decides for floats."""
    ends = [elements_of(node, facts, "", i) for i in range(3)]
    known = [e[0] for e in ends if e is not None and len(e) == 1]
    if len(known) < 3:
        return unknown_shape(node, 1)
    start, limit, delta = known
    if start is None or limit is None or not isinstance(delta, int) or delta == 0:
        return unknown_shape(node, 1)
    span = limit - start if delta > 0 else start - limit
    return (maximum(0, ceildiv(span, abs(delta))),)


def _compress(node: Node, facts: Facts) -> Shape | None:
    """How many elements remain depends on the data."""
    if node.attribute("axis") is None:
        return unknown_shape(node, 1)
    shape = shape_at(node, facts, 0)
    axis = None if shape is None else axis_of(node, len(shape))
    if shape is None or axis is None:
        return None
    return (*shape[:axis], unknown_dim(node, axis), *shape[axis + 1 :])


def _top_k(node: Node, facts: Facts) -> list[Shape | None] | None:
    """The number of kept elements is an attribute below version 10."""
    shape, k = shape_at(node, facts, 0), elements_of(node, facts, "k", 1)
    axis = None if shape is None else axis_of(node, len(shape), -1)
    if shape is None or axis is None:
        return None
    size = k[0] if k is not None and len(k) == 1 else None
    results: list[Shape | None] = []
    for index in range(len(node.outputs)):
        is_known = size is not None and is_nonnegative(size)
        dim = size if size is not None and is_known else _own_dim(node, axis, index)
        results.append(None if dim is None else (*shape[:axis], dim, *shape[axis + 1 :]))
    return results


def _own_dim(node: Node, axis: int, output: int) -> Dim | None:
    return None if node.output(output) is None else unknown_dim(node, axis, output)


def _non_zero(node: Node, facts: Facts) -> Shape | None:
    """One row an axis; for a scalar onnxruntime and the standard differ, so it is left open."""
    shape = shape_at(node, facts, 0)
    return (len(shape), unknown_dim(node, 1)) if shape else None


SHAPES: dict[str, ShapeFunction] = {
    "Compress": _compress,
    "ConstantOfShape": _constant_of_shape,
    "NonZero": _non_zero,
    "OneHot": _one_hot,
    "Pad": _pad,
    "Range": _range,
}
OUTPUT_SHAPES: dict[str, ShapesFunction] = {"TopK": _top_k}
