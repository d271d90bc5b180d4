"""The pending nodes that a constant node depends on.

House: rewrite. May import model.
Touch: `folding.py`.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from onnxsim_ci.model import Node, Value

CONE_MAX_NODES = 20_000
"""Larger cones count as this large: what they free is then underestimated, never overestimated."""


def cone_of(node: Node, pending: set[Node], seen: AbstractSet[Node] = frozenset()) -> set[Node]:
    """`node` and the pending nodes that it depends on, those in `seen` left out, at most `CONE_MAX_NODES`."""
    cone = {node}
    stack = [node]
    while stack and len(cone) < CONE_MAX_NODES:
        for value in stack.pop().inputs:
            producer = value.producer if value is not None else None
            if producer in pending and producer not in cone and producer not in seen:
                cone.add(producer)
                stack.append(producer)
    return cone


def ordered_cone(part: list[Node], pending: set[Node]) -> list[Node]:
    """Pending ancestors of `part` and `part` itself, producers first."""
    done: dict[Node, None] = {}
    for first in part:
        stack = [first]
        while stack:
            node = stack[-1]
            feeders = dict.fromkeys(v.producer for v in node.inputs if v is not None)
            waiting = [p for p in feeders if p is not None and p in pending and p not in done]
            if waiting and node not in done:
                stack += waiting
                continue
            stack.pop()
            done[node] = None
    return list(done)


def is_read_outside(value: Value, pending: set[Node], kept: set[Node]) -> bool:
    """True when something else than a pending node that will be folded reads `value`."""
    return value.pins > 0 or any(u not in pending or u in kept for u in value.uses)
