"""Offer all nodes to one rule after the other, in the order of the catalogue.

A rule is not offered the nodes again while no edit was made since.

House: rewrite. May import model and the contract.
Touch: `driver.py` settles what each edit touches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import attrgetter

from onnxsim_ci.model import Node, Scope
from onnxsim_ci.rewrite.contract import Rule
from onnxsim_ci.rewrite.journal import Journal
from onnxsim_ci.rewrite.rule_step import RuleStep

RANK_OF = attrgetter("rank")
Key = tuple[str, str, int]
"""Operator, domain, and version of the domain's opset."""


class Sweep:
    """Which rules have seen the graph as it is.

    Attributes:
        seen: Length of the journal when the nodes were listed that a rule was last offered, by its id.
    """

    def __init__(self, rules: RuleStep, journal: Journal) -> None:
        self.rules = rules
        self.journal = journal
        self.seen: dict[str, int] = {}

    def forget(self) -> None:
        """Facts have changed: every rule may find something new."""
        self.seen = {}

    def mark(self, rules: Iterable[Rule]) -> None:
        """These rules are being offered every node of the graph as it is."""
        self.seen.update((rule.id, len(self.journal)) for rule in rules)

    def edits(self, rules: Iterable[Rule], scopes: Iterable[Scope]) -> Iterator[None]:
        """Offer the nodes to each rule that is due; yields after each edit."""
        due = [rule for rule in rules if self.seen.get(rule.id) != len(self.journal)]
        nodes = _by_key(scopes) if due else {}
        before = len(self.journal)
        for rule in due:
            for node in _roots(rule, nodes):
                if node.is_alive and rule.id not in self.rules.broken and self.rules.offer(rule, node):
                    yield
            self.seen[rule.id] = before


def _by_key(scopes: Iterable[Scope]) -> dict[Key, list[Node]]:
    found: dict[Key, list[Node]] = {}
    for scope in scopes:
        for node in scope.nodes:
            if node.is_alive and node.operator is not None:
                key = (node.op_type, node.domain, scope.opsets.get(node.domain, 0))
                found.setdefault(key, []).append(node)
    return found


def _roots(rule: Rule, nodes: dict[Key, list[Node]]) -> list[Node]:
    """The nodes that a rule may start from, producers first."""
    lists = [
        found
        for (op_type, domain, version), found in nodes.items()
        if op_type in rule.roots and domain == rule.domain and rule.since_opset <= version <= rule.until_opset
    ]
    return sorted((node for found in lists for node in found), key=RANK_OF)
