"""Drop x ** 1.

The power is x in real numbers; a vectorised kernel may still round, so the class is ROUNDING.
Declined when the exponent widens the result's shape, and for 64-bit integers, whose powers kernels compute in
floating point (ONNX Runtime 1.32).

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/elementwise/eliminate_pow_one.md; then `make docs`.
"""

from __future__ import annotations

from onnx import TensorProto

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.broadcasting import keeps_shape
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, ResultClass, Rule, replace

WIDE = frozenset({TensorProto.INT64, TensorProto.UINT64})


def propose(node: Node, facts: Facts) -> Edit | Declined:
    base, exponent = node.inputs[0], node.inputs[1]
    if base is None or exponent is None or not exponent.is_constant or not facts.is_filled(exponent, 1):
        return Declined("the exponent is not a constant of ones")
    if facts.dtype(base) in WIDE:
        return Declined("kernels compute 64-bit integer powers of {0!r} in floating point", base)
    if not keeps_shape(facts, node, base, exponent):
        return Declined("{0!r} may widen the shape of {1!r}", exponent, base)
    return replace(node, base, "the first power of x is x")


RULE = Rule(
    id="eliminate-pow-one",
    family="elementwise",
    roots=("Pow",),
    since_opset=7,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    propose=propose,
)
