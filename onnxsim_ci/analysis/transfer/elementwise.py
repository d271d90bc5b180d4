"""Shapes of the operators that work element by element, and of those that keep the shape.

House: analysis/transfer. May import analysis and model.
Touch: `arithmetic.py` has the contents of some of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnxsim_ci.analysis.dim import Shape
from onnxsim_ci.analysis.opaque import broadcast_shapes
from onnxsim_ci.analysis.transfer.reading import ShapeFunction, ShapesFunction, shape_at

if TYPE_CHECKING:
    from onnxsim_ci.analysis.facts import Facts
    from onnxsim_ci.model import Node

SAME_SHAPE = (
    *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf", "Exp", "Floor"),
    *(
        "Identity",
        "IsInf",
        "IsNaN",
        "Log",
        "Neg",
        "Not",
        "Reciprocal",
        "Round",
        "Sign",
        "Sin",
        "Sinh",
        "Sqrt",
    ),
    *("Tan", "Tanh", "BitwiseNot", "Cast", "CastLike", "Clip", "CumSum", "Hardmax", "LogSoftmax", "Softmax"),
    *(
        "Celu",
        "Elu",
        "Gelu",
        "HardSigmoid",
        "HardSwish",
        "LeakyRelu",
        "Mish",
        "PRelu",
        "Relu",
        "Selu",
        "Shrink",
    ),
    *("Sigmoid", "Softplus", "Softsign", "Swish", "ThresholdedRelu", "QuantizeLinear", "DequantizeLinear"),
    *("GroupNormalization", "InstanceNormalization", "LRN", "LpNormalization", "MeanVarianceNormalization"),
    *("RMSNormalization", "EyeLike", "RandomNormalLike", "RandomUniformLike", "Bernoulli", "ReverseSequence"),
    *("Trilu",),
)
"""The first output has the shape of the first input, which no other operand widens."""

BROADCAST = (
    *("Add", "Sub", "Mul", "Div", "Pow", "Mod", "And", "Or", "Xor", "BitShift", "BitwiseAnd", "BitwiseOr"),
    *("BitwiseXor", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Max", "Min", "Mean", "Sum"),
    "Where",
)
"""All inputs broadcast to the shape of the output."""


def _same_shape(node: Node, facts: Facts) -> Shape | None:
    return shape_at(node, facts, 0)


def _broadcast(node: Node, facts: Facts) -> Shape | None:
    """Below version 7 the second operand followed attributes; then it never widened the first."""
    result = shape_at(node, facts, 0)
    if node.attribute("broadcast") is not None:
        return result
    for index in range(1, len(node.inputs)):
        shape = shape_at(node, facts, index)
        if result is None or shape is None:
            return None
        result = broadcast_shapes(result, shape)
    return result


def _all_same(node: Node, facts: Facts) -> list[Shape | None]:
    return [shape_at(node, facts, 0)] * len(node.outputs)


def _layer_normalization(node: Node, facts: Facts) -> list[Shape | None] | None:
    """Mean and inverse deviation have 1 on the normalized axes."""
    shape = shape_at(node, facts, 0)
    axis = node.attribute("axis", -1)
    if shape is None or not -len(shape) <= axis < len(shape):
        return None
    axis %= len(shape)
    reduced = shape[:axis] + (1,) * (len(shape) - axis)
    return [shape, reduced, reduced]


def _batch_normalization(node: Node, facts: Facts) -> list[Shape | None]:
    """Further outputs, of training, have the shape of the mean."""
    return [shape_at(node, facts, 0), *[shape_at(node, facts, 3)] * (len(node.outputs) - 1)]


def _dynamic_quantize(node: Node, facts: Facts) -> list[Shape | None]:
    return [shape_at(node, facts, 0), (), ()]


SHAPES: dict[str, ShapeFunction] = {
    **dict.fromkeys(SAME_SHAPE, _same_shape),
    **dict.fromkeys(BROADCAST, _broadcast),
}
OUTPUT_SHAPES: dict[str, ShapesFunction] = {
    "BatchNormalization": _batch_normalization,
    "Dropout": _all_same,
    "DynamicQuantizeLinear": _dynamic_quantize,
    "LayerNormalization": _layer_normalization,
}
