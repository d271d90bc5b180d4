"""ONNX text to models and back, and the form in which two graphs are compared.

Touch: tests/rules (fixtures are written in this text), tests/property.
"""

from __future__ import annotations

from collections.abc import Iterable

import onnx
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, numpy_helper

HEADER = '<ir_version: 10, opset_import: ["" : 21]>\n'
"""Stands before every text that does not start with a header of its own."""


def parse(text: str) -> ModelProto:
    """The model that `text` says, its header filled in where it has none."""
    text = text.strip() + "\n"
    return onnx.parser.parse_model(text if text.startswith("<") else HEADER + text)


def show(model: ModelProto) -> str:
    """Text of `model` that parses to it again, without node names and without the usual header."""
    copy = ModelProto()
    copy.CopyFrom(model)
    for graph in _graphs(copy):
        for node in graph.node:
            node.ClearField("name")
    lines = [line.rstrip() for line in onnx.printer.to_text(copy).splitlines()]
    text = "\n".join(lines) + "\n"
    printed_header = "".join(
        f"{line.rstrip()}\n" for line in onnx.printer.to_text(parse("g () => () {}")).splitlines()[:4]
    )
    return text.removeprefix(printed_header).strip() + "\n"


def canonical(model: ModelProto) -> str:
    """Equal for models that differ in names of nodes and inner values, or in how tensors are stored."""
    copy = ModelProto()
    copy.CopyFrom(model)
    copy.ClearField("producer_name")
    copy.ClearField("producer_version")
    for function in copy.functions:
        names = {name: f"f{i}" for i, name in enumerate((*function.input, *function.output))}
        _rename(function, {}, names, [0])
        function.input[:] = [names[name] for name in function.input]
        function.output[:] = [names[name] for name in function.output]
    outer = {v.name: v.name for v in (*copy.graph.input, *copy.graph.output)}
    _rename(copy.graph, {}, outer, [0])
    return str(copy)


def _rename(
    graph: GraphProto | FunctionProto, outer: dict[str, str], own: dict[str, str], count: list[int]
) -> None:
    """Name what `graph` defines in order of definition, initializers first."""
    names = {**outer, **own, "": ""}

    def name_of(name: str) -> str:
        if name not in names:
            names[name] = f"v{count[0]}"
            count[0] += 1
        return names[name]

    if isinstance(graph, GraphProto):
        del graph.value_info[:]
        for tensor in graph.initializer:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor), name_of(tensor.name)))
    for node in graph.node:
        node.ClearField("name")
        node.ClearField("doc_string")
        ordered = sorted(node.attribute, key=lambda a: a.name)
        del node.attribute[:]
        node.attribute.extend(ordered)
        node.input[:] = [name_of(n) for n in node.input]
        for attribute in node.attribute:
            _attribute(attribute, names, count)
        node.output[:] = [name_of(n) for n in node.output]
    if isinstance(graph, GraphProto) and outer:
        for info in graph.output:
            info.name = name_of(info.name)


def _attribute(attribute: AttributeProto, names: dict[str, str], count: list[int]) -> None:
    attribute.ClearField("doc_string")
    if attribute.type == AttributeProto.TENSOR:
        attribute.t.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(attribute.t)))
    if attribute.type == AttributeProto.GRAPH:
        body = attribute.g
        body.ClearField("name")
        own = {}
        for info in body.input:
            own[info.name] = f"v{count[0]}"
            count[0] += 1
            info.name = own[info.name]
        _rename(body, names, own, count)


def _graphs(model: ModelProto) -> Iterable[GraphProto | FunctionProto]:
    stack: list[GraphProto | FunctionProto] = [model.graph, *model.functions]
    while stack:
        graph = stack.pop()
        yield graph
        stack += [a.g for n in graph.node for a in n.attribute if a.type == AttributeProto.GRAPH]


def nodes_of(model: ModelProto) -> list[NodeProto]:
    """Every node of every scope."""
    return [node for graph in _graphs(model) for node in graph.node]
