"""Move the nodes of a subgraph into the scope around it.

House: rewrite. May import model.
Touch: `edits.py` connects the results.
"""

from __future__ import annotations

from onnx import TensorProto

from onnxsim_ci.model import Graph, Node, Scope, Value


def move_body(graph: Graph, body: Scope, root: Node) -> tuple[list[Node], list[Value]]:
    """Let the nodes and values of `body`, a subgraph of `root`, belong to the scope of `root`.

    Names that occur elsewhere in the model are changed. Returns: the moved nodes and constants.
    """
    outer = root.scope
    constants: list[Value] = []
    for value in list(body.values.values()):
        if value.name in graph.repeated or outer.find(value.name) is not None:
            _rename(graph, value)
        value.scope = outer
        outer.values[value.name] = value
        if value.is_constant:
            constants.append(value)
    nodes = [n for n in body.nodes if n.is_alive]
    for node in nodes:
        node.scope = outer
        node.order = root.order
        node.is_changed = True
        outer.nodes.append(node)
        for inner in node.subgraphs:
            inner.parent = outer
            _mark(inner)
    body.nodes = []
    body.values = {}
    return nodes, constants


def _rename(graph: Graph, value: Value) -> None:
    value.name = graph.fresh_name(value.name)
    if value.tensor is not None and value.producer is None:
        tensor = TensorProto()
        tensor.CopyFrom(value.tensor)
        tensor.name = value.name
        value.tensor = tensor
    for reader in value.uses:
        reader.is_changed = True


def _mark(scope: Scope) -> None:
    """Every node below reads by name again: captured values may have been renamed."""
    for node in scope.nodes:
        node.is_changed = True
        for inner in node.subgraphs:
            _mark(inner)


def count_nodes(scope: Scope) -> int:
    """Live nodes of a scope and of those inside, without Constant nodes."""
    return sum(
        (n.op_type != "Constant") + sum(count_nodes(s) for s in n.subgraphs)
        for n in scope.nodes
        if n.is_alive
    )
