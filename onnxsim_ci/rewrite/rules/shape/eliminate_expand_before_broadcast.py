"""Let an elementwise operator broadcast an operand itself instead of reading it expanded.

The result keeps its shape only if the other operand already has every size that the Expand gives; then each
element is computed from the same two numbers. Declined when the expanded value has another reader.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/shape/eliminate_expand_before_broadcast.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule
from onnxsim_ci.rewrite.patterns import feeder

ELEMENTWISE = (
    "Add",
    "Sub",
    "Mul",
    "Div",
    "And",
    "Or",
    "Xor",
    "Equal",
    "Less",
    "Greater",
    "LessOrEqual",
    "GreaterOrEqual",
)


def propose(node: Node, facts: Facts) -> Edit | Declined:
    if len(node.inputs) != 2:
        return Declined("it has not two operands")
    for index in (0, 1):
        expand = feeder(node, index, "Expand")
        expanded, other = node.inputs[index], node.inputs[1 - index]
        if expand is None or expanded is None or other is None or expand.inputs[0] is None:
            continue
        if not expanded.single_reader or other is expanded:
            return Declined("expanded value {0!r} has another reader", expanded)
        small, result = expand.inputs[0], node.outputs[0]
        shape = None if result is None else facts.shape(result)
        if shape is None or facts.broadcast(facts.shape(small), facts.shape(other)) != shape:
            return Declined("without the Expand the result may be smaller")
        return Edit("the operator broadcasts the operand to the same shape", rewire=((node, index, small),))
    return Declined("no operand comes from an Expand")


RULE = Rule(
    id="eliminate-expand-before-broadcast",
    family="shape",
    roots=ELEMENTWISE,
    since_opset=8,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"batch_one", "empty"}),
    propose=propose,
)
