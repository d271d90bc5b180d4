"""Move the nodes of a subgraph into the scope around it; take outputs away from a node and its subgraphs.

House: rewrite. May import model.
Touch: `edits.py` connects the results.
"""

from __future__ import annotations

from onnx import GraphProto, TensorProto

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


def unlist_outputs(root: Node, places: tuple[int, ...]) -> tuple[list[Value], list[str]]:
    """Outputs of `root` at these places go, and so do those of its subgraphs.

    Returns: the values inside that lost a reader, and the names that went outside.
    """
    freed: list[Value] = []
    names: list[str] = []
    for place in sorted(places, reverse=True):
        old = root.outputs.pop(place)
        if old is not None:
            old.producer = None
            names.append(old.name)
        for body in root.subgraphs:
            value = body.outputs.pop(place)
            value.pins -= 1
            freed.append(value)
            if isinstance(body.proto, GraphProto):
                del body.proto.output[place]
    root.is_changed = True
    return freed, names


def count_nodes(scope: Scope) -> int:
    """Live nodes of a scope and of those inside, without Constant nodes."""
    return sum(
        (n.op_type != "Constant") + sum(count_nodes(s) for s in n.subgraphs)
        for n in scope.nodes
        if n.is_alive
    )
