"""Value numbering: nodes that compute the same value, and constants with the same bytes, are one.

House: rewrite. May import model.
Touch: `driver.py` merges what this finds; research: rows 67 and 68 of the pass catalogue.
"""

from __future__ import annotations

from typing import Any

from onnxsim_ci.model import Node, Value, Weights, tensor_from_array
from onnxsim_ci.model.weights import same_bytes
from onnxsim_ci.model.wire import span_of

COMMUTATIVE = frozenset({"Add", "Mul", "And", "Or", "Xor", "Equal", "BitwiseAnd", "BitwiseOr", "BitwiseXor"})
"""Operators whose result has the same bits with their two operands exchanged."""

NEVER = frozenset({"Constant", "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "Dropout"})
"""Constants have their own key; runtimes match quantization pairs one to one; Dropout may be training."""

WHOLE_BYTES = 256


class Numbering:
    """First node of each value number, and first constant of each content.

    A constant alone with its type and shape waits under None, unread: most weights are never looked at.
    """

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.nodes: dict[tuple[Any, ...], Node] = {}
        self.constants: dict[tuple[Any, ...], dict[bytes | int | None, list[Value]]] = {}

    def find_equal(self, node: Node) -> tuple[Node, Node] | None:
        """(node to keep, node to drop) when `node` computes what a known one does, else it is remembered."""
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
        """What the node computes; the outputs that it lists decide the sizes of Split, or a mode."""
        inputs = [id(v) for v in node.inputs]
        if node.op_type in COMMUTATIVE and inputs:
            inputs.sort()
        attributes: Any = defaults
        given = node.proto.attribute
        if given and not defaults:
            attributes = tuple(sorted([a.SerializeToString(deterministic=True) for a in given]))
        elif given:
            named = dict(defaults)
            for attribute in given:
                named[attribute.name] = attribute.SerializeToString(deterministic=True)
            attributes = tuple(sorted(named.items()))
        listed = tuple([v is not None for v in node.outputs]) if len(node.outputs) > 1 else ()
        return (node.op_type, node.domain, node.proto.overload, id(node.scope), *inputs, listed, attributes)

    def find_equal_constant(self, value: Value) -> Value | None:
        """An earlier constant of the scope with the same type, shape and bytes; `value` is remembered."""
        if value.pins or value.is_input or not value.is_constant or value.dtype <= 0 or value.shape is None:
            return None
        known = self.constants.setdefault((id(value.scope), value.dtype, value.shape), {})
        if None in known:
            first = known.pop(None)[0]
            if first is value or not first.is_constant:
                known[None] = [value]
                return None
            known[self._digest(first)] = [first]
        elif not known:
            known[None] = [value]
            return None
        digest = self._digest(value)
        alike = known.setdefault(digest, [])
        for other in alike:
            if other is value:
                return None
            if other.is_constant and (isinstance(digest, bytes) or self._same_bytes(value, other)):
                return other
        alike.append(value)
        return None

    def _raw(self, value: Value) -> memoryview | bytes:
        if value.tensor is not None:
            return self.weights.raw(value.tensor)
        assert value.data is not None
        return self.weights.raw(tensor_from_array(value.data, value.name))

    def _digest(self, value: Value) -> bytes | int:
        """The bytes of a small constant, a hash of the bytes of a larger one."""
        raw = self._raw(value)
        return bytes(raw) if len(raw) <= WHOLE_BYTES else hash(bytes(raw))

    def _same_bytes(self, first: Value, second: Value) -> bool:
        if first.tensor is not None and second.tensor is not None:
            span = span_of(first.tensor)
            if span is not None and span == span_of(second.tensor):
                return True
        return same_bytes(self._raw(first), self._raw(second))
