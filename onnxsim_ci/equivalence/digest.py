"""A digest that two models share only if they compute the same, whatever their nodes and values are called.

Every value gets a token: a hash of its operator, attributes, bodies and the tokens of its inputs; the model's
digest covers the tokens of its outputs and the interface. So node names, doc strings, value_info, order,
dead nodes, Identity nodes, duplicate subexpressions and the form of constants do not matter. Operators that
may give another answer for the same inputs (random, unknown domains, functions that hold such) keep the
name of their first output. Costs 6 µs a node.

House: equivalence; onnx.
Touch: rewrite must not merge what keeps its name here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import onnx
from onnx import AttributeProto, TensorProto

from onnxsim_ci.equivalence.randomness import is_random

_KNOWN_DOMAINS = frozenset({"", "ai.onnx", "ai.onnx.ml", "com.microsoft"})
_DEEPEST = 60
_BLOCK = 1 << 22


class _Unresolved(Exception):
    """The graph reads a value that nothing defines, is unsorted, or holds what we do not hash."""


def canonical_digest(model: onnx.ModelProto, *, folder: str | None = None) -> str | None:
    """Hexadecimal digest, or None when the graph cannot be resolved (never a digest shared by chance).

    Args:
        model: Any model. Sparse initializers and training information give None.
        folder: Where external data lies: its content is hashed, block by block. None: external tensors
            count by location, offset and length, which is right for two models of one folder.
    """
    if model.graph.sparse_initializer or model.training_info:
        return None
    try:
        return _Hasher(model, folder).digest()
    except (_Unresolved, OSError, ValueError, KeyError):
        return None


def _hash(*parts: bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=20)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()


def _content(data: bytes) -> bytes:
    """Hash of stored values, the same as `_Hasher._external` gives for them."""
    digest = hashlib.blake2b(len(data).to_bytes(8, "little"), digest_size=20)
    digest.update(data)
    return digest.digest()


class _Hasher:
    """The walk over one model."""

    def __init__(self, model: onnx.ModelProto, folder: str | None) -> None:
        self._model = model
        self._folder = folder
        self._functions = {(f.domain, f.name, f.overload): f for f in model.functions}
        self._called: set[tuple[str, str, str]] = set()
        self._named = {key for key, function in self._functions.items() if self._varies(function, 0)}

    def _varies(self, function: onnx.FunctionProto, depth: int) -> bool:
        """True when a call may answer differently each time: it holds a random or unknown operator."""
        if depth > _DEEPEST:
            return True
        return any(self._node_varies(node, depth) for node in function.node)

    def _node_varies(self, node: onnx.NodeProto, depth: int) -> bool:
        called = self._functions.get((node.domain, node.op_type, node.overload))
        if called is not None:
            return self._varies(called, depth + 1)
        bodies = [a.g for a in node.attribute if a.type == AttributeProto.GRAPH]
        return (
            is_random(node)
            or node.domain not in _KNOWN_DOMAINS
            or any(self._node_varies(inner, depth + 1) for body in bodies for inner in body.node)
        )

    def digest(self) -> str:
        graph, model = self._model.graph, self._model
        stored = {tensor.name for tensor in graph.initializer}
        tokens: dict[str, bytes] = {"": b""}
        signature = []
        for value in graph.input:
            overridable = value.name in stored and model.ir_version >= 4
            if value.name not in stored or overridable:
                kind = value.type.SerializeToString(deterministic=True)
                signature.append(_hash(value.name.encode(), kind, b"overridable" if overridable else b""))
                tokens[value.name] = _hash(b"input", value.name.encode())
        outputs = self._graph(graph, tokens, depth=0)
        named = [
            _hash(v.name.encode(), v.type.SerializeToString(deterministic=True), token)
            for v, token in zip(graph.output, outputs, strict=True)
        ]
        defaults = [
            _hash(t.name.encode(), self._tensor(t))
            for t in sorted(graph.initializer, key=lambda t: t.name)
            if t.name in tokens and tokens[t.name] == _hash(b"input", t.name.encode())
        ]
        opsets = sorted(f"{o.domain or 'ai.onnx'}:{o.version}" for o in model.opset_import)
        functions = sorted(self._function(key) for key in self._reached())
        return _hash(
            b"".join(signature),
            b"".join(defaults),
            b"".join(named),
            repr(opsets).encode(),
            b"".join(functions),
        ).hex()

    def _reached(self) -> set[tuple[str, str, str]]:
        """The functions that the graph calls, directly or through others."""
        reached, todo = set(self._called), list(self._called)
        while todo:
            for node in self._functions[todo.pop()].node:
                key = (node.domain, node.op_type, node.overload)
                if key in self._functions and key not in reached:
                    reached.add(key)
                    todo.append(key)
        return reached

    def _function(self, key: tuple[str, str, str]) -> bytes:
        """Functions count as they stand, without doc strings; their inner names are part of them."""
        copy = onnx.FunctionProto()
        copy.CopyFrom(self._functions[key])
        copy.ClearField("doc_string")
        for node in copy.node:
            node.ClearField("doc_string")
        return _hash(copy.SerializeToString(deterministic=True))

    def _graph(self, graph: onnx.GraphProto, outer: Mapping[str, bytes], depth: int) -> list[bytes]:
        """Tokens of the outputs; `outer` holds what the graph may read from outside, and its inputs."""
        if depth > _DEEPEST or graph.sparse_initializer:
            raise _Unresolved
        tokens = dict(outer)
        for tensor in graph.initializer:
            if depth > 0 or tokens.get(tensor.name) != _hash(b"input", tensor.name.encode()):
                tokens[tensor.name] = self._tensor(tensor)
        for node in graph.node:
            self._node(node, tokens, depth)
        try:
            return [tokens[value.name] for value in graph.output]
        except KeyError:
            raise _Unresolved from None

    def _node(self, node: onnx.NodeProto, tokens: dict[str, bytes], depth: int) -> None:
        inputs = [tokens.get(name) for name in node.input]
        if None in inputs:
            raise _Unresolved
        standard = node.domain in ("", "ai.onnx")
        if standard and node.op_type == "Identity" and len(inputs) == 1:
            tokens[node.output[0]] = inputs[0] or b""
            return
        if standard and node.op_type == "Constant" and node.attribute and node.attribute[0].name == "value":
            tokens[node.output[0]] = self._tensor(node.attribute[0].t)
            return
        attributes = sorted(self._attribute(attribute, tokens, depth) for attribute in node.attribute)
        key = (node.domain, node.op_type, node.overload)
        if key in self._functions:
            self._called.add(key)
        varies = key in self._named or (key not in self._functions and self._node_varies(node, depth))
        own_name = next((name for name in node.output if name), "") if varies else ""
        used = "".join("x" if name else "-" for name in node.output).rstrip("-")
        call = _hash(
            "\0".join(
                (node.domain if not standard else "", node.op_type, node.overload, own_name, used)
            ).encode(),
            b"".join(_hash(token or b"") for token in inputs),
            b"".join(attributes),
        )
        for index, name in enumerate(node.output):
            if name:
                tokens[name] = _hash(call, index.to_bytes(4, "little"))

    def _attribute(self, attribute: AttributeProto, tokens: Mapping[str, bytes], depth: int) -> bytes:
        name = attribute.name.encode()
        if attribute.ref_attr_name:
            return _hash(name, b"ref", attribute.ref_attr_name.encode())
        match attribute.type:
            case AttributeProto.GRAPH:
                return _hash(name, b"body", self._body(attribute.g, tokens, depth + 1))
            case AttributeProto.TENSOR:
                return _hash(name, self._tensor(attribute.t))
            case AttributeProto.GRAPHS:
                raise _Unresolved
            case _:
                copy = AttributeProto()
                copy.CopyFrom(attribute)
                copy.ClearField("doc_string")
                return _hash(name, copy.SerializeToString(deterministic=True))

    def _body(self, body: onnx.GraphProto, tokens: Mapping[str, bytes], depth: int) -> bytes:
        """A body with its inputs numbered by depth and position."""
        inside = dict(tokens)
        for index, value in enumerate(body.input):
            inside[value.name] = _hash(b"parameter", depth.to_bytes(4, "little"), index.to_bytes(4, "little"))
        outputs = self._graph(body, inside, depth)
        return _hash(len(body.input).to_bytes(4, "little"), *outputs)

    def _tensor(self, tensor: TensorProto) -> bytes:
        header = repr((tensor.data_type, tuple(tensor.dims))).encode()
        if tensor.data_location == TensorProto.EXTERNAL:
            return _hash(header, self._external(tensor))
        if tensor.HasField("raw_data"):
            return _hash(header, _content(tensor.raw_data))
        if tensor.data_type == TensorProto.STRING:
            return _hash(header, *tensor.string_data)
        return _hash(header, _content(onnx.numpy_helper.to_array(tensor).tobytes()))

    def _external(self, tensor: TensorProto) -> bytes:
        entries = {entry.key: entry.value for entry in tensor.external_data}
        place = (entries["location"], entries.get("offset", "0"), entries.get("length", ""))
        if self._folder is None:
            return _hash(b"place", repr(place).encode())
        path = Path(self._folder) / entries["location"]
        offset = int(entries.get("offset", 0))
        left = int(entries["length"]) if "length" in entries else path.stat().st_size - offset
        digest = hashlib.blake2b(left.to_bytes(8, "little"), digest_size=20)
        with path.open("rb") as file:
            file.seek(offset)
            while left > 0:
                block = file.read(min(_BLOCK, left))
                if not block:
                    raise ValueError("external data is too short")
                digest.update(block)
                left -= len(block)
        return digest.digest()
