"""Value numbering: nodes that compute the same value, and constants with the same bytes, are one.

House: rewrite. May import model.
Touch: `driver.py` merges what this finds; research: rows 67 and 68 of the pass catalogue.
"""

from __future__ import annotations

from typing import Any

from onnx import TensorProto

from onnxsim_ci.model import Node, Value, Weights, stored_bytes
from onnxsim_ci.model.wire import span_of

COMMUTATIVE = frozenset({"Add", "Mul", "And", "Or", "Xor", "Equal", "BitwiseAnd", "BitwiseOr", "BitwiseXor"})
"""Operators whose result has the same bits with their two operands exchanged."""

NEVER = frozenset({"Constant", "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "Dropout"})
"""Constants have their own key; runtimes match quantization pairs one to one; Dropout may be training."""

EXTERNAL = TensorProto.EXTERNAL
SAMPLE_BYTES = 64
WHOLE_BYTES = 256


class Numbering:
    """First node of each value number, and first constant of each content."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.nodes: dict[tuple[Any, ...], Node] = {}
        self.constants: dict[tuple[Any, ...], list[Value]] = {}

    def find_equal(self, node: Node) -> tuple[Node, Node] | None:
        """(node to keep, node to drop) when `node` computes what a known one does; it is remembered otherwise."""
        operator = node.operator
        if operator is None or not operator.is_deterministic or node.subgraphs or node.op_type in NEVER:
            return None
        if node.op_type == "BatchNormalization" and node.attribute("training_mode", 0):
            return None
        key = self._key(node, operator.defaults)
        known = self.nodes.get(key)
        if known is None or known is node or not known.is_alive or self._key(known, operator.defaults) != key:
            self.nodes[key] = node
            return None
        if known.order <= node.order:
            return known, node
        self.nodes[key] = node
        return node, known

    def _key(self, node: Node, defaults: tuple[tuple[str, bytes], ...]) -> tuple[Any, ...]:
        inputs = [id(v) for v in node.inputs]
        if node.op_type in COMMUTATIVE and inputs:
            inputs.sort()
        attributes: Any = defaults
        if node.proto.attribute:
            named = dict(defaults)
            for attribute in node.proto.attribute:
                named[attribute.name] = attribute.SerializeToString(deterministic=True)
            attributes = tuple(sorted(named.items()))
        return (node.op_type, node.domain, node.proto.overload, id(node.scope), *inputs, attributes)

    def find_equal_constant(self, value: Value) -> Value | None:
        """An earlier constant of the same scope with the same type, shape and bytes; else `value` is remembered."""
        tensor = value.tensor
        if tensor is None or value.pins or value.is_input or value.overridable:
            return None
        key = self._constant_key(value, tensor)
        if key is None:
            return None
        known = self.constants.setdefault(key, [])
        for other in known:
            if other is value:
                return None
            if other.is_constant and other.tensor is not None and self._same_bytes(tensor, other.tensor):
                return other
        known.append(value)
        return None

    def _constant_key(self, value: Value, tensor: TensorProto) -> tuple[Any, ...] | None:
        head = (id(value.scope), tensor.data_type, tuple(tensor.dims))
        size = stored_bytes(tensor.data_type, tensor.dims)
        if tensor.data_location == EXTERNAL:
            view = self.weights.view(tensor)
        elif tensor.HasField("raw_data"):
            raw = tensor.raw_data
            return (*head, raw if size <= WHOLE_BYTES else hash(raw))
        else:
            return (*head, bytes(self.weights.raw(tensor)))
        middle = size // 2
        return (
            *head,
            bytes(view[:SAMPLE_BYTES]),
            bytes(view[middle : middle + SAMPLE_BYTES]),
            bytes(view[-SAMPLE_BYTES:]),
        )

    def _same_bytes(self, first: TensorProto, second: TensorProto) -> bool:
        if span_of(first) is not None and span_of(first) == span_of(second):
            return True
        return memoryview(self.weights.raw(first)) == memoryview(self.weights.raw(second))
