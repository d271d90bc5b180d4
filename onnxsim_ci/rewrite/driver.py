"""The driver: one worklist over all scopes, and the only place that changes a graph.

A visit drops a dead node, learns facts, folds, offers the node to the rules of its operator and numbers its
value. After an edit only its neighbourhood is looked at again. Two passes: EXACT rules to their fixed point,
then all rules.

House: rewrite. May import analysis and model.
Touch: the steps (`fold_step.py`, `rule_step.py`, `merge_step.py`), `workbench.py` (what they share).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnx import ModelProto

from onnxsim_ci.analysis import infer, is_complete, learn_constants
from onnxsim_ci.model import Graph, Node, Scope, Weights, add_value_infos, strip_value_infos, write_back
from onnxsim_ci.rewrite.content_step import ContentStep
from onnxsim_ci.rewrite.contract import Rule
from onnxsim_ci.rewrite.fold_step import FoldStep
from onnxsim_ci.rewrite.merge_step import MergeStep
from onnxsim_ci.rewrite.outcome import Outcome, StopReason
from onnxsim_ci.rewrite.plan import Plan, ValueInfos
from onnxsim_ci.rewrite.ranking import rank_nodes
from onnxsim_ci.rewrite.rule_step import RuleStep
from onnxsim_ci.rewrite.selection import selected_rules
from onnxsim_ci.rewrite.sweep import Sweep
from onnxsim_ci.rewrite.value_infos import contradicted_output, described, keep_info
from onnxsim_ci.rewrite.workbench import Workbench

ROUNDS = 4
"""Inference rounds at most; on 217 real models two always sufficed."""


class Run:
    """One run over one graph; see the module's docstring."""

    def __init__(
        self,
        graph: Graph,
        model: ModelProto,
        weights: Weights,
        plan: Plan,
        catalogue: Sequence[Rule] | None = None,
    ) -> None:
        self.catalogue = catalogue
        self.graph = graph
        self.model = model
        self.plan = plan
        self.bench = Workbench(graph, weights, plan)
        self.worklist = self.bench.worklist
        self.rules = RuleStep(self.bench)
        self.sweep = Sweep(self.rules, self.bench.journal)
        self.folds = FoldStep(self.bench)
        self.merges = MergeStep(self.bench, weights)
        self.contents = ContentStep(self.bench)
        self.visits = 0
        self.most_visits = plan.visits * max(1, sum(len(s.nodes) for s in graph.scopes()))
        for name in plan.keep:
            value = graph.root.values.get(name)
            if value is not None:
                value.pins += 1

    def run(self) -> Outcome:
        """Both passes to their fixed points, with inference again while shapes are missing."""
        simplifies = self.plan.level is not None and not len(self.model.training_info)
        if simplifies:
            self.merge_constants()
        problem = infer(self.graph, self.model).problem or contradicted_output(self.graph)
        if simplifies:
            self.both_passes()
        self.write_back(is_last=True)
        return Outcome(
            journal=self.bench.journal,
            changed=self.bench.changed,
            visits=self.visits,
            stop=self.bench.stop,
            problem=problem,
        )

    def merge_constants(self) -> None:
        """Merge equal constants, before shape inference has to look at each of them."""
        learn_constants(self.graph)
        rank_nodes(self.graph)
        for scope in self.scopes():
            for tensor in scope.initializers:
                self.merges.merge_constant(scope.values[tensor.name])
            for node in scope.nodes:
                if node.op_type == "Constant":
                    self.visit(node)
        if len(self.bench.journal):
            self.write_back(is_last=False)

    def both_passes(self) -> None:
        """EXACT rules on every node, then all rules from where the others fire."""
        journal = self.bench.journal
        exact = selected_rules(self.plan, exact_only=True, rules=self.catalogue)
        every = selected_rules(self.plan, exact_only=False, rules=self.catalogue)
        self.rules.use(exact)
        self.sweep.mark(exact)
        for scope in self.scopes():
            self.worklist.push_all([n for n in scope.nodes if n.op_type != "Constant"])
        self.to_fixpoint(len(journal))
        journal.exact_count = len(journal)
        if len(every) > len(exact):
            self.rules.use(every)
            self.settle_from(tuple(r for r in every if r not in exact))
            self.to_fixpoint(journal.exact_count)

    def to_fixpoint(self, seen: int) -> None:
        """Settle and learn from what changed since the journal had `seen` records, until nothing does.

        Rules that look far are offered all nodes again, since a change queues its near neighbours only.
        """
        journal = self.bench.journal
        far = tuple(r for r in self.rules.rules if r.looks_far)
        for _ in range(ROUNDS):
            self.settle()
            self.merge_contents()
            self.settle_from(far)
            if len(journal) == seen or self.bench.stop is not StopReason.FIXPOINT:
                return
            seen = len(journal)
            for value in self.bench.editor.take_fresh():
                self.merges.merge_constant(value)
            self.folds.reconsider()
            if not is_complete(self.graph) and self.learn():
                self.sweep.forget()

    def merge_contents(self) -> None:
        """Merge small integer tensors with equal elements; only a written graph has its nodes in order."""
        if self.bench.stop is StopReason.FIXPOINT and self.contents.has_equal(self.scopes()):
            self.write_back(is_last=False)
            self.contents.merge_equal(self.scopes())
            self.settle()

    def learn(self) -> bool:
        """Infer shapes of the changed graph, and queue the neighbourhood of what is known better."""
        self.write_back(is_last=False)
        learned = infer(self.graph, self.model).learned
        for value in learned:
            if value.producer is not None:
                self.worklist.push(value.producer)
            self.worklist.push_all(value.uses)
        return bool(learned)

    def write_back(self, *, is_last: bool) -> None:
        """Bring the messages up to date; value_info waits for the last time."""
        changed = write_back(self.graph, self.model, keep_info if is_last else None)
        if is_last and self.plan.value_info is ValueInfos.ADD:
            changed = add_value_infos(self.graph, described) or changed
        elif is_last and self.plan.value_info is ValueInfos.STRIP:
            changed = strip_value_infos(self.graph) or changed
        self.bench.changed = self.bench.changed or changed

    def settle(self) -> None:
        """Visit whatever is queued or touched by a change, until nothing is left."""
        while self.worklist or self.folds.folder.pending:
            if self.bench.stop is StopReason.VISITS:
                self.worklist.clear()
                return
            if not self.worklist:
                self.folds.wave()
                continue
            node = self.worklist.pop()
            if node.is_alive:
                self.visit(node)

    def scopes(self) -> Iterator[Scope]:
        """The scopes that the plan allows to change."""
        return (s for s in self.graph.scopes() if self.is_open(s))

    def is_open(self, scope: Scope) -> bool:
        """True when the plan allows to change this scope."""
        return self.plan.subgraphs or (scope.parent is None and not scope.is_function)

    def settle_from(self, rules: tuple[Rule, ...]) -> None:
        """Offer all nodes to the rules of these that are due, and settle what each edit touches."""
        for _ in self.sweep.edits(rules, self.scopes()):
            self.settle()

    def visit(self, node: Node) -> None:
        """One look at one node."""
        self.visits += 1
        if self.visits > self.most_visits:
            self.bench.stop = StopReason.VISITS
        if not node.is_read:
            self.bench.drop_unused(node)
        elif not self.is_open(node.scope):
            return
        elif node.op_type == "Constant" and not node.domain:
            if node.outputs[0] is not None:
                self.merges.merge_constant(node.outputs[0])
        elif node.operator is not None:
            self.simplify(node)
        elif node.domain and self.bench.facts.transfer(node):
            self.bench.push_readers(node)

    def simplify(self, node: Node) -> None:
        """Learn, fold, rewrite or number a node that is read and understood."""
        if self.bench.facts.transfer(node):
            self.bench.push_readers(node)
        if not self.folds.fold(node) and not self.rules.try_rules(node):
            self.merges.merge_node(node)
