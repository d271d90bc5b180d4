"""Drop Neg(Neg(x)) and Not(Not(x)).

Both only flip one bit (or wrap the smallest integer onto itself), twice, also for -0 and NaN.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/elementwise/eliminate_involution.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace
from onnxsim_ci.rewrite.patterns import feeder


def propose(node: Node, facts: Facts) -> Edit | Declined:
    inner = feeder(node, 0, node.op_type)
    if inner is None or inner.inputs[0] is None:
        return Declined("its input does not come from a node of its own kind")
    return replace(node, inner.inputs[0], "the second one undoes the first")


RULE = Rule(
    id="eliminate-involution",
    family="elementwise",
    roots=("Neg", "Not"),
    since_opset=6,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"negative_zero", "nan", "integer_extremes"}),
    propose=propose,
)
