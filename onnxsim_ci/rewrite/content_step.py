"""The step that merges sizes and other small integer tensors whose elements are proven equal.

Every layer of a dynamic export reads the same sizes from another tensor: masks and targets made from them are
equal then, and value numbering merges what follows.

House: rewrite. May import analysis and model.
Touch: `driver.py` runs it when nothing else is left to do; `numbering.py` merges what computes the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from onnxsim_ci.analysis import Content
from onnxsim_ci.model import Node, Scope, Value
from onnxsim_ci.rewrite.workbench import MERGE_NODES, Workbench

Key = tuple[int, Content]


class ContentStep:
    """Merges nodes of one scope that make the same elements; both must stand in their order."""

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench
        self.is_on = MERGE_NODES not in bench.plan.skip

    def has_equal(self, scopes: Iterable[Scope]) -> bool:
        """True when `merge_equal` might find something."""
        if not self.is_on:
            return False
        for scope in scopes:
            seen: set[Key] = set()
            for _, value, key in _known(scope):
                if key in seen and not value.pins:
                    return True
                seen.add(key)
        return False

    def merge_equal(self, scopes: Iterable[Scope]) -> None:
        """Let readers of a value read an earlier one with the same elements."""
        for scope in scopes:
            first: dict[Key, Value] = {}
            for node, value, key in list(_known(scope)):
                known = first.setdefault(key, value)
                if known is value or value.pins or not node.is_alive or known.producer is None:
                    continue
                if not known.producer.is_alive or known.producer.order >= node.order:
                    continue
                if not self.bench.allow():
                    return
                self.bench.begin(node)
                self.bench.editor.redirect(value, known)
                self.bench.note(MERGE_NODES, node, value.name, f"its elements are those of {known.name!r}")


def _known(scope: Scope) -> Iterator[tuple[Node, Value, Key]]:
    """Read values of nodes with one output whose elements are all known, and not all numbers."""
    for node in scope.nodes:
        value = node.outputs[0] if len(node.outputs) == 1 and node.is_alive else None
        if value is None or value.content is None or not value.is_read:
            continue
        elements = value.content.elements
        if None not in elements and any(e.__class__ is not int for e in elements):
            yield node, value, (value.dtype, value.content)
