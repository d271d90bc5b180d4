"""The rung of samples: noise units with their three conditions, cheapest evidence first.

House: equivalence.
Touch: decision 0003; judging.py, noise.py, power.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from onnxsim_ci.equivalence.bench import Subject
from onnxsim_ci.equivalence.discrete import floats_before
from onnxsim_ci.equivalence.evidence import evidence_of
from onnxsim_ci.equivalence.flow import Flow
from onnxsim_ci.equivalence.inside import Inside, Insider, shared_values
from onnxsim_ci.equivalence.judging import UNDISPUTED, Comparison, State, Tolerance
from onnxsim_ci.equivalence.power import Power
from onnxsim_ci.equivalence.source_side import SourceSide, input_bytes
from onnxsim_ci.equivalence.verdict import Edits, Evidence, Verdict
from onnxsim_ci.feeds import Sample
from onnxsim_ci.runtime import RunFailure

_FIRST = 3
"""Samples of the first look, and the fewest that count as evidence (less only when the user gave less)."""


def judge_samples(side: SourceSide, result: Subject, edits: Edits | None) -> Verdict:
    """Equivalent, differs, inconclusive or not run, from ordinary samples.

    Raises:
        RuntimeRefusal: The source can be loaded and the result cannot.
    """
    if side.refusal is not None:
        return Verdict(verdict="not run", reason=side.refusal)
    _ = result.runner
    feeds = side.feeds(side.wanted)
    if feeds.reason is not None:
        return Verdict(verdict="not run", reason=feeds.reason)
    return _Judge(side, result, edits).verdict()


class _Judge:
    """One candidate's way through the samples."""

    def __init__(self, side: SourceSide, result: Subject, edits: Edits | None) -> None:
        settings = side.settings
        self._side, self._result = side, result
        self._tolerance = None
        if settings.rtol is not None or settings.atol is not None:
            self._tolerance = Tolerance(settings.rtol or 0.0, settings.atol or 0.0)
        self._comparison = Comparison(
            side.noise, self._tolerance, thorough=settings.strict, explains=self._explains
        )
        self._upstream, self._watched = scope(side.flow, result, edits)
        edited = edits.rounding_outputs if edits is not None else ()
        shared = shared_values(side.subject.model, result.model, edited)
        side.observe(shared)
        result.observe(shared)
        self._insider = Insider(side, result, shared, edited) if edited else None
        self._samples: list[tuple[Hashable, Sample]] = []
        self._power: Power | None = None

    def verdict(self) -> Verdict:
        """Three samples first; the others only when those leave a doubt."""
        everything = len(self._side.feeds(self._side.wanted).samples)
        pending = self._side.samples(self._side.wanted)
        first = everything if self._side.settings.strict else min(_FIRST, everything)
        decided = self._compare(itertools.islice(pending, first))
        if decided is not None:
            return decided
        doubt = self._doubt(most=State.CLEAR)
        if doubt is not None and first < everything:
            decided = self._compare(pending)
            if decided is not None:
                return decided
        if doubt is not None:
            doubt = self._doubt(most=State.EQUAL)
        return self._with_inside(doubt)

    def _with_inside(self, doubt: str | None) -> Verdict:
        """Look inside: it may find what the outputs hide, or prove what they cannot."""
        inside = None
        if self._insider is not None and self._samples:
            samples = [sample for _, sample in self._samples]
            few = samples[:_FIRST] if doubt else [min(samples, key=input_bytes)]
            inside = self._insider.look(few, power=doubt is not None)
        if inside is None:
            return self._answer("inconclusive", doubt) if doubt else self._equivalent()
        if inside.state is State.DIFFERENT:
            return self._answer("differs", inside.explanation, inside)
        if inside.state is State.BETWEEN:
            return self._answer("inconclusive", f"between equal and different: {inside.explanation}", inside)
        if doubt is None:
            return self._equivalent(inside)
        if inside.uncovered or not inside.covered or inside.doubt:
            return self._answer("inconclusive", doubt, inside)
        return self._islands(doubt, inside)

    def _islands(self, doubt: str, inside: Inside) -> Verdict:
        count = len(inside.covered)
        reason = (
            f"every ROUNDING edit was compared inside the model, at {count} values (the outputs: {doubt})"
        )
        evidence = self._evidence(inside)
        return Verdict(verdict="equivalent", basis="islands", reason=reason, evidence=evidence)

    def _compare(self, samples: Iterator[tuple[Hashable, Sample]]) -> Verdict | None:
        """Run the result on these samples; a verdict as soon as one of them decides."""
        for key, sample in samples:
            assert sample.answer is not None
            try:
                answer = self._result.runner.run(sample.values, list(sample.answer))
            except RunFailure as failure:
                self._samples.append((key, sample))
                return self._answer("differs", f"the result fails where the source runs: {failure}")
            self._samples.append((key, sample))
            if self._comparison.add(key, sample, answer) is State.DIFFERENT:
                if self._comparison.repeatable:
                    return self._answer("differs", self._comparison.explanation())
                return self._answer("inconclusive", "the source does not repeat its own outputs")
        return None

    def _explains(self, sample: Sample, name: str) -> bool:
        """True when unequal integers of this output follow from floats that are equal within noise."""
        model, other = self._side.subject.model, self._result.model
        values = floats_before(model, other, name)
        if not values:
            return False
        shared = shared_values(model, other, values)
        fed = {value.name for value in model.graph.input}
        if any(value not in shared and value not in fed for value in values):
            return False
        self._side.observe(shared)
        self._result.observe(shared)
        inside = Insider(self._side, self._result, shared, values).look([sample], power=False)
        return inside.state in (State.CLEAR, State.EQUAL) and not inside.uncovered

    def _doubt(self, *, most: State) -> str | None:
        """Why the samples do not suffice, as a sentence; None when they do."""
        enough = min(_FIRST, self._side.wanted)
        if self._side.settings.data is not None:
            enough = min(enough, len(self._side.feeds(self._side.wanted).samples))
        if len(self._samples) < enough:
            return f"the source ran on {len(self._samples)} samples only"
        if not self._comparison.repeatable:
            return "the source does not repeat its own outputs"
        state = self._comparison.state
        if state is not State.CLEAR and state is not most:
            return f"between equal and different: {self._comparison.explanation()}"
        if self._tolerance is not None:
            return None
        blind = self._comparison.ill_conditioned()
        if len(self._samples) - len(blind) < enough:
            return next(iter(blind.values()))
        return self._powerless()

    def _powerless(self) -> str | None:
        """Why a passed comparison would prove nothing; None when planted errors are caught."""
        side, comparison = self._side, self._comparison
        watched = {
            name
            for name in self._watched
            if not (side.flow.is_constant(name) and comparison.same_bits_on(name))
        }
        if not watched:
            return None
        constants = side.planter.candidates(self._upstream)
        self._power = side.planter.check(constants, self._samples, watched, strict=comparison.bits_equal)
        if self._power.planted == 0:
            return self._unplanted(watched)
        if self._power.enough:
            return None
        return f"these inputs catch {self._power.caught} of {self._power.planted} planted 1 % weight errors"

    def _unplanted(self, watched: set[str]) -> str | None:
        """Without weights other than zero, outputs must be equal, and not the same number everywhere."""
        rows = [row for row in self._comparison.rows() if row.name in watched]
        moved = [row.name for row in rows if (row.relative_l2 or 0.0) > UNDISPUTED * 2.0**-23]
        if moved:
            return f"no weights to plant errors in, and output {moved[0]!r} is not equal"
        answers = [sample.answer or {} for _, sample in self._samples]
        if all(_is_uniform([answer[name] for answer in answers]) for name in watched):
            return "no weights to plant errors in, and the outputs are the same number everywhere"
        return None

    def _equivalent(self, inside: Inside | None = None) -> Verdict:
        count, comparison = len(self._samples), self._comparison
        _, units = comparison.worst
        agree = "agree bit for bit" if comparison.bits_equal else f"are within {units:.2g} noise units"
        if self._tolerance is not None and not comparison.bits_equal:
            agree = f"are within rtol {self._tolerance.rtol:g}, atol {self._tolerance.atol:g}"
        caught = ""
        if self._power is not None and self._power.planted:
            caught = f"; {self._power.caught} of {self._power.planted} planted 1 % weight errors were caught"
        return Verdict(
            verdict="equivalent",
            basis="samples",
            reason=f"{count} samples {agree}{caught}",
            evidence=self._evidence(inside),
        )

    def _answer(
        self, verdict: Literal["differs", "inconclusive"], reason: str, inside: Inside | None = None
    ) -> Verdict:
        return Verdict(verdict=verdict, reason=reason, evidence=self._evidence(inside))

    def _evidence(self, inside: Inside | None) -> Evidence:
        evidence = evidence_of(self._comparison, self._samples, self._power)
        if inside is None:
            return evidence
        power = inside.power or self._power
        return replace(
            evidence,
            covered=inside.covered,
            uncovered=inside.uncovered,
            caught=power.caught if power else 0,
            planted=power.planted if power else 0,
        )


def _is_uniform(values: list[Any]) -> bool:
    """True when all elements of all values are one number: an output that carries no information."""
    arrays = [value.ravel() for value in values if isinstance(value, np.ndarray)]
    if len(arrays) < len(values):
        return False
    joined = np.concatenate(arrays)
    return bool(np.unique(joined).size <= 1)


def scope(source: Flow, result: Subject, edits: Edits | None) -> tuple[set[str] | None, set[str]]:
    """What ROUNDING edits depend on (None: take everything), and the outputs that they reach."""
    if edits is None or not edits.rounding_outputs:
        return None, set(source.outputs)
    watched = Flow(result.model).descendants(edits.rounding_outputs) & set(source.outputs)
    shared = [name for name in edits.rounding_outputs if name in source.sources]
    return source.ancestors(shared or watched), watched
