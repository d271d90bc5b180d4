"""Build the index of a model, refusing graphs whose names do not fit together.

House: model. May import onnx and errors.
Touch: `graph.py` for what the objects hold.
"""

from __future__ import annotations

from collections.abc import Iterable

from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto

from onnxsim_ci.errors import BadInput
from onnxsim_ci.model.constants import constant_node_content
from onnxsim_ci.model.graph import GRAPH, GRAPHS, Graph, Node, Scope, Value
from onnxsim_ci.model.operators import find_operator

IR_WITHOUT_INPUT_INITIALIZERS = 4
"""From this IR version an initializer that is listed as an input is a default that callers may override."""


def build_graph(model: ModelProto) -> Graph:
    """Index of `model`; the messages are shared, not copied.

    Raises:
        BadInput: A name is defined twice in a scope, read before its definition, or never defined.
    """
    opsets = _opsets(model.opset_import)
    builder = _Builder(model.ir_version, {(f.domain, f.name, f.overload) for f in model.functions})
    root = builder.graph(model.graph, None, opsets, "")
    functions = tuple(
        builder.function(f, {**opsets, **_opsets(f.opset_import)}, f"{f.domain}::{f.name}")
        for f in model.functions
    )
    _pin_annotations(root)
    _refuse_other_text((*builder.names, *opsets))
    graph = Graph(root, functions, model.ir_version, builder.names)
    graph.repeated = builder.repeated
    return graph


def _opsets(imports: Iterable[OperatorSetIdProto]) -> dict[str, int]:
    return {"" if o.domain == "ai.onnx" else o.domain: o.version for o in imports}


def _refuse_other_text(names: Iterable[object]) -> None:
    """Protobuf gives bytes for a text that is no UTF-8."""
    for name in names:
        if name.__class__ is bytes:
            raise BadInput(f"the name {name!r} is not UTF-8 text")


def _pin_annotations(root: Scope) -> None:
    """Values that quantization annotations name survive under their names."""
    for annotation in getattr(root.proto, "quantization_annotation", ()):
        names = [annotation.tensor_name, *(e.value for e in annotation.quant_parameter_tensor_names)]
        for name in names:
            value = root.values.get(name)
            if value is not None:
                value.pins += 1


