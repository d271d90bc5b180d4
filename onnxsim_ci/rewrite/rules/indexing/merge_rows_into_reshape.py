"""Join all rows of an axis by a Transpose and a Reshape instead of gathering them one by one.

A Concat of the rows in their order puts them side by side along its axis; so does moving their axis in front
of that one, and joining the two. Declined when a row is left out or has another reader, and when the target
of the Reshape cannot be written for every input.
Strings are left alone: the Gather of onnxruntime 1.32 copies one of each row only.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/indexing/merge_rows_into_reshape.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, NodeSpec, Operand, ResultClass, Rule, replace
from onnxsim_ci.rewrite.movement import may_be_text, reshape_spec, reshape_target
from onnxsim_ci.rewrite.patterns import feeder


def propose(node: Node, facts: Facts) -> Edit | Declined:
    first = feeder(node, 0, "Gather")
    source = None if first is None else first.inputs[0]
    shape = None if source is None else facts.shape(source)
    if first is None or source is None or shape is None:
        return Declined("its first operand is not gathered from a tensor of known shape")
    if may_be_text(source, facts):
        return Declined("{0!r} may hold strings", source)
    axis = first.attribute("axis", 0) % len(shape)
    for index, row in enumerate(node.inputs):
        place = _place(feeder(node, index, "Gather"), source, axis, len(shape), facts)
        if place is None or row is None or not row.single_reader or node.inputs.count(row) > 1:
            return Declined("operand {0} is no row of axis {1} alone", index, axis)
        if place not in (index, index - len(node.inputs)):
            return Declined("the rows are not in order")
    if shape[axis] != len(node.inputs) or len(shape) < 2:
        return Declined("they are not all rows of axis {0}", axis)
    joined = node.attribute("axis", 1) % (len(shape) - 1)
    left = [a for a in range(len(shape)) if a != axis]
    order = (*left[:joined], axis, *left[joined:])
    moved = tuple(shape[a] for a in order)
    target = reshape_target((*moved[:joined], moved[joined] * moved[joined + 1], *moved[joined + 2 :]), moved)
    if target is None:
        return Declined("the shape of the result cannot be written as a constant")
    operand: Operand = source
    if order != tuple(range(len(shape))):
        operand = NodeSpec("Transpose", (source,), {"perm": order})
    return replace(node, reshape_spec(operand, target, node), "the rows stand side by side in both")


def _place(gather: Node | None, source: Value, axis: int, rank: int, facts: Facts) -> int | None:
    if gather is None or gather.inputs[0] is not source or gather.attribute("axis", 0) % rank != axis:
        return None
    index = gather.inputs[1]
    array = None if index is None else facts.array(index, 1)
    return int(array) if array is not None and array.ndim == 0 else None


RULE = Rule(
    id="merge-rows-into-reshape",
    family="indexing",
    roots=("Concat",),
    since_opset=5,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"empty", "batch_one"}),
    propose=propose,
    looks_far=True,
)
