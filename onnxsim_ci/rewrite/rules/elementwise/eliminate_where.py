"""Let the readers of a Where with a constant condition read the operand that it always picks.

Every element comes from that operand, so they are copies. Declined when the condition is mixed, when the
result is larger than the operand (Where broadcasts all three), and for floats picked by true: ONNX Runtime
1.32 turns -0 of that operand into +0, so `eliminate-float-where` has them.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/elementwise/eliminate_where.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace
from onnxsim_ci.rewrite.element_types import BOOL, INTEGERS, STRING

COPIED = INTEGERS | {BOOL, STRING}
"""Element types that the runtime copies bit by bit, also where the condition is true."""


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
        if truth and facts.dtype(picked) not in COPIED:
            return Declined("the runtime may change the sign of zeros of {0!r}", picked)
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
