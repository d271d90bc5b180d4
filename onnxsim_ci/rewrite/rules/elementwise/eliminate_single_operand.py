"""Drop Concat, Sum, Max, Min and Mean of one operand.

With one operand each of them copies it (the mean divides by one).

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/elementwise/eliminate_single_operand.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace


def propose(node: Node, facts: Facts) -> Edit | Declined:
    operand = node.inputs[0] if len(node.inputs) == 1 else None
    if operand is None:
        return Declined("it has several operands")
    return replace(node, operand, "its only operand comes back unchanged")


RULE = Rule(
    id="eliminate-single-operand",
    family="elementwise",
    roots=("Concat", "Sum", "Max", "Min", "Mean"),
    since_opset=6,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    propose=propose,
)
