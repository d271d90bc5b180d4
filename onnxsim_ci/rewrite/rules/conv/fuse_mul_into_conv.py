"""Multiply a constant per channel into the weight and bias of the Conv or ConvTranspose before it.

The constant must be one number or [C, 1, ...] aligned from the right; Div multiplies by the float64
reciprocal. Declined when the product has another shape, when the new weights would leave the normal range,
and when the convolution has another reader.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/conv/fuse_mul_into_conv.md; then `make docs`.
"""

from __future__ import annotations

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, ResultClass, Rule, replace
from onnxsim_ci.rewrite.linear import conv_parameters, per_channel, scaled_conv
from onnxsim_ci.rewrite.patterns import feeder


def propose(node: Node, facts: Facts) -> Edit | Declined:
    for index in (0, 1) if node.op_type == "Mul" else (0,):
        conv = feeder(node, index, "Conv", "ConvTranspose")
        value, constant = node.inputs[index], node.inputs[1 - index]
        if conv is None or value is None or constant is None or not constant.is_constant:
            continue
        if not value.single_reader:
            return Declined("the convolution {0!r} has another reader", value)
        parameters = conv_parameters(conv, facts)
        if isinstance(parameters, Declined):
            return parameters
        factor = per_channel(facts, constant, parameters)
        if factor is None or not factor.all():
            return Declined("{0!r} is not one number per channel, or holds a zero", constant)
        spec = scaled_conv(conv, parameters, factor if node.op_type == "Mul" else 1.0 / factor, np.zeros(1))
        if spec is None:
            return Declined("the new weights of {0!r} would leave the normal range", value)
        return replace(node, spec, "a factor per channel is part of the weight")
    return Declined("no operand is a convolution beside a constant")


RULE = Rule(
    id="fuse-mul-into-conv",
    family="conv",
    roots=("Mul", "Div"),
    since_opset=7,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"large", "saturation"}),
    propose=propose,
)
