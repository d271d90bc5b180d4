"""Value numbering: nodes that compute the same value, and constants with the same bytes, are one.

House: rewrite. May import model.
Touch: `driver.py` merges what this finds; research: rows 67 and 68 of the pass catalogue.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from onnxsim_ci.model import Node, Value, Weights, tensor_from_array
from onnxsim_ci.model.weights import same_bytes
from onnxsim_ci.model.wire import span_of

COMMUTATIVE = frozenset({"Add", "Mul", "And", "Or", "Xor", "Equal", "BitwiseAnd", "BitwiseOr", "BitwiseXor"})
"""Operators whose result has the same bits with their two operands exchanged."""

NEVER = frozenset({"Constant", "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "Dropout"})
"""Constants have their own key; runtimes match quantization pairs one to one; Dropout may be training."""

WHOLE_BYTES, SAMPLE_BYTES = 256, 128

Constants: TypeAlias = "dict[Any, Value | Constants]"


class Numbering:
    """First node of each value number, and first constant of each content.

    A node that is alone with its operator and operands waits under None, its attributes unread. A constant is
    filed under as few of its keys as tell it from the others, so that most weights are never read.
    """

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.nodes: dict[tuple[Any, ...], dict[tuple[Any, ...] | None, Node]] = {}
        self.constants: Constants = {}

    def find_equal(self, node: Node) -> tuple[Node, Node] | None:
        """(node to keep, node to drop) when `node` computes what a known one does, else it is remembered."""
        operator = node.operator
        if operator is None or not operator.is_deterministic or node.subgraphs or node.op_type in NEVER:
            return None
        if node.op_type == "BatchNormalization" and node.attribute("training_mode", 0):
            return None
        place = _place(node)
        alike = self.nodes.setdefault(place, {})
        if not alike:
            alike[None] = node
            return None
        if None in alike:
            first = alike.pop(None)
            if first is node:
                alike[None] = node
                return None
            alike[_details(first)] = first
        details = _details(node)
        known = alike.get(details)
        if known is node:
            return None
        if known is None or not known.is_alive or _place(known) != place or _details(known) != details:
            alike[details] = node
            return None
        if known.order <= node.order:
            return known, node
        alike[details] = node
        return node, known

    def find_equal_constant(self, value: Value) -> Value | None:
        """An earlier constant of the scope with the same type, shape and bytes; `value` is remembered."""
        if value.pins or value.is_input or not value.is_constant or value.dtype <= 0 or value.shape is None:
            return None
        table = self.constants
        keys: tuple[Callable[[Value], Any], ...] = (_kind, self._sample, self._digest)
        for level, key_of in enumerate(keys):
            key = key_of(value)
            known = table.get(key)
            if isinstance(known, dict):
                table = known
                continue
            if known is None or not known.is_constant:
                table[key] = value
                return None
            if known is value:
                return None
            if key.__class__ is bytes:
                return known
            if level + 1 == len(keys):
                return known if self._same_bytes(value, known) else None
            table[key] = table = {keys[level + 1](known): known}
        return None

    def _sample(self, value: Value) -> bytes | tuple[bytes, bytes]:
        """All bytes of a small constant, both ends of a larger one."""
        raw = self._raw(value)
        if len(raw) <= WHOLE_BYTES:
            return bytes(raw)
        return bytes(raw[:SAMPLE_BYTES]), bytes(raw[-SAMPLE_BYTES:])

    def _digest(self, value: Value) -> int:
        return hash(bytes(self._raw(value)))

    def _raw(self, value: Value) -> memoryview | bytes:
        if value.tensor is not None:
            return self.weights.raw(value.tensor)
        assert value.data is not None
        return self.weights.raw(tensor_from_array(value.data, value.name))

    def _same_bytes(self, first: Value, second: Value) -> bool:
        if first.tensor is not None and second.tensor is not None:
            span = span_of(first.tensor)
            if span is not None and span == span_of(second.tensor):
                return True
        return same_bytes(self._raw(first), self._raw(second))


def _kind(value: Value) -> tuple[Any, ...]:
    return (id(value.scope), value.dtype, value.shape)


def _place(node: Node) -> tuple[Any, ...]:
    """Operator, scope and operands of a node; the two of a commutative one in any order."""
    inputs = [id(v) for v in node.inputs]
    if node.op_type in COMMUTATIVE:
        inputs.sort()
    return (node.op_type, node.domain, id(node.scope), *inputs)


def _details(node: Node) -> tuple[Any, ...]:
    """What else decides the outputs: attributes, and which outputs are listed (sizes of Split, or a mode)."""
    assert node.operator is not None
    defaults, given = node.operator.defaults, node.proto.attribute
    attributes: Any = defaults
    if given and not defaults:
        attributes = tuple(sorted([a.SerializeToString(deterministic=True) for a in given]))
    elif given:
        named = dict(defaults)
        for attribute in given:
            named[attribute.name] = attribute.SerializeToString(deterministic=True)
        attributes = tuple(sorted(named.items()))
    return (node.proto.overload, tuple([v is not None for v in node.outputs]), attributes)
