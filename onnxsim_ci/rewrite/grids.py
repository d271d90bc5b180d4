"""Concats of every b-th place of some axes from each of the first b on: an image cut into patches.

House: rewrite. May import analysis and model.
Touch: the rules about patches in the families conv and indexing.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.dim import AXIS_LIMIT, Shape, is_divisible, is_nonnegative
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.cuts import bounds_of
from onnxsim_ci.rewrite.patterns import feeder

MOST_CUTS = 64
"""Operands of a Concat that are looked at."""


class Grid(NamedTuple):
    """A tensor, its shape, the axes that are cut, their common step, and the first places of each operand."""

    source: Value
    shape: Shape
    axes: tuple[int, ...]
    step: int
    offsets: tuple[tuple[int, ...], ...]


def grid_of(concat: Node, facts: Facts) -> Grid | None:
    """The grid that the operands of a Concat share out, each place once; None when they do not."""
    first = feeder(concat, 0, "Slice")
    source = None if first is None else first.inputs[0]
    shape = None if source is None else facts.shape(source)
    bounds = None if first is None else bounds_of(first, facts)
    if source is None or shape is None or not bounds or not 1 < len(concat.inputs) <= MOST_CUTS:
        return None
    axes, step = tuple(sorted(bounds)), next(iter(bounds.values()))[2]
    if step < 2 or len(concat.inputs) != step ** len(axes) or not _divides(step, axes, shape):
        return None
    offsets = []
    for index in range(len(concat.inputs)):
        cut = feeder(concat, index, "Slice")
        own = None if cut is None or cut.inputs[0] is not source else bounds_of(cut, facts)
        if own is None or tuple(sorted(own)) != axes or not _from_first_places(own, step, shape):
            return None
        offsets.append(tuple(own[a][0] for a in axes))
    if set(offsets) != set(product(range(step), repeat=len(axes))):
        return None
    return Grid(source, shape, axes, step, tuple(offsets))


def _divides(step: int, axes: tuple[int, ...], shape: Shape) -> bool:
    return all(shape[a] != 0 and is_divisible(shape[a], step) for a in axes)


def _from_first_places(bounds: dict[int, tuple[int, int, int]], step: int, shape: Shape) -> bool:
    """True when each axis is read with the step from one of its first places to its end."""
    return all(
        own == step and 0 <= start < step and (end >= AXIS_LIMIT or is_nonnegative(end - shape[axis]))
        for axis, (start, end, own) in bounds.items()
    )
