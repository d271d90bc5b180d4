"""Let the readers of a Where of floats whose condition is always true read the first operand.

The operator's text says that the elements are copies; ONNX Runtime 1.32 computes them and turns -0 into +0,
so the class is ROUNDING. Declined when the condition is mixed, and when the result is larger than the
operand.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/elementwise/eliminate_float_where.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, ResultClass, Rule, replace
from onnxsim_ci.rewrite.element_types import FLOATS


def propose(node: Node, facts: Facts) -> Edit | Declined:
    condition, picked, result = node.inputs[0], node.inputs[1], node.outputs[0]
    if condition is None or picked is None or result is None or not facts.is_filled(condition, 1):
        return Declined("the condition {0!r} is not a constant of trues", condition)
    if not facts.same_shape(picked, result):
        return Declined("{0!r} may be broadcast to a larger shape", picked)
    if facts.dtype(picked) not in FLOATS:
        return Declined("{0!r} holds no floats", picked)
    return replace(node, picked, "the condition always picks this operand")


RULE = Rule(
    id="eliminate-float-where",
    family="elementwise",
    roots=("Where",),
    since_opset=9,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    propose=propose,
)
