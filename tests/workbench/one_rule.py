"""The engine with exactly the rules that a test wants: no folding, no merging of equal nodes or constants.

Touch: `onnxsim_ci/rewrite/selection.py` (the catalogue that it reads), what `Plan.skip` switches off.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from onnx import ModelProto

from onnxsim_ci.analysis import infer
from onnxsim_ci.model import build_graph, image_of, load
from onnxsim_ci.rewrite import (
    FOLD,
    MERGE_CONSTANTS,
    MERGE_NODES,
    RULES,
    Declined,
    Level,
    Outcome,
    Plan,
    Rule,
    selection,
)
from onnxsim_ci.rewrite import rewrite as run_engine
from onnxsim_ci.rewrite.rule_step import RuleStep
from onnxsim_ci.rewrite.workbench import Workbench

BY_ID = {rule.id: rule for rule in RULES}


@contextmanager
def offered(*rules: Rule) -> Iterator[None]:
    """While it lasts these rules are the whole catalogue."""
    before = selection.RULES
    selection.RULES = rules
    try:
        yield
    finally:
        selection.RULES = before


def plan_for(rule: Rule) -> Plan:
    """Everything that lets `rule` run, and nothing else."""
    return Plan(
        level=Level.TARGET,
        skip=frozenset({FOLD, MERGE_NODES, MERGE_CONSTANTS}),
        extra=frozenset({rule.id}),
        signed_zero=True,
        fold=False,
    )


def rewritten(model: ModelProto, plan: Plan) -> tuple[ModelProto, Outcome]:
    """The result of one run over a copy of `model`, and what the run did."""
    loaded = load(model)
    outcome = run_engine(build_graph(loaded.proto), loaded.proto, loaded.weights, plan)
    data, _ = image_of(loaded.proto, loaded.weights, None)
    return ModelProto.FromString(data), outcome


def apply_rule(model: ModelProto, rule: Rule) -> tuple[ModelProto, Outcome]:
    """As `rewritten`, with `rule` alone."""
    with offered(rule):
        return rewritten(model, plan_for(rule))


def refusals(model: ModelProto, rule: Rule) -> list[str]:
    """Why `rule` leaves `model` alone: one sentence for each node that it could be offered, in order."""
    loaded = load(model)
    with offered(rule):
        graph, plan = build_graph(loaded.proto), plan_for(rule)
        step = RuleStep(Workbench(graph, loaded.weights, plan))
        step.use(selection.selected_rules(plan, exact_only=False))
        infer(graph, loaded.proto)
        return _refusals(step, rule)


def _refusals(step: RuleStep, rule: Rule) -> list[str]:
    bench = step.bench
    found: list[str] = []
    for scope in bench.graph.scopes():
        for node in scope.nodes:
            if node.operator is not None:
                bench.facts.transfer(node)
            if node.op_type not in rule.roots:
                continue
            if node.operator is None:
                found.append(f"{node.op_type} of the domain {node.domain!r} is not a standard operator")
                continue
            if not step.table(node):
                found.append(f"{node.op_type} of opset {node.scope.opset} is not offered to the rule")
                continue
            answer = rule.propose(node, bench.facts)
            if isinstance(answer, Declined):
                found.append(answer.reason)
            elif not bench.editor.can_apply(answer):
                names = ", ".join(repr(old.name) for old, _ in answer.replace)
                found.append(f"the driver refuses the edit: {names} must keep its name")
            elif not step.lowers(rule, node, answer):
                found.append("the driver refuses the edit: nothing gets smaller")
    return found
