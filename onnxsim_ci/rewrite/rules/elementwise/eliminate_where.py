"""Let the readers of a Where with a constant condition read the operand that it always picks.

Every element comes from that operand, so they are copies. Declined when the condition is mixed, and when the
result is larger than the operand: Where broadcasts all three.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/elementwise/eliminate_where.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace


def propose(node: Node, facts: Facts) -> Edit | Declined:
    condition, result = node.inputs[0], node.outputs[0]
    if condition is None or result is None or not condition.is_constant:
        return Declined("the condition is not a constant")
    for index, truth in ((1, 1), (2, 0)):
        picked = node.inputs[index]
        if picked is None or not facts.is_filled(condition, truth):
            continue
        if not facts.same_shape(picked, result):
            return Declined("{0!r} may be broadcast to a larger shape", picked)
        return replace(node, picked, "the condition always picks this operand")
    return Declined("the condition {0!r} is mixed or empty", condition)


RULE = Rule(
    id="eliminate-where",
    family="elementwise",
    roots=("Where",),
    since_opset=9,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    propose=propose,
)
