"""The queue of nodes to look at: each once, those near the inputs first.

House: rewrite. May import model.
Touch: `ranking.py` gives the order.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from onnxsim_ci.model import Node


class Worklist:
    """A priority queue by the rank of nodes, so that facts flow through the graph only once."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Node]] = []
        self._pushed = 0

    def __bool__(self) -> bool:
        return bool(self._heap)

    def push(self, node: Node) -> None:
        """Queue a live node, unless it waits already."""
        if node.is_alive and not node.is_queued:
            node.is_queued = True
            self._pushed += 1
            heappush(self._heap, (node.rank, self._pushed, node))

    def push_all(self, nodes: Iterable[Node]) -> None:
        """Queue live nodes, each once."""
        for node in nodes:
            if node.is_alive and not node.is_queued:
                self.push(node)

    def pop(self) -> Node:
        """The next node; it may have died meanwhile."""
        node = heappop(self._heap)[2]
        node.is_queued = False
        return node

    def clear(self) -> None:
        """Forget everything."""
        while self._heap:
            self.pop()
