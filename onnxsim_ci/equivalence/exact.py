"""The rung for EXACT edits: nothing is tolerated, so two samples and the hazards suffice.

House: equivalence.
Touch: rewrite's result classes give `exact` its meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from onnxsim_ci.equivalence.bench import Subject
from onnxsim_ci.equivalence.differences import difference
from onnxsim_ci.equivalence.islands import cut_islands
from onnxsim_ci.equivalence.source_side import SourceSide
from onnxsim_ci.equivalence.verdict import Edits, Evidence, Verdict
from onnxsim_ci.feeds import Sample
from onnxsim_ci.runtime import RunFailure, RuntimeRefusal

_SAMPLES = 2


def judge_exact(side: SourceSide, result: Subject, edits: Edits) -> Verdict:
    """Every edit is EXACT: equivalent, unless a run shows another bit.

    Raises:
        RuntimeRefusal: The source can be loaded and the result cannot.
    """
    if side.refusal is not None:
        return _on_islands(side, result, edits) or _unrun(side.refusal)
    runner = result.runner
    feeds = side.feeds(_SAMPLES)
    if feeds.reason is not None:
        return _unrun(feeds.reason)
    samples = [sample for _, sample in side.samples(_SAMPLES)]
    for sample in samples:
        try:
            answer: dict[str, Any] | RunFailure = runner.run(sample.values, list(sample.answer or ()))
        except RunFailure as failure:
            answer = failure
        fault = _fault(side, sample, answer)
        if fault is not None and fault.verdict == "inconclusive":
            return _unrun(fault.reason)
        if fault is not None:
            return fault
    hazards = judge_hazards(side, result, edits.hazards)
    if isinstance(hazards, Verdict):
        return hazards
    evidence = Evidence(
        samples=len(samples),
        sizes=tuple(sample.sizes for sample in samples),
        profiles=tuple(sample.profile for sample in samples),
        noise_units=0.0,
        hazards=hazards,
    )
    reason = f"every edit is EXACT, and {len(samples)} samples agree bit for bit"
    return Verdict(verdict="equivalent", basis="exact", reason=reason, evidence=evidence)


def judge_hazards(side: SourceSide, exact: Subject, hazards: frozenset[str]) -> Verdict | tuple[str, ...]:
    """The hazards under which source and EXACT model agree bit for bit, or the verdict that they do not.

    Raises:
        RuntimeRefusal: The source can be loaded and the other model cannot.
    """
    faults = _hazard_faults(side, exact, hazards)
    found = next((fault for _, fault in faults if fault is not None and fault.verdict == "differs"), None)
    return found or tuple(dict.fromkeys(sample.profile for sample, fault in faults if fault is None))


def informed(side: SourceSide, result: Subject, verdict: Verdict) -> Verdict:
    """The verdict with a note for each of the user's hazards; without a journal they decide nothing."""
    faults = _hazard_faults(side, result, side.settings.hazards)
    agreed = [sample.profile for sample, fault in faults if fault is None]
    notes = [
        f"for information: bits differ on a {sample.profile} sample"
        for sample, fault in faults
        if fault is not None
    ]
    evidence = replace(
        verdict.evidence,
        hazards=tuple(dict.fromkeys(agreed)),
        notes=(*verdict.evidence.notes, *dict.fromkeys(notes)),
    )
    return replace(verdict, evidence=evidence)


def _hazard_faults(
    side: SourceSide, other: Subject, hazards: frozenset[str]
) -> list[tuple[Sample, Verdict | None]]:
    samples = side.hazards(hazards)
    if not samples:
        return []
    names = list(samples[0].answer or ())
    answers = other.runner.run_isolated([sample.values for sample in samples], names)
    side.bench.remaining()  # an answer that is missing because time is up is no fault
    return [(sample, _fault(side, sample, answer)) for sample, answer in zip(samples, answers, strict=True)]


def _on_islands(side: SourceSide, result: Subject, edits: Edits) -> Verdict | None:
    """The same judgement on what remains without the nodes that cannot be run; None when nothing runs."""
    islands = cut_islands(side, result, edits)
    if islands is None or islands.side.refusal is not None:
        return None
    try:
        verdict = judge_exact(islands.side, islands.result, replace(edits, hazards=frozenset()))
    except RuntimeRefusal:
        return None
    finally:
        side.bench.absorb(islands.side.bench)
    if verdict.verdict == "inconclusive":
        return None
    return replace(verdict, reason=f"{verdict.reason}; {islands.words}")


def _unrun(why: str) -> Verdict:
    reason = f"every edit is EXACT; no sample is evidence: {why}"
    return Verdict(verdict="equivalent", basis="exact", reason=reason)


def _fault(side: SourceSide, sample: Sample, answer: Mapping[str, Any] | RunFailure) -> Verdict | None:
    """A verdict other than equivalent when an answer differs from the source's in a single bit."""
    evidence = Evidence(samples=1, sizes=(sample.sizes,), profiles=(sample.profile,))
    if isinstance(answer, RunFailure):
        reason = f"the result fails on a {sample.profile} sample where the source runs: {answer}"
        return Verdict(verdict="differs", reason=reason, evidence=evidence)
    for name, value in (sample.answer or {}).items():
        seen = difference(value, answer[name])
        if seen.bits_equal:
            continue
        what = seen.structure or f"relative L2 {seen.relative_l2:.1e}, {seen.unequal} exact values differ"
        if not side.noise.repeatable(("exact", sample.profile, sample.seed), sample):
            reason = f"the source does not repeat its own output {name!r}"
            return Verdict(verdict="inconclusive", reason=reason, evidence=evidence)
        reason = f"EXACT edits changed bits of output {name!r} on a {sample.profile} sample: {what}"
        return Verdict(verdict="differs", reason=reason, evidence=replace(evidence, worst_output=name))
    return None
