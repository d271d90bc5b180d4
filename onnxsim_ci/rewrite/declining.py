"""Why rules do not fire on what is left of a model.

House: rewrite. May import the steps.
Touch: `api/explain.py` shows these.
"""

from __future__ import annotations

from onnx import ModelProto

from onnxsim_ci.analysis import infer
from onnxsim_ci.model import Graph, Weights
from onnxsim_ci.rewrite.contract import Declined
from onnxsim_ci.rewrite.plan import Plan
from onnxsim_ci.rewrite.rule_step import RuleStep
from onnxsim_ci.rewrite.selection import selected_rules
from onnxsim_ci.rewrite.workbench import Workbench


def refusals_of(
    graph: Graph, model: ModelProto, weights: Weights, plan: Plan, subject: str
) -> list[tuple[str, str, str]]:
    """(rule, node, reason) for every rule that declines a node; `subject` names the rule or the node."""
    bench = Workbench(graph, weights, plan)
    step = RuleStep(bench)
    step.use(selected_rules(plan, exact_only=False))
    infer(graph, model)
    found: list[tuple[str, str, str]] = []
    for scope in graph.scopes():
        for node in scope.nodes:
            if node.operator is None:
                continue
            bench.facts.transfer(node)
            names = {node.label, node.op_type, *(v.name for v in node.outputs if v is not None)}
            for rule in step.table(node):
                if subject != rule.id and subject not in names:
                    continue
                answer = rule.propose(node, bench.facts)
                if isinstance(answer, Declined):
                    found.append((rule.id, node.label, answer.reason))
                elif not bench.editor.can_apply(answer):
                    found.append((rule.id, node.label, "a name of the interface would be lost"))
    return found
