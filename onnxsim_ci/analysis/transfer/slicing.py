"""Which part of an axis Slice reads.

House: analysis/transfer. May import analysis.
Touch: `movement.py` (shapes), `shape_chain.py` (contents).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnxsim_ci.analysis.content import Element, Elements
from onnxsim_ci.analysis.dim import AXIS_LIMIT, Dim, bounds, is_nonnegative
from onnxsim_ci.analysis.opaque import ceildiv, maximum, minimum
from onnxsim_ci.analysis.transfer.reading import elements_of, is_given, numbers_of

if TYPE_CHECKING:
    from onnxsim_ci.analysis.facts import Facts
    from onnxsim_ci.model import Node

_LARGE = 2**31 - 1


def slice_parameters(
    node: Node, facts: Facts, rank: int
) -> dict[int, tuple[Element, Element, Element]] | None:
    """Start, end and step by axis; None when starts, ends or axes are unknown or do not fit."""
    starts = elements_of(node, facts, "starts", 1)
    ends = elements_of(node, facts, "ends", 2)
    if starts is None or ends is None or len(starts) != len(ends):
        return None
    axes: tuple[int, ...] | None = tuple(range(len(starts)))
    if is_given(node, "axes", 3):
        axes = numbers_of(node, facts, "axes", 3)
    steps: Elements | None = (1,) * len(starts)
    if node.input(4) is not None:
        steps = elements_of(node, facts, "steps", 4)
    if axes is None or steps is None or not len(axes) == len(steps) == len(starts):
        return None
    if any(not -rank <= a < rank for a in axes) or 0 in steps:
        return None
    normal = tuple(a % rank for a in axes)
    known = [None if _is_disputed(end, step) else end for end, step in zip(ends, steps, strict=True)]
    parameters = dict(zip(normal, zip(starts, known, steps, strict=True), strict=True))
    return parameters if len(parameters) == len(axes) else None


def _is_disputed(end: Element, step: Element) -> bool:
    """Backwards to an end beyond 32 bits: the back in the standard, the front for onnxruntime 1.32."""
    return isinstance(end, int) and end >= _LARGE and isinstance(step, int) and step < 0


def slice_range(length: int, start: int, end: int, step: int) -> range:
    """Indices that Slice reads from an axis.

    Source: ONNX operator Slice, version 13: negative bounds count from the end; then start is clamped to
    [0, length] and end to [0, length] for positive steps, [0, length - 1] and [-1, length - 1] for negative
    ones.
    """
    start += length if start < 0 else 0
    end += length if end < 0 else 0
    if step > 0:
        return range(min(max(start, 0), length), min(max(end, 0), length), step)
    return range(min(max(start, 0), length - 1), min(max(end, -1), length - 1), step)


def sliced_length(length: Dim, start: Element, end: Element, step: Element) -> Dim | None:
    """Number of indices that Slice reads; None when it cannot be told.

    Bounds are clamped on one side only: where the other side would matter the difference is not positive.
    """
    if not isinstance(step, int) or start is None or end is None:
        return None
    if isinstance(length, int) and isinstance(start, int) and isinstance(end, int):
        return len(slice_range(length, start, end, step))
    if step < 0:
        is_flip = start in (-1, AXIS_LIMIT) or (isinstance(start, int) and start >= AXIS_LIMIT)
        return ceildiv(length, -step) if is_flip and isinstance(end, int) and end < -AXIS_LIMIT else None
    is_to_end = end == length or (isinstance(end, int) and end >= AXIS_LIMIT)
    if start == 0 and is_to_end:
        return ceildiv(length, step)
    stop = length if is_to_end else _from_front(length, end)
    if stop is None:
        return None
    if is_nonnegative(start):
        count = stop - start
    elif _is_negative(start):
        count = minimum(stop, stop - start - length)
    else:
        return None
    return maximum(0, ceildiv(count, step))


def _from_front(length: Dim, end: Dim) -> Dim | None:
    """End counted from the front, clamped to at most the length."""
    if is_nonnegative(end):
        return minimum(end, length)
    return length + end if _is_negative(end) else None


def _is_negative(dim: Dim) -> bool:
    most = bounds(dim)[1]
    return most is not None and most < 0
