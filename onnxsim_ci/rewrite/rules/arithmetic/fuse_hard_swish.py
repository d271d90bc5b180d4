"""Replace x * HardSigmoid(x) with alpha 1/6 and beta 1/2 by HardSwish.

This is the operator's definition. Declined for other coefficients (beyond 1e-6 of their size), for another
element type than float32, and when the inner value has another reader.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/arithmetic/fuse_hard_swish.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.element_types import FLOAT
from onnxsim_ci.rewrite.patterns import feeder

ALPHA, BETA, SAME = 1 / 6, 0.5, 1e-6


def propose(node: Node, facts: Facts) -> Edit | Declined:
    for index in (0, 1):
        gate, x = feeder(node, index, "HardSigmoid"), node.inputs[1 - index]
        value = node.inputs[index]
        if gate is None or x is None or value is None or gate.inputs[0] is not x:
            continue
        alpha, beta = gate.attribute("alpha", 0.2), gate.attribute("beta", 0.5)
        if abs(alpha - ALPHA) > SAME * ALPHA or abs(beta - BETA) > SAME * BETA:
            return Declined("the coefficients over {0!r} are not 1/6 and 1/2", x)
        if not value.single_reader or facts.dtype(x) != FLOAT:
            return Declined("{0!r} has another reader, or {1!r} is not float32", value, x)
        return replace(node, NodeSpec("HardSwish", (x,), like=node), "x times HardSigmoid of x is HardSwish")
    return Declined("it is no product of a value and its HardSigmoid")


RULE = Rule(
    id="fuse-hard-swish",
    family="arithmetic",
    roots=("Mul",),
    since_opset=14,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"saturation", "large"}),
    propose=propose,
)
