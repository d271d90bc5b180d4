"""Shapes of the operators that move elements: reshaping, cutting, joining, picking.

House: analysis/transfer. May import analysis and model.
Touch: `shape_chain.py` has the contents of the same operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnxsim_ci.analysis.content import Element
from onnxsim_ci.analysis.dim import Dim, Shape, is_nonnegative, product
from onnxsim_ci.analysis.opaque import broadcast_dim, floordiv, maximum
from onnxsim_ci.analysis.transfer.reading import (
    ShapeFunction,
    ShapesFunction,
    axis_of,
    elements_of,
    numbers_of,
    shape_at,
    unknown_dim,
    unknown_shape,
)
from onnxsim_ci.analysis.transfer.slicing import slice_parameters, sliced_length
from onnxsim_ci.analysis.transfer.splitting import split_sizes

if TYPE_CHECKING:
    from onnxsim_ci.analysis.facts import Facts
    from onnxsim_ci.model import Node


def _transpose(node: Node, facts: Facts) -> Shape | None:
    shape = shape_at(node, facts, 0)
    if shape is None:
        return None
    permutation = node.attribute("perm") or tuple(reversed(range(len(shape))))
    return tuple(shape[i] for i in permutation) if len(permutation) == len(shape) else None


def _flatten(node: Node, facts: Facts) -> Shape | None:
    shape = shape_at(node, facts, 0)
    axis = node.attribute("axis", 1)
    if shape is None or not -len(shape) <= axis <= len(shape):
        return None
    axis += len(shape) if axis < 0 else 0
    return product(shape[:axis]), product(shape[axis:])


def _squeeze(node: Node, facts: Facts) -> Shape | None:
    """Without axes every 1 goes, so the rank is known for static shapes only."""
    shape = shape_at(node, facts, 0)
    if shape is None:
        return None
    if not facts.has_axes(node):
        return tuple(d for d in shape if d != 1) if all(isinstance(d, int) for d in shape) else None
    axes = facts.axes(node, len(shape))
    return None if axes is None else tuple(d for i, d in enumerate(shape) if i not in axes)


def _unsqueeze(node: Node, facts: Facts) -> Shape | None:
    """Axes count in the output."""
    shape = shape_at(node, facts, 0)
    given = numbers_of(node, facts, "axes", 1)
    if shape is None or given is None:
        return None
    axes = facts.axes(node, len(shape) + len(given))
    if axes is None:
        return None
    dims = iter(shape)
    return tuple(1 if i in axes else next(dims) for i in range(len(shape) + len(axes)))


def _expand(node: Node, facts: Facts) -> Shape | None:
    shape, target = shape_at(node, facts, 0), elements_of(node, facts, "", 1)
    if shape is None or target is None:
        return None
    rank = max(len(shape), len(target))
    dims: tuple[Dim, ...] = (1,) * (rank - len(shape)) + shape
    wanted: tuple[Element, ...] = (1,) * (rank - len(target)) + target
    return tuple(_expanded(node, i, d, w) for i, (d, w) in enumerate(zip(dims, wanted, strict=True)))


def _expanded(node: Node, axis: int, dim: Dim, wanted: Element) -> Dim:
    """A static dim other than 1 stays, whatever is wanted."""
    if isinstance(dim, int) and dim != 1:
        return dim
    if wanted is None or not is_nonnegative(wanted):
        return unknown_dim(node, axis)
    result = broadcast_dim(dim, wanted)
    return unknown_dim(node, axis) if result is None else result


def _tile(node: Node, facts: Facts) -> Shape | None:
    shape, repeats = shape_at(node, facts, 0), elements_of(node, facts, "", 1)
    if shape is None:
        return None
    if repeats is None or len(repeats) != len(shape):
        return unknown_shape(node, len(shape))
    return tuple(
        0 if d == 0 else unknown_dim(node, i) if r is None or not is_nonnegative(r) else d * r
        for i, (d, r) in enumerate(zip(shape, repeats, strict=True))
    )


def _concat(node: Node, facts: Facts) -> Shape | None:
    """Off the axis all operands agree, except that onnxruntime ignores operands without elements."""
    shapes = [shape_at(node, facts, i) for i in range(len(node.inputs))]
    known = [s for s in shapes if s is not None]
    if not known or any(len(s) != len(known[0]) for s in known):
        return None
    rank = len(known[0])
    axis = axis_of(node, rank, 1 if node.operator is not None and node.operator.since < 4 else None)
    if axis is None:
        return None
    dims = [agreed([s[i] for s in known]) for i in range(rank)]
    dims[axis] = unknown_dim(node, axis)
    if len(known) == len(shapes):
        dims[axis] = sum((s[axis] for s in known), start=_ZERO)
    return tuple(dims)


_ZERO: Dim = 0


def agreed(dims: list[Dim]) -> Dim:
    """The one size of operands that agree where they have elements; static sizes first."""
    static = next((d for d in dims if isinstance(d, int)), None)
    return maximum(*dims) if static is None else static


def _split(node: Node, facts: Facts) -> list[Shape | None] | None:
    shape = shape_at(node, facts, 0)
    axis = None if shape is None else axis_of(node, len(shape), 0)
    if shape is None or axis is None:
        return None
    sizes = split_sizes(node, facts, shape[axis])
    if sizes is None:
        sizes = [None] * len(node.outputs)
    results: list[Shape | None] = []
    for index, size in enumerate(sizes):
        if node.output(index) is None:
            results.append(None)
            continue
        part = unknown_dim(node, axis, index) if size is None or not is_nonnegative(size) else size
        results.append((*shape[:axis], part, *shape[axis + 1 :]))
    return results


def _slice(node: Node, facts: Facts) -> Shape | None:
    shape = shape_at(node, facts, 0)
    if shape is None:
        return None
    parameters = slice_parameters(node, facts, len(shape))
    if parameters is None:
        return unknown_shape(node, len(shape))
    dims = list(shape)
    for axis, (start, end, step) in parameters.items():
        length = sliced_length(shape[axis], start, end, step)
        dims[axis] = unknown_dim(node, axis) if length is None else length
    return tuple(dims)


def _gather(node: Node, facts: Facts) -> Shape | None:
    data, indices = shape_at(node, facts, 0), shape_at(node, facts, 1)
    axis = None if data is None else axis_of(node, len(data), 0)
    if data is None or indices is None or axis is None:
        return None
    return (*data[:axis], *indices, *data[axis + 1 :])


def _gather_elements(node: Node, facts: Facts) -> Shape | None:
    return shape_at(node, facts, 1)


def _gather_nd(node: Node, facts: Facts) -> Shape | None:
    data, indices = shape_at(node, facts, 0), shape_at(node, facts, 1)
    if data is None or not indices or not isinstance(indices[-1], int):
        return None
    taken = node.attribute("batch_dims", 0) + indices[-1]
    return indices[:-1] + data[taken:] if taken <= len(data) else None


def _same(node: Node, facts: Facts) -> Shape | None:
    return shape_at(node, facts, 0)


def _depth_to_space(node: Node, facts: Facts) -> Shape | None:
    shape, block = shape_at(node, facts, 0), node.attribute("blocksize", 0)
    if shape is None or len(shape) != 4 or block < 1:
        return None
    n, c, h, w = shape
    return n, floordiv(c, block * block), h * block, w * block


def _space_to_depth(node: Node, facts: Facts) -> Shape | None:
    shape, block = shape_at(node, facts, 0), node.attribute("blocksize", 0)
    if shape is None or len(shape) != 4 or block < 1:
        return None
    n, c, h, w = shape
    return n, c * (block * block), floordiv(h, block), floordiv(w, block)


SHAPES: dict[str, ShapeFunction] = {
    "Concat": _concat,
    "DepthToSpace": _depth_to_space,
    "Expand": _expand,
    "Flatten": _flatten,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "ScatterElements": _same,
    "ScatterND": _same,
    "Slice": _slice,
    "SpaceToDepth": _space_to_depth,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}
OUTPUT_SHAPES: dict[str, ShapesFunction] = {"Split": _split}
