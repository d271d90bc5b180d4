"""An order of the nodes of all scopes in which producers come first.

House: rewrite. May import model.
Touch: `driver.py` visits nodes in this order.
"""

from __future__ import annotations

from itertools import chain

from onnxsim_ci.model import Graph, Node


def rank_nodes(graph: Graph) -> None:
    """Number the nodes of all scopes, those of a body before the node that holds it."""
    count = 0
    stack = [iter(s.nodes) for s in (graph.root, *graph.functions)]
    holders: list[Node | None] = [None] * len(stack)
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            holder = holders.pop()
            if holder is not None:
                holder.rank = count = count + 1
        elif node.subgraphs:
            stack.append(chain.from_iterable(s.nodes for s in node.subgraphs))
            holders.append(node)
        else:
            node.rank = count = count + 1
