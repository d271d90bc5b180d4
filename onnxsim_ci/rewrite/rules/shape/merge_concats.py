"""Put the operands of a Concat into the Concat that reads it.

Both join along the same axis, so the order of the elements is the same. Declined for different axes, and when
the inner result has another reader or is joined more than once.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/shape/merge_concats.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.patterns import feeder


def propose(node: Node, facts: Facts) -> Edit | Declined:
    rank = next((r for v in node.inputs if v is not None and (r := facts.rank(v)) is not None), None)
    axis = node.attribute("axis")
    for index, operand in enumerate(node.inputs):
        inner = feeder(node, index, "Concat")
        if inner is None or operand is None:
            continue
        other = inner.attribute("axis")
        if other != axis and (rank is None or other % rank != axis % rank):
            continue
        if not operand.single_reader:
            return Declined("inner result {0!r} has another reader", operand)
        if sum(v is operand for v in node.inputs) > 1:  # a chain of these would double its operands each time
            return Declined("{0!r} is joined more than once", operand)
        operands = [o for v in node.inputs for o in (inner.inputs if v is operand else [v])]
        return replace(
            node, NodeSpec("Concat", tuple(operands), {"axis": axis}, like=node), "both join one axis"
        )
    return Declined("no operand comes from a Concat of the same axis")


RULE = Rule(
    id="merge-concats",
    family="shape",
    roots=("Concat",),
    since_opset=4,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    propose=propose,
)
