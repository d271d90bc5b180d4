"""Why rules do not fire on what is left of a model.

House: rewrite. May import the driver.
Touch: `api/explain.py` shows these.
"""

from __future__ import annotations

from onnx import ModelProto

from onnxsim_ci.analysis import infer
from onnxsim_ci.model import Graph, Weights
from onnxsim_ci.rewrite.contract import Declined
from onnxsim_ci.rewrite.driver import Run
from onnxsim_ci.rewrite.plan import Plan
from onnxsim_ci.rewrite.selection import selected_rules


def refusals_of(
    graph: Graph, model: ModelProto, weights: Weights, plan: Plan, subject: str
) -> list[tuple[str, str, str]]:
    """(rule, node, reason) for every rule that declines a node; `subject` names the rule or the node."""
    run = Run(graph, model, weights, plan)
    infer(graph, model)
    run.rules = selected_rules(plan, exact_only=False)
    found: list[tuple[str, str, str]] = []
    for scope in graph.scopes():
        for node in scope.nodes:
            if node.operator is None:
                continue
            run.facts.transfer(node)
            names = {node.label, node.op_type, *(v.name for v in node.outputs if v is not None)}
            for rule in run.table(node):
                if subject != rule.id and subject not in names:
                    continue
                answer = rule.propose(node, run.facts)
                if isinstance(answer, Declined):
                    found.append((rule.id, node.label, answer.reason))
    return found
