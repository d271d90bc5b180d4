"""Let a Gather with a scalar index keep its axis instead of unsqueezing it again.

A one-element vector as index leaves an axis of size 1 where the scalar drops it. Declined when the Unsqueeze
puts the axis elsewhere, and when the gathered value has another reader.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/shape/merge_gather_unsqueeze.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.patterns import feeder


def propose(node: Node, facts: Facts) -> Edit | Declined:
    inner = feeder(node, 0, "Gather")
    middle = node.inputs[0]
    if inner is None or middle is None:
        return Declined("its input does not come from a Gather")
    data, index = inner.inputs[0], inner.inputs[1]
    if data is None or index is None or not middle.single_reader:
        return Declined("gathered value {0!r} has another reader", middle)
    number = facts.array(index, 1)
    rank = facts.rank(data)
    if number is None or number.ndim != 0 or rank is None or rank == 0:
        return Declined("the index {0!r} is not a constant scalar, or the rank is not known", index)
    axis = inner.attribute("axis", 0) % rank
    if facts.axes(node, rank) != (axis,):
        return Declined("the new axis is not the gathered one")
    spec = NodeSpec("Gather", (data, number.reshape(1)), {"axis": axis}, like=inner)
    return replace(node, spec, "a vector index keeps the axis")


RULE = Rule(
    id="merge-gather-unsqueeze",
    family="shape",
    roots=("Unsqueeze",),
    since_opset=1,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    propose=propose,
)
