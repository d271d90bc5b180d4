"""Drop x * 1 and x / 1.

Both return x for every x of every numeric type, NaN, infinities and -0 included.
Declined when the operand of ones widens the result's shape.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/elementwise/eliminate_neutral_mul.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.broadcasting import keeps_shape
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace


def propose(node: Node, facts: Facts) -> Edit | Declined:
    for index in (1, 0) if node.op_type == "Mul" else (1,):
        one, kept = node.inputs[index], node.inputs[1 - index]
        if one is None or kept is None or not one.is_constant or not facts.is_filled(one, 1):
            continue
        if not keeps_shape(facts, node, kept, one):
            return Declined("{0!r} may widen the shape of {1!r}", one, kept)
        return replace(node, kept, "a factor of one returns every number unchanged")
    return Declined("no operand is a constant of ones")


RULE = Rule(
    id="eliminate-neutral-mul",
    family="elementwise",
    roots=("Mul", "Div"),
    since_opset=7,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"negative_zero", "nan", "infinity", "denormal"}),
    propose=propose,
)
