"""Which nodes are opaque: of unknown domains or versions, or calls of local functions that hold such nodes.

House: rewrite. May import model.
Touch: `driver.py` never drops or merges what is opaque.
"""

from __future__ import annotations

from onnxsim_ci.model import Graph, Node, Scope


def opaque_functions(graph: Graph) -> set[tuple[str, str, str]]:
    """Local functions that hold an operator we do not know, directly or through others."""
    bodies = {s.key: s for s in graph.functions}
    opaque: set[tuple[str, str, str]] = set()
    while True:
        more = {k for k, s in bodies.items() if k not in opaque and holds_opaque(s, opaque)}
        if not more:
            return opaque
        opaque |= more


def holds_opaque(scope: Scope, opaque_calls: set[tuple[str, str, str]]) -> bool:
    """True when `scope` or a scope inside has a node of which nothing is known."""
    for node in scope.nodes:
        if node.is_call:
            if node.key in opaque_calls:
                return True
        elif node.operator is None and not _only_refers(node):
            return True
        if any(holds_opaque(s, opaque_calls) for s in node.subgraphs):
            return True
    return False


def _only_refers(node: Node) -> bool:
    """A standard operator that is opaque only because an attribute refers to the function's."""
    return node.domain in ("", "ai.onnx.ml") and any(a.ref_attr_name for a in node.proto.attribute)
