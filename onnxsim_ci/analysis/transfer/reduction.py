"""Shapes of reductions.

House: analysis/transfer. May import analysis and model.
Touch: `arithmetic.py` has the contents of the integer ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnxsim_ci.analysis.dim import Shape
from onnxsim_ci.analysis.transfer.reading import ShapeFunction, axis_of, shape_at, unknown_shape

if TYPE_CHECKING:
    from onnxsim_ci.analysis.facts import Facts
    from onnxsim_ci.model import Node

REDUCTIONS = (
    *("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin"),
    *("ReduceProd", "ReduceSum", "ReduceSumSquare"),
)


def reduced_axes(node: Node, facts: Facts, rank: int) -> tuple[int, ...] | None:
    """Axes that a Reduce operator reduces; None when they are unknown.

    No axes, or empty ones, mean all of them, unless `noop_with_empty_axes` is set; then they mean none.
    """
    axes = facts.axes(node, rank) if facts.has_axes(node) else ()
    if axes is None or axes:
        return axes
    return () if node.attribute("noop_with_empty_axes", 0) else tuple(range(rank))


def _reduce(node: Node, facts: Facts) -> Shape | None:
    shape = shape_at(node, facts, 0)
    if shape is None:
        return None
    axes = reduced_axes(node, facts, len(shape))
    is_kept = bool(node.attribute("keepdims", 1))
    if axes is None:
        return unknown_shape(node, len(shape)) if is_kept else None
    return _without(shape, axes, is_kept=is_kept)


def _arg(node: Node, facts: Facts) -> Shape | None:
    shape = shape_at(node, facts, 0)
    axis = None if shape is None else axis_of(node, len(shape), 0)
    if shape is None or axis is None:
        return None
    return _without(shape, (axis,), is_kept=bool(node.attribute("keepdims", 1)))


def _without(shape: Shape, axes: tuple[int, ...], *, is_kept: bool) -> Shape:
    if is_kept:
        return tuple(1 if i in axes else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in axes)


SHAPES: dict[str, ShapeFunction] = {**dict.fromkeys(REDUCTIONS, _reduce), "ArgMax": _arg, "ArgMin": _arg}
