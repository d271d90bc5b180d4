"""What each rule costs and wins: offers, edits, seconds, nodes and bytes.

House: rewrite. May import the contract and the journal.
Touch: `onnxsim-ci rules --stats` prints these.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from onnxsim_ci.rewrite.contract import Declined, Edit, Propose, Rule
from onnxsim_ci.rewrite.journal import Journal

if TYPE_CHECKING:
    from onnxsim_ci.analysis import Facts
    from onnxsim_ci.model import Node


@dataclass(slots=True)
class Tally:
    """One rule over some models.

    Attributes:
        tried: Nodes that it was offered.
        fired: Edits that were made.
        seconds: Time that its answers took.
        nodes, bytes: What there is more after its edits, mostly fewer.
    """

    tried: int = 0
    fired: int = 0
    seconds: float = 0.0
    nodes: int = 0
    bytes: int = 0


class Tallies:
    """The tally of each rule and of the driver's own work, by id."""

    def __init__(self) -> None:
        self.by_rule: defaultdict[str, Tally] = defaultdict(Tally)

    def watched(self, rules: Sequence[Rule]) -> tuple[Rule, ...]:
        """The same rules, each counting its offers and its time."""
        return tuple(replace(rule, propose=self._timed(rule)) for rule in rules)

    def _timed(self, rule: Rule) -> Propose:
        tally = self.by_rule[rule.id]

        def propose(node: Node, facts: Facts) -> Edit | Declined:
            start = perf_counter()
            answer = rule.propose(node, facts)
            tally.seconds += perf_counter() - start
            tally.tried += 1
            return answer

        return propose

    def add(self, journal: Journal) -> None:
        """Count the edits of one run."""
        for record in journal.records:
            tally = self.by_rule[record.rule]
            tally.fired += 1
            tally.nodes += record.nodes
            tally.bytes += record.bytes
