"""The step that offers a node to the rules of its operator.

House: rewrite. May import model and the contract.
Touch: `contract.py` for what a rule may answer.
"""

from __future__ import annotations

from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, Rule
from onnxsim_ci.rewrite.measure import lowers_rank
from onnxsim_ci.rewrite.workbench import Workbench


class RuleStep:
    """The rules in use, by operator, domain and opset."""

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench
        self.broken: set[str] = set()
        self.tables: dict[tuple[str, str, int], tuple[Rule, ...]] = {}
        self.rules: tuple[Rule, ...] = ()

    def use(self, rules: tuple[Rule, ...]) -> None:
        """Offer nodes to these rules from now on."""
        self.rules, self.tables = rules, {}

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
        return any(self.offer(rule, node) for rule in self.table(node))

    def offer(self, rule: Rule, node: Node) -> bool:
        """Let `rule` look at `node`; True when it changed the graph."""
        answer = rule.propose(node, self.bench.facts)
        if isinstance(answer, Declined) or not self.bench.editor.can_apply(answer):
            return False
        if not self.lowers(rule, node, answer) or not self.bench.allow():
            return False
        self.apply(rule, node, answer)
        return True

    def lowers(self, rule: Rule, node: Node, edit: Edit) -> bool:
        """True unless the edit would keep the node count and lower no rank."""
        return rule.lowers is not Lowers.RANK or lowers_rank(node, edit)

    def apply(self, rule: Rule, node: Node, edit: Edit) -> None:
        """Carry out an edit; a rule that does not lower the node count as it says is tried no more."""
        value = _first_value(node, edit)
        editor = self.bench.editor
        self.bench.begin(node)
        editor.apply(node, edit)
        spliced = edit.splice is not None
        if not spliced and (
            editor.node_delta > 0 or (rule.lowers is Lowers.NODES and editor.node_delta == 0)
        ):
            self.broken.add(rule.id)
            self.tables = {}
        self.bench.note(rule.id, node, value, edit.why, result=rule.result, hazards=rule.hazards)
        if node.is_alive:
            self.bench.worklist.push(node)


def _first_value(node: Node, edit: Edit) -> str:
    if edit.replace:
        return edit.replace[0][0].name
    return next((v.name for v in node.outputs if v is not None), "")
