"""Weights of convolutions and matrix products, scaled and shifted per output channel.

All arithmetic is elementwise in float64, rounded once: no BLAS, whose bits depend on the machine.

House: rewrite. May import analysis and model.
Touch: the rules of the families conv and matmul.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, NodeSpec
from onnxsim_ci.rewrite.plan import FOLD_SLACK_BYTES

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
TYPES = (np.dtype(np.float32), np.dtype(np.float64))


@dataclass(frozen=True, slots=True, eq=False)
class ConvParameters:
    """Constant parameters of a Conv or ConvTranspose.

    Attributes:
        weight: Conv [M, C / group, k...]; ConvTranspose [C, M / group, k...].
        bias: [M], or None.
        channels: M, the number of output channels.
        group: Number of groups.
    """

    weight: Array
    bias: Array | None
    channels: int
    group: int


def conv_parameters(conv: Node, facts: Facts) -> ConvParameters | Declined:
    """The parameters, when all are constants of one float type that may be replaced."""
    weight_value, bias_value = conv.inputs[1], conv.input(2)
    if weight_value is None:
        return Declined("the convolution has no weight")
    weight = facts.array(weight_value)
    bias = None if bias_value is None else facts.array(bias_value)
    if weight is None or (bias_value is not None and bias is None):
        return Declined("the weight {0!r} or the bias is not a constant", weight_value)
    if weight.dtype not in TYPES or weight.ndim < 3 or weight.size == 0:
        return Declined("the weight {0!r} is not float32 or float64", weight_value)
    if not weight_value.single_reader and weight.nbytes > FOLD_SLACK_BYTES:
        return Declined("the weight {0!r} is shared, a copy would make the model larger", weight_value)
    group = conv.attribute("group", 1)
    channels = weight.shape[0] if conv.op_type == "Conv" else weight.shape[1] * group
    if bias is not None and (bias.shape != (channels,) or bias.dtype != weight.dtype):
        return Declined("the bias of {0!r} has another shape or element type", weight_value)
    return ConvParameters(weight, bias, channels, group)


def normalization_factors(
    node: Node, facts: Facts, channels: int, dtype: np.dtype[Any]
) -> tuple[Array, Array] | Declined:
    """(scale, shift) per channel, float64, of an inference BatchNormalization: y = x * scale + shift.

    Source: ONNX operator BatchNormalization, versions 7 to 15; epsilon is a float32.
    """
    if node.attribute("training_mode", 0) or not node.attribute("spatial", 1):
        return Declined("it is in training mode, or not spatial")
    arrays: list[Array] = []
    for value in node.inputs[1:5]:
        array = None if value is None else facts.array(value)
        if array is None or array.shape != (channels,) or array.dtype != dtype:
            return Declined("parameter {0!r} is not a constant of the weight's type and channels", value)
        arrays.append(array.astype(np.float64))
    scale, bias, mean, variance = arrays
    spread = variance + node.attribute("epsilon", float(np.float32(1e-5)))
    if not (spread > 0).all():
        return Declined("variance plus epsilon is not positive everywhere")
    factor = scale / np.sqrt(spread)
    return factor, bias - mean * factor


def scaled_conv(conv: Node, parameters: ConvParameters, scale: Array, shift: Array) -> NodeSpec | None:
    """The convolution times `scale` plus `shift` per channel; None when a number leaves the normal range."""
    weight = parameters.weight.astype(np.float64)
    scale = np.broadcast_to(scale, (parameters.channels,))
    if conv.op_type == "Conv":
        scaled = weight * scale.reshape(-1, *(1,) * (weight.ndim - 1))
    else:
        group = parameters.group
        parts = weight.reshape(group, -1, *weight.shape[1:])
        scaled = (parts * scale.reshape(group, 1, -1, *(1,) * (weight.ndim - 2))).reshape(weight.shape)
    bias = 0.0 if parameters.bias is None else parameters.bias.astype(np.float64) * scale
    moved = np.broadcast_to(bias + shift, (parameters.channels,))
    if not is_in_range(scaled, parameters.weight.dtype) or loses_digits(
        weight, scaled, parameters.weight.dtype
    ):
        return None
    if parameters.bias is None and not moved.any():
        return NodeSpec(conv.op_type, (conv.inputs[0], scaled.astype(parameters.weight.dtype)), like=conv)
    if not is_in_range(moved, parameters.weight.dtype):
        return None
    operands = (conv.inputs[0], scaled.astype(parameters.weight.dtype), moved.astype(parameters.weight.dtype))
    return NodeSpec(conv.op_type, operands, like=conv)


def with_bias(conv: Node, parameters: ConvParameters, bias: Array) -> NodeSpec | None:
    """The convolution with another bias; None when it leaves the normal range."""
    if not is_in_range(bias, parameters.weight.dtype):
        return None
    operands = (conv.inputs[0], conv.inputs[1], bias.astype(parameters.weight.dtype))
    return NodeSpec(conv.op_type, operands, like=conv)


def per_channel(facts: Facts, constant: Value, parameters: ConvParameters) -> Array | None:
    """A constant as float64 [channels], when it varies over axis 1 only and widens nothing."""
    array = facts.array(constant)
    rank = parameters.weight.ndim
    if array is None or array.dtype != parameters.weight.dtype or array.ndim > rank:
        return None
    if array.size == 1:
        return np.broadcast_to(array.astype(np.float64).reshape(1), (parameters.channels,))
    aligned = (1,) * (rank - array.ndim) + array.shape
    if aligned != (1, parameters.channels, *(1,) * (rank - 2)):
        return None
    return array.astype(np.float64).reshape(-1)


def is_in_range(numbers: Array, dtype: np.dtype[Any]) -> bool:
    """True when every number is finite and stays so in `dtype`."""
    return bool(np.abs(numbers).max(initial=0.0) <= float(np.finfo(dtype).max))


def loses_digits(before: Array, after: Array, dtype: np.dtype[Any]) -> bool:
    """True when scaling pushes a number below the normal range of `dtype`, where digits get lost."""
    tiny = float(np.finfo(dtype).tiny)
    is_small = np.abs(after) < tiny
    return bool(is_small.any()) and bool((np.abs(before)[is_small] >= tiny).any())
