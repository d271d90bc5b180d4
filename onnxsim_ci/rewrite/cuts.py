"""What a Slice, a Gather or an output of a Split reads of one axis, and Slice nodes to be made.

House: rewrite. May import analysis and model.
Touch: the family indexing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.dim import Shape
from onnxsim_ci.analysis.transfer.slicing import slice_parameters, slice_range
from onnxsim_ci.analysis.transfer.splitting import split_sizes
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import NodeSpec, Operand

Bounds = dict[int, tuple[int, int, int]]
"""Start, end and step by axis."""
SINCE_INPUTS = 10
"""Opset from which Slice takes its bounds as inputs."""
MOST_INDICES = 1024
"""Longest constant index of a Gather that is looked at."""


class Cut(NamedTuple):
    """Places of one axis of `source` that `node` reads, in order."""

    source: Value
    axis: int
    places: range | tuple[int, ...]
    node: Node


def bounds_of(node: Node, facts: Facts) -> Bounds | None:
    """What a Slice does by axis; None unless the rank and all bounds are known numbers."""
    source = node.inputs[0]
    rank = None if source is None else facts.rank(source)
    found = None if rank is None else slice_parameters(node, facts, rank)
    if found is None:
        return None
    known: Bounds = {}
    for axis, (start, end, step) in found.items():
        if not isinstance(start, int) or not isinstance(end, int) or not isinstance(step, int):
            return None
        known[axis] = start, end, step
    return known


def slice_spec(operand: Operand, bounds: Bounds, like: Node) -> NodeSpec:
    """A Slice with these bounds, as the opset of `like`, a Slice, writes it."""
    axes = tuple(sorted(bounds))
    starts, ends, steps = (tuple(bounds[a][i] for a in axes) for i in range(3))
    if like.scope.opset < SINCE_INPUTS:
        return NodeSpec("Slice", (operand,), {"starts": starts, "ends": ends, "axes": axes}, like=like)
    lists = [starts, ends, axes] + ([steps] if any(step != 1 for step in steps) else [])
    return NodeSpec("Slice", (operand, *(np.array(n, np.int64) for n in lists)), like=like)


def cut_of(value: Value | None, facts: Facts) -> Cut | None:
    """How `value` is cut out of one static axis; None when its producer does anything else."""
    node = None if value is None else facts.producer(value, *_READERS)
    source = None if node is None else node.inputs[0]
    shape = None if source is None else facts.shape(source)
    if value is None or node is None or source is None or shape is None:
        return None
    found = _READERS[node.op_type](node, value, shape, facts)
    return None if found is None else Cut(source, *found, node)


Places = tuple[int, range | tuple[int, ...]]


def _of_slice(node: Node, _value: Value, shape: Shape, facts: Facts) -> Places | None:
    bounds = bounds_of(node, facts)
    if bounds is None or len(bounds) != 1:
        return None
    axis = next(iter(bounds))
    length = shape[axis]
    return (axis, slice_range(length, *bounds[axis])) if isinstance(length, int) else None


def _of_split(node: Node, value: Value, shape: Shape, facts: Facts) -> Places | None:
    axis = node.attribute("axis", 0) % len(shape)
    sizes = split_sizes(node, facts, shape[axis])
    known = [] if sizes is None else [size for size in sizes if isinstance(size, int)]
    index = node.outputs.index(value)
    if len(known) != len(node.outputs):
        return None
    start = sum(known[:index])
    return axis, range(start, start + known[index])


def _of_gather(node: Node, _value: Value, shape: Shape, facts: Facts) -> Places | None:
    axis = node.attribute("axis", 0) % len(shape)
    length, index = shape[axis], node.inputs[1]
    array = None if index is None else facts.array(index, MOST_INDICES)
    if array is None or array.ndim != 1 or not isinstance(length, int):
        return None
    numbers = tuple(int(i) for i in array.tolist())
    return (axis, tuple(i % length for i in numbers)) if all(-length <= i < length for i in numbers) else None


_READERS = {"Slice": _of_slice, "Split": _of_split, "Gather": _of_gather}
