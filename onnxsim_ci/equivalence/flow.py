"""Which values a value depends on, flat over all scopes.

A node with bodies depends on everything its bodies read and produce. Names that occur in two scopes are
one here: the answer may be too large, never too small.

House: equivalence; onnx.
Touch: power.py, islands.py and repro.py follow these edges.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping

import onnx

from onnxsim_ci.equivalence.randomness import is_random
from onnxsim_ci.equivalence.weights import graphs_of


class Flow:
    """The edges of one model, both ways."""

    def __init__(self, model: onnx.ModelProto) -> None:
        """Read all scopes once."""
        self.sources: dict[str, set[str]] = defaultdict(set)
        self.readers: dict[str, set[str]] = defaultdict(set)
        self.fed = {value.name for value in model.graph.input}
        self.drawn: set[str] = set()
        """Values that random operators produce."""
        self.outputs = [value.name for value in model.graph.output]
        for graph in graphs_of(model.graph):
            for node in graph.node:
                self._add(node)

    def _add(self, node: onnx.NodeProto) -> None:
        reads = {name for name in node.input if name}
        for attribute in node.attribute:
            bodies = [attribute.g] if attribute.type == onnx.AttributeProto.GRAPH else attribute.graphs
            for body in bodies:
                reads.update(value.name for value in body.output)
                for graph in graphs_of(body):
                    reads.update(
                        name for inner in graph.node for name in (*inner.input, *inner.output) if name
                    )
        results = [name for name in node.output if name]
        if is_random(node):
            self.drawn.update(results)
        for name in results:
            self.sources[name] |= reads
        for name in reads:
            self.readers[name].update(results)

    def ancestors(self, names: Iterable[str]) -> set[str]:
        """The names and everything they depend on."""
        return _reach(names, self.sources)

    def descendants(self, names: Iterable[str]) -> set[str]:
        """The names and everything that depends on them."""
        return _reach(names, self.readers)

    def escapes(self, name: str, gates: Collection[str]) -> bool:
        """True when a way leads from a value to an output that passes none of the gates."""
        seen, todo = {name}, deque([name])
        while todo:
            value = todo.popleft()
            if value in gates:
                continue
            if value in self.outputs:
                return True
            fresh = self.readers.get(value, set()) - seen
            seen |= fresh
            todo.extend(fresh)
        return False

    def is_constant(self, name: str) -> bool:
        """True when a value depends on no input and no random number."""
        return not self.ancestors([name]) & (self.fed | self.drawn)


def _reach(names: Iterable[str], edges: Mapping[str, set[str]]) -> set[str]:
    seen = set(names)
    todo = deque(seen)
    while todo:
        for name in edges.get(todo.popleft(), ()):
            if name not in seen:
                seen.add(name)
                todo.append(name)
    return seen
