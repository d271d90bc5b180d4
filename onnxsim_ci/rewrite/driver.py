"""The driver: one worklist over all scopes, and the only place that changes a graph.

A visit drops a dead node, learns facts, folds, offers the node to the rules of its operator and numbers its
value. After an edit only its neighbourhood is looked at again. Two passes: EXACT rules to their fixed point,
then all rules.

House: rewrite. May import analysis and model.
Touch: `contract.py` (what rules may ask for), `edits.py` (how edits are applied), `folding.py`,
`numbering.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

from onnx import ModelProto

from onnxsim_ci.analysis import Facts, infer, is_complete
from onnxsim_ci.model import Graph, Node, Scope, Value, Weights, write_back
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule
from onnxsim_ci.rewrite.edits import Editor
from onnxsim_ci.rewrite.evaluation import known_array
from onnxsim_ci.rewrite.folding import MOVES, Folder
from onnxsim_ci.rewrite.journal import Journal, Record
from onnxsim_ci.rewrite.measure import lowers_rank
from onnxsim_ci.rewrite.numbering import Numbering
from onnxsim_ci.rewrite.opaque import holds_opaque, opaque_functions
from onnxsim_ci.rewrite.outcome import Outcome, StopReason
from onnxsim_ci.rewrite.plan import Plan
from onnxsim_ci.rewrite.ranking import rank_nodes
from onnxsim_ci.rewrite.selection import selected_rules
from onnxsim_ci.rewrite.value_infos import keep_info

ROUNDS = 4
"""Inference rounds at most; measured on the corpus: 2 suffice for 9 of 10 models."""

FOLD, MERGE_NODES, MERGE_CONSTANTS, UNUSED = (
    "fold-constants",
    "merge-nodes",
    "merge-constants",
    "eliminate-unused",
)


class Run:
    """One run over one graph; see the module's docstring."""

    def __init__(self, graph: Graph, model: ModelProto, weights: Weights, plan: Plan) -> None:
        self.graph = graph
        self.model = model
        self.plan = plan
        self.facts = Facts(graph, weights)
        self.journal = Journal()
        self.editor = Editor(graph, self.facts, self.keeps)
        self.folder = Folder(graph, self.facts, plan)
        self.numbering = Numbering(weights)
        self.queue: list[tuple[int, int, Node]] = []
        self.pushed = 0
        self.visits = 0
        self.stop = StopReason.FIXPOINT
        self.changed = False
        self.most_visits = plan.visits * max(1, sum(len(s.nodes) for s in graph.scopes()))
        self.broken: set[str] = set()
        self.tables: dict[tuple[str, str, int], tuple[Rule, ...]] = {}
        self.rules: tuple[Rule, ...] = ()
        self.opaque_calls = opaque_functions(graph)
        for name in plan.keep:
            value = graph.root.values.get(name)
            if value is not None:
                value.pins += 1

    def run(self) -> Outcome:
        """Both passes to their fixed points, with inference again while shapes are missing."""
        problem = infer(self.graph, self.model).problem
        if self.plan.level is not None and not len(self.model.training_info):
            exact = selected_rules(self.plan, exact_only=True)
            self.use(exact)
            self.seed_all()
            self.to_fixpoint()
            self.journal.exact_count = len(self.journal)
            every = selected_rules(self.plan, exact_only=False)
            if len(every) > len(exact):
                self.use(every)
                self.seed_roots(set(every) - set(exact))
                self.to_fixpoint()
        self.changed = write_back(self.graph, self.model, keep_info) or self.changed
        return Outcome(
            journal=self.journal, changed=self.changed, visits=self.visits, stop=self.stop, problem=problem
        )

    def use(self, rules: tuple[Rule, ...]) -> None:
        """Offer nodes to these rules from now on."""
        self.rules, self.tables = rules, {}

    def to_fixpoint(self) -> None:
        """Settle and learn from what changed, until nothing does; what is known is not looked at again."""
        for _ in range(ROUNDS):
            before = len(self.journal)
            self.settle()
            if len(self.journal) == before or self.stop is not StopReason.FIXPOINT:
                return
            for value in self.editor.take_fresh():
                self.intern(value)
            self.push_all(self.folder.reconsider())
            if not is_complete(self.graph):
                self.changed = write_back(self.graph, self.model, None) or self.changed
                for value in infer(self.graph, self.model).learned:
                    if value.producer is not None:
                        self.push(value.producer)
                    self.push_all(value.uses)

    def settle(self) -> None:
        """Visit whatever is queued or touched by a change, until nothing is left."""
        while self.queue or self.folder.pending:
            if self.stop is StopReason.VISITS:
                self.queue.clear()
                return
            if not self.queue:
                self.wave()
                continue
            node = heappop(self.queue)[2]
            node.is_queued = False
            if node.is_alive:
                self.visit(node)

    def scopes(self) -> Iterator[Scope]:
        """The scopes that the plan allows to change."""
        for scope in self.graph.scopes():
            if self.plan.subgraphs or (scope.parent is None and not scope.is_function):
                yield scope

    def seed_all(self) -> None:
        """Merge equal initializers, and queue every node in order."""
        rank_nodes(self.graph)
        for scope in self.scopes():
            for tensor in scope.initializers:
                self.intern(scope.values[tensor.name])
            self.push_all(scope.nodes)

    def seed_roots(self, rules: set[Rule]) -> None:
        """Queue the nodes that one of these rules starts from."""
        roots = {root for rule in rules for root in rule.roots}
        for scope in self.scopes():
            self.push_all([n for n in scope.nodes if n.op_type in roots])

    def push(self, node: Node) -> None:
        """Queue a node once; those near the inputs come first, so that facts flow through the graph once."""
        if node.is_alive and not node.is_queued:
            node.is_queued = True
            self.pushed += 1
            heappush(self.queue, (node.rank, self.pushed, node))

    def push_all(self, nodes: Iterable[Node]) -> None:
        """Queue nodes, each once."""
        for node in nodes:
            if node.is_alive and not node.is_queued:
                self.push(node)

    def visit(self, node: Node) -> None:
        """One look at one node."""
        self.visits += 1
        if self.visits > self.most_visits:
            self.stop = StopReason.VISITS
        if not is_read(node):
            self.drop_unused(node)
        elif node.op_type == "Constant" and not node.domain:
            if node.outputs[0] is not None:
                self.intern(node.outputs[0])
        elif node.operator is not None:
            self.simplify(node)

    def simplify(self, node: Node) -> None:
        """Learn, fold, rewrite or number a node that is read and understood."""
        if self.facts.transfer(node):
            for value in node.outputs:
                if value is not None:
                    self.push_all(value.uses)
        if self.plan.fold and (self.fold_known(node) or self.take(node)):
            return
        if not self.try_rules(node):
            self.number(node)

    def keeps(self, node: Node) -> bool:
        """True when a node must stay although nothing reads it: it may have effects we do not know."""
        if node.is_call:
            return node.key in self.opaque_calls
        if node.operator is None:
            return True
        return any(holds_opaque(s, self.opaque_calls) for s in node.subgraphs)

    def allow(self) -> bool:
        """False when the journal has reached the plan's limit."""
        if self.plan.limit is not None and len(self.journal) >= self.plan.limit:
            self.stop = StopReason.LIMIT
            return False
        return True

    def drop_unused(self, node: Node) -> None:
        """Remove a node that nothing reads."""
        if self.keeps(node):
            return
        self.editor.start()
        self.editor.drop(node)
        self.changed = True
        self.after_edit()

    def after_edit(self) -> None:
        """Queue what the edit touched, and note which names went."""
        editor = self.editor
        self.changed = True
        self.push_all(editor.touched)
        for gone, stands in editor.gone:
            self.journal.survivors[gone] = stands

    def note(self, rule: str, result: ResultClass, root: Node, value: str, why: str, **more: object) -> None:
        """Append a record and queue what the edit touched."""
        self.journal.records.append(
            Record(
                rule=rule,
                result=result,
                scope=root.scope.path,
                node=root.label,
                value=value,
                why=why,
                added=tuple(self.editor.added),
                **more,  # type: ignore[arg-type]  # machine and hazards
            )
        )
        self.after_edit()

    # ---- folding

    def fold_known(self, node: Node) -> bool:
        """A node whose one used output has proven integer content becomes a constant without being run."""
        output = node.outputs[0] if len(node.outputs) == 1 else None
        if output is None or output.content is None or FOLD in self.plan.skip:
            return False
        for element in output.content.elements:
            if element.__class__ is not int:
                return False
        array = known_array(self.facts, output)
        if array is None or not self.allow():
            return False
        label_value = output.name
        self.editor.start()
        self.editor.detach_and_hold(node, output, array)
        self.note(FOLD, ResultClass.EXACT, node, label_value, "its content follows from shapes and constants")
        return True

    def take(self, node: Node) -> bool:
        """Let a constant node wait for the next wave."""
        if FOLD in self.plan.skip or not self.folder.take(node):
            return False
        for value in node.outputs:
            if value is not None:
                self.push_all(value.uses)
        return True

    def wave(self) -> None:
        """Evaluate what waits; the frontier becomes tensors, the rest is looked at again."""
        outcome = self.folder.wave()
        self.push_all(outcome.refused)
        self.push_all(outcome.failed)
        for node, arrays in outcome.folded:
            if not node.is_alive:
                continue
            if not self.allow():
                return
            self.editor.start()
            name = next(iter(arrays)).name
            for value, array in arrays.items():
                self.editor.detach_and_hold(node, value, array)
            machine = node.op_type not in MOVES
            self.note(FOLD, ResultClass.EXACT, node, name, "all its inputs are constant", machine=machine)

    # ---- rules

    def table(self, node: Node) -> tuple[Rule, ...]:
        """The rules to offer `node` to: by operator, domain and opset of its scope."""
        version = node.scope.opsets.get(node.domain, 0)
        key = (node.op_type, node.domain, version)
        found = self.tables.get(key)
        if found is None:
            found = self.tables[key] = tuple(
                r
                for r in self.rules
                if node.op_type in r.roots
                and node.domain == r.domain
                and r.since_opset <= version <= r.until_opset
                and r.id not in self.broken
            )
        return found

    def try_rules(self, node: Node) -> bool:
        """Offer `node` to its rules; True when one changed the graph."""
        facts = self.facts
        for rule in self.table(node):
            answer = rule.propose(node, facts)
            if isinstance(answer, Declined):
                continue
            if self.editor.can_apply(answer) and self.lowers(rule, node, answer) and self.allow():
                self.apply(rule, node, answer)
                return True
        return False

    def lowers(self, rule: Rule, node: Node, edit: Edit) -> bool:
        """True unless the edit would keep the node count and lower no rank."""
        return rule.lowers is not Lowers.RANK or lowers_rank(node, edit)

    def apply(self, rule: Rule, node: Node, edit: Edit) -> None:
        """Carry out an edit; a rule that does not lower the node count as it says is tried no more."""
        value = _first_value(node, edit)
        editor = self.editor
        editor.start()
        editor.apply(node, edit)
        spliced = edit.splice is not None
        if not spliced and (
            editor.node_delta > 0 or (rule.lowers is Lowers.NODES and editor.node_delta == 0)
        ):
            self.broken.add(rule.id)
            self.tables = {}
        self.note(rule.id, rule.result, node, value, edit.why, hazards=rule.hazards)
        if node.is_alive:
            self.push(node)

    # ---- value numbering

    def number(self, node: Node) -> None:
        """Merge `node` with an equal one."""
        if MERGE_NODES in self.plan.skip:
            return
        pair = self.numbering.find_equal(node)
        if pair is None:
            return
        keep, drop = pair
        pairs: list[tuple[Value, Value]] = []
        for index, old in enumerate(drop.outputs):
            if old is None or not old.is_read:
                continue
            new = keep.output(index)
            if new is None or old.pins:
                return
            pairs.append((old, new))
        if not pairs or not self.allow():
            return
        self.editor.start()
        label = pairs[0][0].name
        for old, new in pairs:
            self.editor.redirect(old, new)
        if drop.is_alive:
            self.editor.drop(drop)
        self.note(MERGE_NODES, ResultClass.EXACT, drop, label, f"{keep.label} computes the same value")

    def intern(self, value: Value) -> None:
        """Merge a constant with an equal one."""
        if MERGE_CONSTANTS in self.plan.skip or not value.uses:
            return
        known = self.numbering.find_equal_constant(value)
        if known is None or not self.allow():
            return
        producer = value.producer
        root = producer if producer is not None else next(iter(value.uses))
        self.editor.start()
        self.editor.early(known)
        self.editor.redirect(value, known)
        self.note(MERGE_CONSTANTS, ResultClass.EXACT, root, value.name, f"it has the bytes of {known.name}")


def is_read(node: Node) -> bool:
    """True when something reads one of the node's outputs."""
    for value in node.outputs:  # noqa: SIM110 - twice as fast as any(), and called for every visit
        if value is not None and (value.uses or value.pins):
            return True
    return False


def _first_value(node: Node, edit: Edit) -> str:
    if edit.replace:
        return edit.replace[0][0].name
    return next((v.name for v in node.outputs if v is not None), "")
