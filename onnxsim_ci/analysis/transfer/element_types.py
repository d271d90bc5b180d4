"""Element types of outputs.

House: analysis/transfer. May import analysis, model and onnx.
Touch: `elementwise.py` lists the operators that keep the shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TensorProto

from onnxsim_ci.analysis.transfer.elementwise import SAME_SHAPE
from onnxsim_ci.analysis.transfer.reading import TypeFunction, TypesFunction

if TYPE_CHECKING:
    from onnxsim_ci.analysis.facts import Facts
    from onnxsim_ci.model import Node

SAME_TYPE = (
    *(o for o in SAME_SHAPE if o not in {"IsInf", "IsNaN", "Not", "Cast", "CastLike", "QuantizeLinear"}),
    *("Add", "Sub", "Mul", "Div", "Pow", "Mod", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor"),
    *("Max", "Min", "Mean", "Sum", "AveragePool", "Compress", "Concat", "Conv", "ConvTranspose"),
    *("DepthToSpace", "Einsum", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Gemm"),
    *("GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool", "LpPool", "MatMul"),
    *("Pad", "Range", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean"),
    *("ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare", "Reshape", "Resize", "ScatterElements"),
    *("ScatterND", "Slice", "SpaceToDepth", "Squeeze", "Tile", "Transpose", "Unsqueeze"),
    "Upsample",
)
"""The first output has the element type of the first input."""

PREDICATES = (
    *("And", "Equal", "Greater", "GreaterOrEqual", "IsInf", "IsNaN"),
    *("Less", "LessOrEqual", "Not", "Or", "Xor"),
)
"""The output is bool."""

_CHOSEN_TYPE = frozenset({"EyeLike", "Bernoulli", "RandomNormalLike", "RandomUniformLike"})
"""Attribute `dtype`, where it is given, stands before the input's element type."""


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


def _all_same(node: Node, facts: Facts) -> list[int]:
    return [_type_at(node, facts, 0)] * len(node.outputs)


def _dropout(node: Node, facts: Facts) -> list[int]:
    """The mask is bool from version 10 on."""
    first = _type_at(node, facts, 0)
    is_bool = node.operator is not None and node.operator.since >= 10
    return [first, TensorProto.BOOL if is_bool else first]


def _with_indices(node: Node, facts: Facts) -> list[int]:
    return [_type_at(node, facts, 0), TensorProto.INT64]


def _layer_normalization(node: Node, facts: Facts) -> list[int]:
    """Mean and inverse deviation have the type `stash_type`."""
    stash = int(node.attribute("stash_type", TensorProto.FLOAT))
    return [_type_at(node, facts, 0), stash, stash]


def _batch_normalization(node: Node, facts: Facts) -> list[int]:
    """Further outputs, of training, have the type of the mean."""
    return [_type_at(node, facts, 0), *[_type_at(node, facts, 3)] * (len(node.outputs) - 1)]


def _dynamic_quantize(_node: Node, _facts: Facts) -> list[int]:
    return [TensorProto.UINT8, TensorProto.FLOAT, TensorProto.UINT8]


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
OUTPUT_TYPES: dict[str, TypesFunction] = {
    **dict.fromkeys(("GRU", "LSTM", "RNN", "Split"), _all_same),
    **dict.fromkeys(("MaxPool", "TopK"), _with_indices),
    "BatchNormalization": _batch_normalization,
    "Dropout": _dropout,
    "DynamicQuantizeLinear": _dynamic_quantize,
    "LayerNormalization": _layer_normalization,
}
