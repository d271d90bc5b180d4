"""Why a rule fired, and why it did not.

House: api. May import rewrite, model, policy.
Touch: `cli/explain.py` prints these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnxsim_ci.api.candidate import Source, make_candidate
from onnxsim_ci.api.flow import Model
from onnxsim_ci.api.settings import limits_of, plan_of
from onnxsim_ci.errors import BadInput
from onnxsim_ci.model import build_graph, load
from onnxsim_ci.rewrite import RULES, refusals_of

if TYPE_CHECKING:
    from onnxsim_ci.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One rule at one node.

    Attributes:
        fired: Whether it changed the graph.
        reason: Why, or why not.
    """

    rule: str
    node: str
    fired: bool
    reason: str


def explain(model: Model, subject: str | None = None, *, policy: Policy | None = None) -> list[Explanation]:
    """The journal of `model`; for a node's or a rule's name also why nothing happened to what is left.

    Raises:
        BadInput: `subject` is neither a rule nor a node of the model.
    """
    from onnxsim_ci.policy import Policy as PolicyClass

    chosen = policy or PolicyClass()
    source = Source(load(model, limits_of(chosen)), chosen)
    plan = plan_of(chosen)
    candidate = make_candidate(source, plan)
    records = candidate.outcome.journal.records
    fired = [
        Explanation(rule=r.rule, node=r.node, fired=True, reason=r.why)
        for r in records
        if subject in (None, r.rule, r.node, r.value)
    ]
    if subject is None:
        return fired
    declined = [
        Explanation(rule=rule, node=node, fired=False, reason=reason)
        for rule, node, reason in refusals_of(
            build_graph(candidate.proto), candidate.proto, source.loaded.weights, plan, subject
        )
    ]
    is_rule = subject in {r.id for r in RULES}
    if not fired and not declined and not is_rule:
        raise BadInput(f"{subject!r} is neither a rule nor a node of the model")
    return fired + declined
