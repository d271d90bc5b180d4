"""Add a constant per channel to the bias of the Conv or ConvTranspose before it.

The constant must be one number or [C, 1, ...] aligned from the right: a vector of the width is none. Declined
when the sum has another shape than the convolution, for `constant - x`, and when the convolution has another
reader.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/conv/fuse_add_into_conv.md; then `make docs`.
"""

from __future__ import annotations

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, ResultClass, Rule, replace
from onnxsim_ci.rewrite.linear import conv_parameters, per_channel, with_bias
from onnxsim_ci.rewrite.patterns import feeder


def propose(node: Node, facts: Facts) -> Edit | Declined:
    for index in (0, 1) if node.op_type == "Add" else (0,):
        conv = feeder(node, index, "Conv", "ConvTranspose")
        value, constant = node.inputs[index], node.inputs[1 - index]
        if conv is None or value is None or constant is None or not constant.is_constant:
            continue
        if not value.single_reader:
            return Declined("the convolution {0!r} has another reader", value)
        parameters = conv_parameters(conv, facts)
        if isinstance(parameters, Declined):
            return parameters
        term = per_channel(facts, constant, parameters)
        if term is None:
            return Declined("{0!r} is not one number per channel", constant)
        bias = (
            np.zeros(parameters.channels) if parameters.bias is None else parameters.bias.astype(np.float64)
        )
        spec = with_bias(conv, parameters, bias + term if node.op_type == "Add" else bias - term)
        if spec is None:
            return Declined("the new bias of {0!r} would leave the normal range", value)
        return replace(node, spec, "a constant per channel is a bias")
    return Declined("no operand is a convolution beside a constant")


RULE = Rule(
    id="fuse-add-into-conv",
    family="conv",
    roots=("Add", "Sub"),
    since_opset=7,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"large"}),
    propose=propose,
)
