"""Fold an inference BatchNormalization into the Conv or ConvTranspose before it.

With s = scale / sqrt(var + epsilon): weight * s per output channel, (bias - mean) * s + B; elementwise in
float64, rounded once. Declined in training mode, with `spatial = 0`, when a parameter is no constant or has
another element type, when the convolution has another reader, and when the new weights would overflow or fall
below the normal range. Source: ONNX operators BatchNormalization (versions 7 to 15), Conv and ConvTranspose.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/conv/fuse_batchnorm_into_conv.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, ResultClass, Rule, replace
from onnxsim_ci.rewrite.linear import conv_parameters, normalization_factors, scaled_conv
from onnxsim_ci.rewrite.patterns import feeder, used_outputs


def propose(node: Node, facts: Facts) -> Edit | Declined:
    conv = feeder(node, 0, "Conv", "ConvTranspose")
    value = node.inputs[0]
    if conv is None or value is None:
        return Declined("its input does not come from a Conv or ConvTranspose")
    if not value.single_reader:
        return Declined("the convolution {0!r} has another reader", value)
    if used_outputs(node) != (0,):
        return Declined("running statistics are read")
    parameters = conv_parameters(conv, facts)
    if isinstance(parameters, Declined):
        return parameters
    factors = normalization_factors(node, facts, parameters.channels, parameters.weight.dtype)
    if isinstance(factors, Declined):
        return factors
    scale, shift = factors
    spec = scaled_conv(conv, parameters, scale, shift)
    if spec is None:
        return Declined("the new weights of {0!r} would leave the normal range", value)
    return replace(node, spec, "scale and shift per channel are part of the convolution")


RULE = Rule(
    id="fuse-batchnorm-into-conv",
    family="conv",
    roots=("BatchNormalization",),
    since_opset=7,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"saturation", "large"}),
    propose=propose,
)
