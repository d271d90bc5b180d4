"""A model as canonical text, for git's textconv, for people and for tests.

What has an order in the model (inputs, outputs, nodes) keeps it; what has none (opsets, metadata, attributes,
initializers, value_info, functions) is sorted by name, so that two files that mean the same read the same.
External data is never opened. Not built on `onnx.printer`, which loses doc strings, metadata and defaults.

House: model. May import onnx and errors.
Touch: `literals.py` for the pieces; tests/model/test_text.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from google.protobuf.unknown_fields import UnknownFieldSet
from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    OperatorSetIdProto,
    SparseTensorProto,
    StringStringEntryProto,
    TensorProto,
    TrainingInfoProto,
    ValueInfoProto,
)

from onnxsim_ci.errors import LfsPointer
from onnxsim_ci.model.literals import (
    floats,
    listed,
    name,
    quoted,
    sparse_text,
    tensor_text,
    text_or_digest,
    type_text,
)
from onnxsim_ci.model.load import Limits, open_buffer, parse_model
from onnxsim_ci.model.weights import Weights

if TYPE_CHECKING:
    from collections.abc import Iterator

INDENT = "  "

SHORT: dict[int, Callable[[AttributeProto, Weights], str]] = {
    AttributeProto.FLOAT: lambda a, _: floats([a.f])[0],
    AttributeProto.INT: lambda a, _: str(a.i),
    AttributeProto.STRING: lambda a, _: text_or_digest(a.s),
    AttributeProto.TENSOR: lambda a, w: tensor_text(a.t, w),
    AttributeProto.SPARSE_TENSOR: lambda a, w: sparse_text(a.sparse_tensor, w),
    AttributeProto.TYPE_PROTO: lambda a, _: f"type {type_text(a.tp)}",
    AttributeProto.FLOATS: lambda a, _: listed(floats(a.floats)),
    AttributeProto.INTS: lambda a, _: listed([str(i) for i in a.ints]),
    AttributeProto.STRINGS: lambda a, _: listed([text_or_digest(s) for s in a.strings]),
    AttributeProto.TENSORS: lambda a, w: listed([tensor_text(t, w) for t in a.tensors]),
    AttributeProto.SPARSE_TENSORS: lambda a, w: listed([sparse_text(s, w) for s in a.sparse_tensors]),
    AttributeProto.TYPE_PROTOS: lambda a, _: listed([f"type {type_text(t)}" for t in a.type_protos]),
}
"""How attributes of each kind read, those of graphs aside."""

KIND_OF_FIELD = {
    "f": AttributeProto.FLOAT,
    "i": AttributeProto.INT,
    "s": AttributeProto.STRING,
    "t": AttributeProto.TENSOR,
    "g": AttributeProto.GRAPH,
    "sparse_tensor": AttributeProto.SPARSE_TENSOR,
    "tp": AttributeProto.TYPE_PROTO,
    "floats": AttributeProto.FLOATS,
    "ints": AttributeProto.INTS,
    "strings": AttributeProto.STRINGS,
    "tensors": AttributeProto.TENSORS,
    "graphs": AttributeProto.GRAPHS,
    "sparse_tensors": AttributeProto.SPARSE_TENSORS,
    "type_protos": AttributeProto.TYPE_PROTOS,
}
"""Attribute kind by the field that is filled, for files from before kinds were written."""


def canonical_text(model: str | os.PathLike[str] | bytes) -> str:
    """The model as text with one line a node, value and entry; a git-LFS pointer as it is.

    Models for newer IR versions and broken graphs are shown too: a diff has to work for them.

    Args:
        model: Path or serialized bytes; `os.PathLike` and `str` are paths.

    Raises:
        BadInput: It cannot be read, or is no ONNX model.
    """
    try:
        buffer, where = open_buffer(model, Limits())
    except LfsPointer:
        content = model if isinstance(model, bytes) else _content(model)
        return content.decode("utf-8", "backslashreplace")
    writer = _Writer(Weights(buffer, None))
    writer.model(parse_model(buffer, where))
    return "\n".join(writer.lines) + "\n"


def _content(path: str | os.PathLike[str]) -> bytes:
    with open(path, "rb") as file:
        return file.read()


class _Writer:
    """Lines of text, indented by the block they stand in."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.lines: list[str] = []
        self.depth = 0

    def line(self, text: str) -> None:
        self.lines.append(INDENT * self.depth + text)

    @contextmanager
    def block(self, title: str) -> Iterator[None]:
        self.line(title)
        self.depth += 1
        yield
        self.depth -= 1

    def model(self, model: ModelProto) -> None:
        with self.block("model"):
            self.line(f"ir_version {model.ir_version}")
            self.opsets(model.opset_import)
            for field in ("producer_name", "producer_version", "domain"):
                if getattr(model, field):
                    self.line(f"{field} {quoted(getattr(model, field))}")
            if model.model_version:
                self.line(f"model_version {model.model_version}")
            self.notes(model)
            for configuration in sorted(getattr(model, "configuration", ()), key=lambda c: c.name):
                self.line(f"configuration {message_text(configuration)}")
        self.graph(model.graph, "graph")
        for function in sorted(model.functions, key=lambda f: (f.domain, f.name, f.overload)):
            self.function(function)
        for number, training in enumerate(model.training_info):
            self.training(training, number)

    def opsets(self, imports: Iterable[OperatorSetIdProto]) -> None:
        for domain, version in sorted((o.domain or "ai.onnx", o.version) for o in imports):
            self.line(f"opset {name(domain)} {version}")

    def graph(self, graph: GraphProto, title: str) -> None:
        with self.block(f"{title} {name(graph.name)}"):
            self.notes(graph)
            self.infos("input", graph.input)
            self.infos("output", graph.output)
            for tensor in sorted(graph.initializer, key=lambda t: t.name):
                self.tensor(f"initializer {name(tensor.name)}", tensor)
            for sparse in sorted(graph.sparse_initializer, key=lambda s: s.values.name):
                self.sparse(f"initializer {name(sparse.values.name)}", sparse)
            self.infos("value", sorted(graph.value_info, key=lambda i: i.name))
            for annotation in sorted(graph.quantization_annotation, key=lambda a: a.tensor_name):
                parts = (f"{name(e.key)}={name(e.value)}" for e in annotation.quant_parameter_tensor_names)
                self.line(f"annotation {name(annotation.tensor_name)}: {', '.join(parts)}")
            for node in graph.node:
                self.node(node)

    def function(self, function: FunctionProto) -> None:
        overload = f":{name(function.overload)}" if function.overload else ""
        with self.block(f"function {name(function.domain)}::{name(function.name)}{overload}"):
            self.opsets(function.opset_import)
            self.notes(function)
            self.line(f"inputs {', '.join(map(name, function.input))}".rstrip())
            self.line(f"outputs {', '.join(map(name, function.output))}".rstrip())
            for required in sorted(function.attribute):
                self.line(f"attribute {name(required)}")
            for attribute in sorted(function.attribute_proto, key=lambda a: a.name):
                self.attribute("attribute ", attribute)
            self.infos("value", sorted(function.value_info, key=lambda i: i.name))
            for node in function.node:
                self.node(node)

    def training(self, training: TrainingInfoProto, number: int) -> None:
        with self.block(f"training {number}"):
            self.graph(training.initialization, "initialization")
            self.graph(training.algorithm, "algorithm")
            for field in ("initialization_binding", "update_binding"):
                self.entries(field, getattr(training, field))

    def infos(self, title: str, infos: Iterable[ValueInfoProto]) -> None:
        for info in infos:
            with self.block(f"{title} {name(info.name)}: {type_text(info.type)}"):
                self.notes(info)

    def tensor(self, title: str, tensor: TensorProto) -> None:
        with self.block(f"{title}: {tensor_text(tensor, self.weights)}"):
            self.notes(tensor)

    def sparse(self, title: str, sparse: SparseTensorProto) -> None:
        with self.block(f"{title}: {sparse_text(sparse, self.weights)}"):
            self.notes(sparse.values)
            self.notes(sparse.indices)

    def node(self, node: NodeProto) -> None:
        domain = "" if node.domain in ("", "ai.onnx") else f"{name(node.domain)}::"
        overload = f":{name(node.overload)}" if node.overload else ""
        inputs, outputs = (", ".join(name(v) if v else "" for v in p) for p in (node.input, node.output))
        label = f"node {name(node.name)}" if node.name else "node"
        with self.block(f"{label}: {outputs} = {domain}{name(node.op_type)}{overload}({inputs})"):
            self.notes(node)
            for attribute in sorted(node.attribute, key=lambda a: a.name):
                self.attribute("", attribute)
            for configuration in getattr(node, "device_configurations", ()):
                self.line(f"device {message_text(configuration)}")

    def attribute(self, title: str, attribute: AttributeProto) -> None:
        label = f"{title}{name(attribute.name)}"
        kind = _kind_of(attribute)
        graphs = [attribute.g] if kind == AttributeProto.GRAPH else list(attribute.graphs)
        if attribute.ref_attr_name:
            content = f"@{name(attribute.ref_attr_name)}"
        elif kind in SHORT:
            content = SHORT[kind](attribute, self.weights)
        else:
            content = "graphs" if graphs else f"nothing of kind {kind}"
        with self.block(f"{label} = {content}"):
            self.notes(attribute)
            if kind == AttributeProto.TENSOR:
                self.notes(attribute.t)
            for graph in graphs:
                self.graph(graph, "graph")

    def notes(self, message: Any) -> None:
        """Doc string, metadata, and fields that the installed library does not know."""
        if message.doc_string:
            with self.block("doc"):
                for part in message.doc_string.split("\n"):
                    self.line(f"| {quoted(part)[1:-1]}".rstrip())
        self.entries("metadata", getattr(message, "metadata_props", ()))
        unknown = UnknownFieldSet(message)
        if len(unknown):
            fields = (str(unknown[i].field_number) for i in range(len(unknown)))
            self.line(f"unknown fields {', '.join(fields)}")

    def entries(self, title: str, entries: Iterable[StringStringEntryProto]) -> None:
        for key, value in sorted((e.key, e.value) for e in entries):
            self.line(f"{title} {name(key)} = {quoted(value)}")


def _kind_of(attribute: AttributeProto) -> int:
    if attribute.type:
        return int(attribute.type)
    for field, _ in attribute.ListFields():
        if field.name in KIND_OF_FIELD:
            return KIND_OF_FIELD[field.name]
    return 0


def message_text(message: Any) -> str:
    """Any small message as `{field: value, ...}` in the order of its field numbers."""
    parts = []
    for field, content in message.ListFields():
        items = list(content) if field.is_repeated else [content]
        shown = [_plain(item) for item in items]
        parts.append(f"{field.name}: {listed(shown) if field.is_repeated else shown[0]}")
    return f"{{{', '.join(parts)}}}"


def _plain(item: Any) -> str:
    if isinstance(item, (str, bytes)):
        return quoted(item)
    return message_text(item) if hasattr(item, "ListFields") else str(item)
