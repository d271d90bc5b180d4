"""The record of a run: every edit in order, so that it can be shown, counted, cut and replayed.

House: rewrite. May import nothing but the contract.
Touch: `report/` shows these fields; `equivalence` bisects on the length.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from onnxsim_ci.rewrite.contract import ResultClass


class Record(NamedTuple):
    """One edit.

    Attributes:
        rule: Id of the rule, or of the driver's own work (`fold-constants`, `merge-nodes`,
        `merge-constants`). result: What the edit promises. scope: Path of the scope; empty for the main
        graph. node: Label of the root node. value: Name of the first value that changed. added: Values that
        the edit made or computes anew. why: The rule's sentence. machine: Folded through the runtime, so the
        bits may depend on the machine's instruction set. hazards: Special inputs that could tell a mistake.
        nodes, bytes: How many nodes and bytes of constants there are more than before, mostly fewer.
    """

    rule: str
    result: ResultClass
    scope: str
    node: str
    value: str
    why: str
    added: tuple[str, ...] = ()
    machine: bool = False
    hazards: frozenset[str] = frozenset()
    nodes: int = 0
    bytes: int = 0


@dataclass(eq=False, slots=True)
class Journal:
    """All records of a run, and what went away.

    Attributes:
        exact_count: Records of the EXACT pass; the model after them is the intermediate model.
        survivors: Name of each value that went -> name of the value that stands for it ("" for none).
    """

    records: list[Record] = field(default_factory=list)
    exact_count: int = 0
    survivors: dict[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.records)

    @property
    def all_exact(self) -> bool:
        """True when no record promises less than equal bits."""
        return all(r.result is ResultClass.EXACT for r in self.records)

    def survivor_of(self, name: str) -> str | None:
        """The value that stands for a removed one in the end; None when there is none."""
        seen: set[str] = set()
        while name in self.survivors and name not in seen:
            seen.add(name)
            name = self.survivors[name]
        return name or None

    def counts(self) -> dict[str, int]:
        """Edits by rule, most frequent first."""
        return dict(Counter(r.rule for r in self.records).most_common())
