"""What the steps of a run share: the graph, its facts, the editor, the journal, the worklist.

House: rewrite. May import analysis and model.
Touch: the steps `rule_step.py`, `fold_step.py`, `merge_step.py` and the driver.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Graph, Node, Value, Weights, stored_bytes
from onnxsim_ci.rewrite.contract import ResultClass
from onnxsim_ci.rewrite.edits import Editor
from onnxsim_ci.rewrite.journal import Journal, Record
from onnxsim_ci.rewrite.opaque import holds_opaque, opaque_functions
from onnxsim_ci.rewrite.outcome import StopReason
from onnxsim_ci.rewrite.plan import Plan
from onnxsim_ci.rewrite.worklist import Worklist

FOLD, MERGE_NODES, MERGE_CONSTANTS = "fold-constants", "merge-nodes", "merge-constants"
"""Ids of the driver's own work, for journals and for `skip`."""

NO_HAZARDS: frozenset[str] = frozenset()


class Workbench:
    """The state of one run, and the two things that every edit does: ask for leave, and leave a record."""

    def __init__(self, graph: Graph, weights: Weights, plan: Plan) -> None:
        self.graph = graph
        self.plan = plan
        self.facts = Facts(graph, weights)
        self.journal = Journal()
        self.editor = Editor(graph, self.facts, self.keeps)
        self.worklist = Worklist()
        self.stop = StopReason.FIXPOINT
        self.changed = False
        self.label = ""
        self._opaque_calls = opaque_functions(graph)

    def keeps(self, node: Node) -> bool:
        """True when a node must stay although nothing reads it: it may have effects we do not know."""
        if node.is_call:
            return node.key in self._opaque_calls
        if node.operator is None:
            return True
        return any(holds_opaque(s, self._opaque_calls) for s in node.subgraphs)

    def allow(self) -> bool:
        """False when the journal has reached the plan's limit."""
        if self.plan.limit is not None and len(self.journal) >= self.plan.limit:
            self.stop = StopReason.LIMIT
            return False
        return True

    def begin(self, root: Node) -> None:
        """Start an edit at `root`; its label is taken now, while its outputs are its own."""
        self.label = root.label

    def drop_unused(self, node: Node) -> None:
        """Remove a node that nothing reads."""
        if not self.keeps(node):
            self.begin(node)
            self.editor.drop(node)
            self.finish()

    def finish(self) -> None:
        """Queue what an edit touched, and note which names went."""
        self.changed = True
        self.worklist.push_all(self.editor.touched)
        for gone, stands in self.editor.gone:
            if stands or gone not in self.journal.survivors:
                self.journal.survivors[gone] = stands
        self.editor.start()

    def note(  # noqa: PLR0913 - the parts of a record
        self,
        rule: str,
        root: Node,
        value: str,
        why: str,
        *,
        result: ResultClass = ResultClass.EXACT,
        machine: bool = False,
        hazards: frozenset[str] = NO_HAZARDS,
    ) -> None:
        """Append a record of an edit, and finish the edit."""
        record = Record(
            rule=rule,
            result=result,
            scope=root.scope.path,
            node=self.label,
            value=value,
            why=why,
            added=tuple(self.editor.added),
            machine=machine,
            hazards=hazards,
            nodes=self.editor.node_delta,
            bytes=self.editor.made_bytes - sum(map(_stored, set(self.editor.freed))),
        )
        self.journal.records.append(record)
        self.finish()

    def push_readers(self, node: Node) -> None:
        """Queue whatever reads an output of `node`."""
        for value in node.outputs:
            if value is not None:
                self.worklist.push_all(value.uses)


def _stored(constant: Value) -> int:
    """Bytes of a constant's elements."""
    if constant.tensor is not None:
        return stored_bytes(constant.tensor.data_type, constant.tensor.dims)
    return 0 if constant.data is None else int(constant.data.nbytes)
