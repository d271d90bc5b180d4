"""From a candidate to a proven result: the ladder of proofs, quarantine, the exact way out.

House: api. May import equivalence, rewrite, model.
Touch: design, verify-measure-report: "Under required all four count".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from onnxsim_ci.api.candidate import Candidate, Source, make_candidate
from onnxsim_ci.equivalence import ProofSettings, Prover, Verdict, find_culprit
from onnxsim_ci.errors import BadInput
from onnxsim_ci.feeds import BadUserData
from onnxsim_ci.rewrite import Plan, ResultClass

ROUNDS = 3
"""Rules left out one after the other before only exact ones stay."""

ROUNDING = "rounding"


@dataclass(frozen=True, slots=True)
class Proven:
    """The end of the ladder.

    Attributes:
        candidate: The result that `verdict` is about.
        refusals: (rule id, or `rounding`, and the reason) that were left out on the way.
    """

    candidate: Candidate
    verdict: Verdict
    refusals: tuple[tuple[str, str], ...]


def prove(
    source: Source, first: Candidate, settings: ProofSettings, *, quarantines: bool, repro: Path | None
) -> Proven:
    """Prove `first`, leaving rules out until a result passes; the last one may still be unproven."""
    prover = Prover(source.image, settings)
    candidate = first
    refusals: list[tuple[str, str]] = []
    verdict = _judge(prover, candidate)
    for _ in range(ROUNDS):
        if verdict.verdict != "differs" or not quarantines:
            break
        rule, reason = _blame(prover, candidate, verdict, repro)
        refusals.append((rule, reason))
        candidate = make_candidate(source, _without(candidate.plan, rule))
        verdict = _judge(prover, candidate)
    if (
        _may_retreat(verdict, quarantines=quarantines)
        and candidate.plan.rounding
        and _has_rounding(candidate)
    ):
        refusals.append((ROUNDING, verdict.reason))
        candidate = make_candidate(source, _without(candidate.plan, ROUNDING))
        verdict = _judge(prover, candidate)
    prover.release()
    return Proven(candidate, verdict, tuple(refusals))


def _judge(prover: Prover, candidate: Candidate) -> Verdict:
    try:
        return prover.judge(candidate.image, candidate.edits())
    except BadUserData as error:
        raise BadInput(f"verify.data: {error}") from error


def _may_retreat(verdict: Verdict, *, quarantines: bool) -> bool:
    """Only evidence moves a model down the ladder; a limit leaves it as it is."""
    if verdict.verdict == "differs":
        return quarantines
    is_limit = "time limit" in verdict.reason or "memory limit" in verdict.reason
    return verdict.verdict in ("inconclusive", "not run") and not is_limit


def _has_rounding(candidate: Candidate) -> bool:
    return any(r.result is not ResultClass.EXACT for r in candidate.outcome.journal.records)


def _without(plan: Plan, rule: str) -> Plan:
    if rule == ROUNDING:
        return replace(plan, rounding=False, limit=None)
    return replace(plan, skip=plan.skip | {rule}, limit=None)


def _blame(prover: Prover, candidate: Candidate, verdict: Verdict, repro: Path | None) -> tuple[str, str]:
    """(rule to leave out, reason): found by bisecting the journal."""
    records = candidate.outcome.journal.records

    def build(count: int) -> Candidate:
        return make_candidate(candidate.source, replace(candidate.plan, limit=count))

    culprit = find_culprit(
        len(records), build, lambda c: _judge(prover, c), failing=frozenset({verdict.verdict})
    )
    if culprit.index is None:
        return ROUNDING, f"several edits together: {verdict.reason}"
    record = records[culprit.index]
    if repro is not None:
        prover.save_repro(repro, candidate.image, record.value)
    return record.rule, f"at {record.node!r}: {verdict.reason}"
