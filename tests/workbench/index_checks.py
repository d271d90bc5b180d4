"""The index of a model counted anew: readers, producers, pins and scopes have to agree with each other."""

from __future__ import annotations

from collections import Counter

from onnx import ModelProto

from onnxsim_ci.model import Graph, Node, Scope, Value, build_graph


def assert_consistent(graph: Graph) -> None:
    """Every link of the index is there from both sides, and pins are what the interface needs.

    Values that nothing reads any more may stay in their scope; a dead node may stay in its list.
    """
    uses: dict[Value, set[Node]] = {}
    outputs: Counter[Value] = Counter()
    scopes = list(graph.scopes())
    for scope in scopes:
        outputs.update(scope.outputs)
        for node in scope.nodes:
            if node.is_alive:
                _check_node(node, scope)
                for value in node.inputs:
                    if value is not None:
                        uses.setdefault(value, set()).add(node)
    for scope in scopes:
        for name, value in scope.values.items():
            assert value.name == name, f"{value} stands under {name!r}"
            assert value.scope is scope, f"{value} belongs to another scope"
            found = uses.pop(value, set())
            assert set(value.uses) == found, f"{value}: readers {set(value.uses)} but {found} read it"
            assert value.pins >= outputs[value], f"{value}: {value.pins} pins, but {outputs[value]} outputs"
            producer = value.producer
            if producer is not None:
                assert producer.is_alive, f"{value} has a dead producer"
                assert any(v is value for v in producer.outputs), f"{value}: {producer} does not produce it"
    assert not uses, f"read, but in no scope: {list(uses)}"


def _check_node(node: Node, scope: Scope) -> None:
    assert node.scope is scope, f"{node} stands in another scope"
    for value in node.inputs:
        assert value is None or scope.sees(value.scope), f"{node} reads {value}, which it cannot see"
    for value in node.outputs:
        if value is not None:
            assert value.producer is node, f"{value} is produced by {value.producer}, not {node}"
            assert value.scope is scope, f"{node} produces {value} of another scope"
    for inner in node.subgraphs:
        assert inner.parent is scope, f"the body {inner.path} has another parent"
        assert inner.owner is node, f"the body {inner.path} has another owner"


def assert_same_as_built_anew(graph: Graph, model: ModelProto) -> None:
    """After a write-back the index says what a new index of the same model says."""
    assert describe(graph) == describe(build_graph(model))


def describe(graph: Graph) -> list[object]:
    """Scopes, nodes, links and pins as plain values."""
    found: list[object] = [graph.ir_version]
    for scope in graph.scopes():
        live = [n for n in scope.nodes if n.is_alive]
        place = {n: number for number, n in enumerate(live)}
        found.append(
            (
                scope.path.count("/"),
                [v.name for v in scope.inputs],
                [v.name for v in scope.outputs],
                [
                    (
                        n.domain,
                        n.op_type,
                        [v.name if v else "" for v in n.inputs],
                        [v.name if v else "" for v in n.outputs],
                        n.is_call,
                        n.operator is not None,
                    )
                    for n in live
                ],
                sorted(
                    (v.name, place.get(v.producer) if v.producer else None, len(v.uses), v.overridable)
                    for v in scope.values.values()
                    if v.is_read or v.producer is not None or v.is_input
                ),
            )
        )
    return found
