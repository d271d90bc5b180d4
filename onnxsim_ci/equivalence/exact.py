"""The rung for EXACT edits: nothing is tolerated, so two samples and the hazards suffice.

House: equivalence.
Touch: rewrite's result classes give `exact` its meaning.
"""

from __future__ import annotations

from dataclasses import replace

from onnxsim_ci.equivalence.bench import Subject
from onnxsim_ci.equivalence.differences import difference
from onnxsim_ci.equivalence.islands import cut_islands
from onnxsim_ci.equivalence.source_side import SourceSide
from onnxsim_ci.equivalence.verdict import Edits, Evidence, Verdict
from onnxsim_ci.feeds import Sample, hazard_feeds
from onnxsim_ci.runtime import RunFailure, RuntimeRefusal

_SAMPLES = 2


def judge_exact(side: SourceSide, result: Subject, edits: Edits) -> Verdict:
    """Every edit is EXACT: equivalent, unless a run shows another bit.

    Raises:
        RuntimeRefusal: The source can be loaded and the result cannot.
    """
    if side.refusal is not None:
        return _on_islands(side, result, edits) or _unrun(side.refusal)
    feeds = side.feeds(_SAMPLES)
    if feeds.reason is not None:
        _ = result.runner
        return _unrun(feeds.reason)
    samples = list(side.samples(_SAMPLES))
    for _, sample in samples:
        fault = _fault(side, result, sample)
        if fault is not None:
            return fault
    hazards = judge_intermediate(side, result, edits.hazards)
    if isinstance(hazards, Verdict):
        return hazards
    evidence = Evidence(
        samples=len(samples),
        sizes=tuple(sample.sizes for _, sample in samples),
        profiles=tuple(sample.profile for _, sample in samples),
        noise_units=0.0,
        hazards=hazards,
    )
    reason = f"every edit is EXACT, and {len(samples)} samples agree bit for bit"
    return Verdict(verdict="equivalent", basis="exact", reason=reason, evidence=evidence)


def judge_intermediate(
    side: SourceSide, exact: Subject, hazards: frozenset[str]
) -> Verdict | tuple[str, ...]:
    """The hazards under which source and EXACT model agree bit for bit, or the verdict that they do not."""
    if not hazards or side.refusal is not None:
        return ()
    ordinary = next((sample for _, sample in side.samples(_SAMPLES)), None)
    if ordinary is None:
        return ()
    agreed = []
    for sample in hazard_feeds(
        side.subject.model, side.subject.runner, ordinary, hazards, seed=side.settings.seed
    ):
        fault = _fault(side, exact, sample)
        if fault is not None:
            return fault
        agreed.append(sample.profile)
    return tuple(dict.fromkeys(agreed))


def informed(side: SourceSide, result: Subject, verdict: Verdict) -> Verdict:
    """The verdict with a note for each of the user's hazards; without a journal they decide nothing."""
    ordinary = None if side.refusal else next((sample for _, sample in side.samples(side.wanted)), None)
    if ordinary is None:
        return verdict
    agreed, notes = list[str](), list[str]()
    runner, seed = side.subject.runner, side.settings.seed
    for sample in hazard_feeds(side.subject.model, runner, ordinary, side.settings.hazards, seed=seed):
        fault = _fault(side, result, sample)
        if fault is None:
            agreed.append(sample.profile)
        else:
            notes.append(f"for information: bits differ on a {sample.profile} sample")
    evidence = replace(
        verdict.evidence,
        hazards=tuple(dict.fromkeys(agreed)),
        notes=(*verdict.evidence.notes, *dict.fromkeys(notes)),
    )
    return replace(verdict, evidence=evidence)


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
    return Verdict(
        verdict="equivalent", basis="exact", reason=f"every edit is EXACT; no sample was run: {why}"
    )


def _fault(side: SourceSide, exact: Subject, sample: Sample) -> Verdict | None:
    """A verdict other than equivalent when one sample tells the two models apart."""
    assert sample.answer is not None
    evidence = Evidence(samples=1, sizes=(sample.sizes,), profiles=(sample.profile,))
    try:
        answer = exact.runner.run(sample.values, list(sample.answer))
    except RunFailure as failure:
        reason = f"the result fails on a {sample.profile} sample where the source runs: {failure}"
        return Verdict(verdict="differs", reason=reason, evidence=evidence)
    for name, value in sample.answer.items():
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
