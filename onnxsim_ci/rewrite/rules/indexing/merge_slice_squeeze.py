"""Read one row by a Gather with a scalar index instead of cutting it out and squeezing its axis.

The row is cut out by a Slice of one place, by a Gather with an index of one element, or by a Split of which
every part is squeezed. Where that place does not exist both ways fail.
Declined when the Squeeze takes other axes away too, and when the row has another reader.
Strings are left alone: the Gather of onnxruntime 1.32 copies one of each row only.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/indexing/merge_slice_squeeze.md; then `make docs`.
"""

from __future__ import annotations

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.dim import AXIS_LIMIT, Shape
from onnxsim_ci.analysis.transfer.slicing import slice_range
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.cuts import bounds_of
from onnxsim_ci.rewrite.movement import may_be_text, readers_of_parts, static_sizes
from onnxsim_ci.rewrite.patterns import feeder

WHY = "a scalar index reads the row without its axis"


def propose(node: Node, facts: Facts) -> Edit | Declined:
    cut = node if node.op_type == "Split" else feeder(node, 0, "Slice", "Gather")
    source = None if cut is None else cut.inputs[0]
    shape = None if source is None else facts.shape(source)
    if cut is None or source is None or shape is None:
        return Declined("its input is not cut out of a tensor of known rank")
    if may_be_text(source, facts):
        return Declined("{0!r} may hold strings", source)
    if cut.op_type == "Split":
        return _rows(cut, source, shape, facts)
    middle = node.inputs[0]
    if middle is None or not middle.single_reader:
        return Declined("the row {0!r} has another reader", middle)
    found = _sliced(cut, shape, facts) if cut.op_type == "Slice" else _gathered(cut, shape, facts)
    if found is None:
        return Declined("{0!r} is not one known place of one axis", middle)
    axis, index = found
    if facts.axes(node, len(shape)) != (axis,):
        return Declined("it does not take the axis of {0!r} away, and no other", middle)
    spec = NodeSpec("Gather", (source, np.array(index, np.int64)), {"axis": axis}, like=node)
    return replace(node, spec, WHY)


def _rows(split: Node, source: Value, shape: Shape, facts: Facts) -> Edit | Declined:
    axis = split.attribute("axis", 0) % len(shape)
    squeezes = readers_of_parts(split, "Squeeze")
    if squeezes is None or set(static_sizes(split, axis, facts) or [0]) != {1}:
        return Declined("not every part of {0!r} is one row that is squeezed", source)
    if any(facts.axes(s, len(shape)) != (axis,) for s in squeezes):
        return Declined("a Squeeze does not take the axis of the rows of {0!r} away", source)
    pairs = [
        (row, NodeSpec("Gather", (source, np.array(i, np.int64)), {"axis": axis}, like=squeeze))
        for i, squeeze in enumerate(squeezes)
        if (row := squeeze.outputs[0]) is not None
    ]
    return Edit(WHY, replace=tuple(pairs))


def _sliced(cut: Node, shape: Shape, facts: Facts) -> tuple[int, int] | None:
    """Axis and place of a Slice that reads one place, from the front or from the back."""
    bounds = bounds_of(cut, facts)
    if bounds is None or len(bounds) != 1:
        return None
    axis, (start, end, step) = next(iter(bounds.items()))
    length = shape[axis]
    if isinstance(length, int):
        places = slice_range(length, start, end, step)
        return (axis, places[0]) if len(places) == 1 else None
    is_one = end == start + 1 and end != 0
    is_last = start == -1 and end >= AXIS_LIMIT
    return (axis, start) if step == 1 and (is_one or is_last) else None


def _gathered(cut: Node, shape: Shape, facts: Facts) -> tuple[int, int] | None:
    """Axis and place of a Gather whose index is a vector of one element."""
    index = cut.inputs[1]
    array = None if index is None else facts.array(index, 1)
    if array is None or array.shape != (1,):
        return None
    return cut.attribute("axis", 0) % len(shape), int(array[0])


RULE = Rule(
    id="merge-slice-squeeze",
    family="indexing",
    roots=("Squeeze", "Split"),
    since_opset=2,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"empty", "batch_one"}),
    propose=propose,
)
