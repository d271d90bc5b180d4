"""Which rules of the catalogue a plan switches on.

House: rewrite. May import the catalogue, the contract and the plan.
Touch: `plan.py` when a policy gets another switch.
"""

from __future__ import annotations

from collections.abc import Sequence

from onnxsim_ci.rewrite.catalogue import RULES
from onnxsim_ci.rewrite.contract import Level, ResultClass, Rule, Status
from onnxsim_ci.rewrite.plan import Plan

LEVELS = (Level.BASIC, Level.FUSION, Level.TARGET)


def selected_rules(plan: Plan, *, exact_only: bool, rules: Sequence[Rule] | None = None) -> tuple[Rule, ...]:
    """The rules of `rules`, or else of the catalogue, that `plan` switches on, in trial order."""
    if plan.level is None:
        return ()
    allowed = LEVELS[: LEVELS.index(plan.level) + 1]
    return tuple(
        r
        for r in (RULES if rules is None else rules)
        if _is_on(r, plan, allowed) and (not exact_only or r.result is ResultClass.EXACT)
    )


def _is_on(rule: Rule, plan: Plan, allowed: Sequence[Level]) -> bool:
    if rule.level not in allowed or rule.id in plan.skip or rule.family in plan.skip:
        return False
    if rule.status is not Status.STABLE and rule.id not in plan.extra:
        return False
    if rule.result is ResultClass.ROUNDING:
        return plan.rounding
    return rule.result is ResultClass.EXACT or plan.signed_zero
