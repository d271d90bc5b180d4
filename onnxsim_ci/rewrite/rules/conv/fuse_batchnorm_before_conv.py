"""Fold an inference BatchNormalization into the Conv or Gemm that reads it.

With s = scale / sqrt(var + epsilon) and t = bias - mean * s for each channel: the weight times s, and what
the operator makes of t alone added to its bias; in float64, row by row, rounded once. Declined for a
convolution that pads, because t would not reach its borders, for constants that are shared, and when the
normalized value has another reader.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/conv/fuse_batchnorm_before_conv.md; then `make docs`.
"""

from __future__ import annotations

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.absorbing import aligned, pads_anything, response
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.linear import is_in_range, normalization_factors
from onnxsim_ci.rewrite.patterns import feeder, used_outputs
from onnxsim_ci.rewrite.scaling import own_constant, scaled


def propose(node: Node, facts: Facts) -> Edit | Declined:
    norm, data = feeder(node, 0, "BatchNormalization"), node.inputs[0]
    if norm is None or data is None:
        return Declined("its input does not come from a BatchNormalization")
    if not data.single_reader or used_outputs(norm) != (0,):
        return Declined("{0!r} has another reader, or statistics are read", data)
    if node.op_type == "Conv" and pads_anything(node):
        return Declined("the convolution of {0!r} pads, and the shift would not reach its borders", data)
    bias_value = node.input(2)
    weight = own_constant(node.inputs[1], facts)
    bias = np.zeros(1) if bias_value is None else facts.array(bias_value)
    if weight is None or bias is None or node.attribute("transA", 0):
        return Declined("the weight or the bias behind {0!r} is no float constant of its own", data)
    by_row = node.op_type == "Gemm" and not node.attribute("transB", 0)
    channels = weight.shape[0] if by_row else weight.shape[1] * node.attribute("group", 1)
    factors = normalization_factors(norm, facts, channels, weight.dtype)
    if isinstance(factors, Declined):
        return factors
    scale, shift = factors
    column = shift.reshape(-1, *(1,) * (weight.ndim - 2))
    new, row = scaled(weight, aligned(node, weight, scale)), response(node, weight, column)
    if new is None or row is None:
        return Declined("the new weight behind {0!r} would leave the normal range", data)
    moved = bias.astype(np.float64) * node.attribute("beta", 1.0) + row * node.attribute("alpha", 1.0)
    if moved.size != row.size or not is_in_range(moved, weight.dtype):
        return Declined("the new bias behind {0!r} would be larger, or leave the normal range", data)
    operands = (norm.inputs[0], new, moved.astype(weight.dtype))
    beta = {"beta": 1.0} if node.op_type == "Gemm" else {}
    return replace(node, NodeSpec(node.op_type, operands, beta, like=node), "scale and shift per channel")


RULE = Rule(
    id="fuse-batchnorm-before-conv",
    family="conv",
    roots=("Conv", "Gemm"),
    since_opset=7,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"large"}),
    propose=propose,
)
