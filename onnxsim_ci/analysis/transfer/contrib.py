"""Shapes and element types of onnxruntime's own operators that its quantization tool writes.

House: analysis/transfer. May import analysis and model.
Touch: `analysis.learning` asks this table; tests/analysis/test_contrib.py runs each entry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from onnxsim_ci.analysis.dim import Dim, Shape
from onnxsim_ci.analysis.opaque import broadcast_shapes
from onnxsim_ci.analysis.transfer.movement import agreed
from onnxsim_ci.analysis.transfer.reading import axis_of, shape_at

if TYPE_CHECKING:
    from onnxsim_ci.analysis.facts import Facts
    from onnxsim_ci.model import Node

CONTRIB_DOMAIN = "com.microsoft"
Kind: TypeAlias = tuple[int, Shape | None]
"""Element type (0: unknown) and shape of an output."""
KindsFunction: TypeAlias = "Callable[[Node, Facts], Sequence[Kind]]"


def _dtype_at(node: Node, facts: Facts, index: int) -> int:
    value = node.input(index)
    return 0 if value is None else max(facts.dtype(value), 0)


def _same(node: Node, facts: Facts) -> list[Kind]:
    return [(_dtype_at(node, facts, 0), shape_at(node, facts, 0))]


def _quantized_binary(node: Node, facts: Facts) -> list[Kind]:
    """Inputs are value, scale and zero point of each operand, then those of the result."""
    a, b = shape_at(node, facts, 0), shape_at(node, facts, 3)
    shape = None if a is None or b is None else broadcast_shapes(a, b)
    return [(_dtype_at(node, facts, 0), shape)]


def _quantized_concat(node: Node, facts: Facts) -> list[Kind]:
    """Inputs are scale and zero point of the result, then value, scale and zero point of each operand."""
    shapes = [shape_at(node, facts, i) for i in range(2, len(node.inputs), 3)]
    known = [s for s in shapes if s is not None]
    dtype = _dtype_at(node, facts, 2)
    if not known or len(known) < len(shapes) or any(len(s) != len(known[0]) for s in known):
        return [(dtype, None)]
    axis = axis_of(node, len(known[0]))
    if axis is None:
        return [(dtype, None)]
    total: Dim = 0
    for shape in known:
        total = total + shape[axis]
    dims = [total if i == axis else agreed([s[i] for s in known]) for i in range(len(known[0]))]
    return [(dtype, tuple(dims))]


def _quantized_lstm(node: Node, facts: Facts) -> list[Kind]:
    """As LSTM, with the hidden size as attribute: the recurrence weights are stored transposed."""
    x, dtype = shape_at(node, facts, 0), _dtype_at(node, facts, 0)
    hidden = node.attribute("hidden_size")
    if x is None or len(x) != 3 or not isinstance(hidden, int):
        return [(dtype, None)] * 3
    directions = 2 if node.attribute("direction", "forward") in ("bidirectional", b"bidirectional") else 1
    last: Shape = (directions, x[1], hidden)
    return [(dtype, (x[0], directions, x[1], hidden)), (dtype, last), (dtype, last)]


CONTRIB: dict[str, KindsFunction] = {
    "DynamicQuantizeLSTM": _quantized_lstm,
    "QLinearAdd": _quantized_binary,
    "QLinearConcat": _quantized_concat,
    "QLinearLeakyRelu": _same,
    "QLinearMul": _quantized_binary,
    "QLinearSigmoid": _same,
}
"""Element type and shape of each output by operator."""
