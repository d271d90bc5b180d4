"""Drop And with true and Or with false.

Booleans have no other values, so the other operand comes back unchanged.
Declined when the neutral operand widens the result's shape.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/elementwise/eliminate_neutral_logic.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.broadcasting import keeps_shape
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace


def propose(node: Node, facts: Facts) -> Edit | Declined:
    neutral = 1 if node.op_type == "And" else 0
    for index in (1, 0):
        constant, kept = node.inputs[index], node.inputs[1 - index]
        if (
            constant is None
            or kept is None
            or not constant.is_constant
            or not facts.is_filled(constant, neutral)
        ):
            continue
        if not keeps_shape(facts, node, kept, constant):
            return Declined("{0!r} may widen the shape of {1!r}", constant, kept)
        return replace(node, kept, "the neutral operand decides nothing")
    return Declined("no operand is a neutral constant")


RULE = Rule(
    id="eliminate-neutral-logic",
    family="elementwise",
    roots=("And", "Or"),
    since_opset=7,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    propose=propose,
)