class _Builder:
    """One pass over the messages; `names` collects every value name of every scope."""

    def __init__(self, ir_version: int, calls: set[tuple[str, str, str]]) -> None:
        self.overridable = ir_version >= IR_WITHOUT_INPUT_INITIALIZERS
        self.calls = {("" if d == "ai.onnx" else d, n, o) for d, n, o in calls}
        self.call_names = {(d, n) for d, n, _ in self.calls}
        self.names: set[str] = set()
        self.repeated: set[str] = set()
        self.in_function = False

    def graph(self, proto: GraphProto, parent: Scope | None, opsets: dict[str, int], path: str) -> Scope:
        scope = Scope(proto, parent, opsets, path)
        values = scope.values
        for info in proto.input:
            value = self.define(scope, info.name)
            value.is_input = True
            value.declared = info
            scope.inputs.append(value)
        for tensor in proto.initializer:
            self.initializer(scope, tensor.name, parent).tensor = tensor
        for sparse in proto.sparse_initializer:
            self.initializer(scope, sparse.values.name, parent)
        self.body(scope, proto.node)
        for info in proto.output:
            found = values.get(info.name) or scope.find(info.name)
            if found is None:
                raise BadInput(f"{_where(scope)} has the output {info.name!r}, which nothing produces")
            found.pins += 1
            scope.outputs.append(found)
            if found.declared is None and found.scope is scope:
                found.declared = info
        return scope

    def initializer(self, scope: Scope, name: str, parent: Scope | None) -> Value:
        value = scope.values.get(name)
        if value is None:
            return self.define(scope, name)
        if not value.is_input or value.tensor is not None:
            raise BadInput(f"{_where(scope)} defines {name!r} twice")
        value.overridable = self.overridable or parent is not None
        return value

    def function(self, proto: FunctionProto, opsets: dict[str, int], path: str) -> Scope:
        scope = Scope(proto, None, opsets, path)
        for name in proto.input:
            value = self.define(scope, name)
            value.is_input = True
            scope.inputs.append(value)
        self.in_function = True
        self.body(scope, proto.node)
        self.in_function = False
        for name in proto.output:
            found = scope.values.get(name)
            if found is None:
                raise BadInput(f"function {path!r} has the output {name!r}, which nothing produces")
            found.pins += 1
            scope.outputs.append(found)
        return scope

    def define(self, scope: Scope, name: str) -> Value:
        if name in scope.values:
            raise BadInput(f"{_where(scope)} defines {name!r} twice")
        if name in self.names:
            self.repeated.add(name)
        self.names.add(name)
        value = scope.values[name] = Value(name, scope)
        return value

    def body(self, scope: Scope, protos: Iterable[NodeProto]) -> None:
        values = scope.values
        nodes = scope.nodes
        for order, proto in enumerate(protos):
            node = Node(proto, scope, order)
            if node.domain == "ai.onnx":
                node.domain = ""
            inputs, outputs = node.inputs, node.outputs
            for name in proto.input:
                if not name:
                    inputs.append(None)
                    continue
                value = values.get(name)
                if value is None:
                    value = self.outer(scope, name, node)
                value.uses[node] = None
                inputs.append(value)
            self.classify(node)
            self.results(node, proto.output)
            if node.op_type == "Constant" and node.operator is not None and outputs and outputs[0]:
                constant_node_content(outputs[0], proto)
            nodes.append(node)

    def results(self, node: Node, names: Iterable[str]) -> None:
        scope, outputs = node.scope, node.outputs
        for name in names:
            if not name:
                outputs.append(None)
                continue
            if name in scope.values:
                raise BadInput(f"{_where(scope)} defines {name!r} twice")
            if name in self.names:
                self.repeated.add(name)
            self.names.add(name)
            scope.values[name] = value = Value(name, scope, node)
            outputs.append(value)

    def outer(self, scope: Scope, name: str, node: Node) -> Value:
        value = scope.find(name)
        if value is None:
            raise BadInput(
                f"node {node.proto.name or node.op_type!r} of {_where(scope)} reads {name!r}, "
                "which no earlier node, input or initializer defines"
            )
        return value

    def classify(self, node: Node) -> None:
        """Find the schema; graph attributes become scopes whatever the operator is."""
        proto = node.proto
        domain, op_type = node.domain, node.op_type
        if proto.name.__class__ is not str or op_type.__class__ is not str:
            _refuse_other_text((op_type, proto.name))
        if (domain, op_type) in self.call_names:
            node.is_call = (domain, op_type, proto.overload) in self.calls
        operator = None
        if not node.is_call:
            operator = find_operator(op_type, domain, node.scope.opsets.get(domain, 0))
        if operator is not None and not operator.has_bodies and not self.in_function:
            node.operator = operator
            return
        subgraphs: list[Scope] = []
        is_reference = False
        for attribute in proto.attribute:
            if attribute.ref_attr_name:
                is_reference = True
            elif attribute.type in (GRAPH, GRAPHS):
                graphs = [attribute.g] if attribute.type == GRAPH else attribute.graphs
                for position, graph in enumerate(graphs):
                    label = node.proto.name or node.op_type
                    path = f"{node.scope.path}/{label}.{attribute.name}"
                    path += f"[{position}]" if position else ""
                    inner = self.graph(graph, node.scope, node.scope.opsets, path)
                    inner.owner = node
                    subgraphs.append(inner)
        node.subgraphs = tuple(subgraphs)
        if not is_reference:
            node.operator = operator


def _where(scope: Scope) -> str:
    if scope.is_function:
        return f"function {scope.path!r}"
    return f"subgraph {scope.path!r}" if scope.parent is not None else "the graph"
