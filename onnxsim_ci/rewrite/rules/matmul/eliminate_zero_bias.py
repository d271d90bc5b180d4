"""Drop the zero that is added to a matrix product or a convolution.

Only the sign of a zero result can tell: the order in which products are summed decides it already, and no
operator fixes that order. Declined when the zero widens the result's shape.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/matmul/eliminate_zero_bias.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.broadcasting import keeps_shape
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, ResultClass, Rule, replace
from onnxsim_ci.rewrite.element_types import FLOATS
from onnxsim_ci.rewrite.patterns import feeder


def propose(node: Node, facts: Facts) -> Edit | Declined:
    for index in (0, 1):
        linear = feeder(node, index, "MatMul", "Gemm", "Conv", "ConvTranspose")
        kept, zero = node.inputs[index], node.inputs[1 - index]
        if linear is None or kept is None or zero is None or not zero.is_constant:
            continue
        if facts.dtype(zero) not in FLOATS or not facts.is_filled(zero, 0.0):
            return Declined("{0!r} is not zero everywhere", zero)
        if not keeps_shape(facts, node, kept, zero):
            return Declined("{0!r} may widen the shape of {1!r}", zero, kept)
        return replace(node, kept, "zero added to a sum of products")
    return Declined("no operand is a sum of products beside a constant")


RULE = Rule(
    id="eliminate-zero-bias",
    family="matmul",
    roots=("Add",),
    since_opset=7,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"negative_zero", "large"}),
    propose=propose,
)
