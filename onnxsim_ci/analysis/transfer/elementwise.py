"""Shapes and element types of the operators that work element by element, and of those that keep the shape.

House: analysis/transfer. May import analysis and model.
Touch: `arithmetic.py` has the contents of some of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TensorProto

from onnxsim_ci.analysis.dim import Shape
from onnxsim_ci.analysis.opaque import broadcast_shapes
from onnxsim_ci.analysis.transfer.reading import ShapeFunction, ShapesFunction, TypeFunction, shape_at

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

SAME_TYPE = (
    *(o for o in SAME_SHAPE if o not in {"IsInf", "IsNaN", "Not", "Cast", "CastLike", "QuantizeLinear"}),
    *(
        "Add",
        "Sub",
        "Mul",
        "Div",
        "Pow",
        "Mod",
        "BitShift",
        "BitwiseAnd",
        "BitwiseOr",
        "BitwiseXor",
        "Max",
        "Min",
    ),
    *("Mean", "Sum", "AveragePool", "BatchNormalization", "Compress", "Concat", "Conv", "ConvTranspose"),
    *(
        "DepthToSpace",
        "Dropout",
        "Einsum",
        "Expand",
        "Flatten",
        "Gather",
        "GatherElements",
        "GatherND",
        "Gemm",
    ),
    *(
        "GlobalAveragePool",
        "GlobalLpPool",
        "GlobalMaxPool",
        "LayerNormalization",
        "LpPool",
        "MatMul",
        "MaxPool",
    ),
    *("Pad", "Range", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean"),
    *("ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare", "Reshape", "Resize", "ScatterElements"),
    *("ScatterND", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "TopK", "Transpose", "Unsqueeze"),
    *("Upsample", "LSTM", "GRU", "RNN"),
)
"""The first output has the element type of the first input."""

PREDICATES = (
    *(
        "And",
        "Equal",
        "Greater",
        "GreaterOrEqual",
        "IsInf",
        "IsNaN",
        "Less",
        "LessOrEqual",
        "Not",
        "Or",
        "Xor",
    ),
)
"""The output is bool."""

_CHOSEN_TYPE = frozenset({"EyeLike", "Bernoulli", "RandomNormalLike", "RandomUniformLike"})
"""Attribute `dtype`, where it is given, stands before the input's element type."""


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


def _same_type(node: Node, facts: Facts) -> int:
    if node.op_type in _CHOSEN_TYPE and node.attribute("dtype"):
        return int(node.attribute("dtype"))
    return _type_at(node, facts, 0)


def _type_at(node: Node, facts: Facts, index: int) -> int:
    value = node.input(index)
    return 0 if value is None else max(facts.dtype(value), 0)


def _bool(_node: Node, _facts: Facts) -> int:
    return TensorProto.BOOL


def _int64(_node: Node, _facts: Facts) -> int:
    return TensorProto.INT64


def _int32(_node: Node, _facts: Facts) -> int:
    return TensorProto.INT32


def _cast(node: Node, _facts: Facts) -> int:
    target = node.attribute("to", 0)
    return target if isinstance(target, int) else 0


def _second_type(node: Node, facts: Facts) -> int:
    return _type_at(node, facts, 1)


def _constant_of_shape(node: Node, _facts: Facts) -> int:
    value = node.attribute("value")
    return TensorProto.FLOAT if value is None else value.data_type


def _one_hot(node: Node, facts: Facts) -> int:
    return _type_at(node, facts, 2)


def _quantize(node: Node, facts: Facts) -> int:
    """The zero point's type, else `output_dtype` (version 21), else uint8."""
    if node.input(2) is not None:
        return _type_at(node, facts, 2)
    return int(node.attribute("output_dtype", 0)) or TensorProto.UINT8


def _dequantize(node: Node, facts: Facts) -> int:
    """`output_dtype` (version 23), else the scale's type."""
    return int(node.attribute("output_dtype", 0)) or _type_at(node, facts, 1)


def _quantized_product(node: Node, facts: Facts) -> int:
    """The type of the output's zero point."""
    return _type_at(node, facts, 7)


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
ELEMENT_TYPES: dict[str, TypeFunction] = {
    **dict.fromkeys(SAME_TYPE, _same_type),
    **dict.fromkeys(PREDICATES, _bool),
    **dict.fromkeys(("ArgMax", "ArgMin", "NonZero", "Shape", "Size"), _int64),
    **dict.fromkeys(("ConvInteger", "MatMulInteger"), _int32),
    **dict.fromkeys(("CastLike", "Where"), _second_type),
    **dict.fromkeys(("QLinearConv", "QLinearMatMul"), _quantized_product),
    "Cast": _cast,
    "ConstantOfShape": _constant_of_shape,
    "DequantizeLinear": _dequantize,
    "OneHot": _one_hot,
    "QuantizeLinear": _quantize,
}
