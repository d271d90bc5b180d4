"""Everything that a proof knows about its source alone: made once, used for every candidate.

House: equivalence.
Touch: prover.py asks it; quarantine and bisection rely on nothing here depending on a result.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property

from onnxsim_ci.equivalence.bench import Bench, Subject
from onnxsim_ci.equivalence.flow import Flow
from onnxsim_ci.equivalence.noise import Noise
from onnxsim_ci.equivalence.power import Planter
from onnxsim_ci.equivalence.verdict import ProofSettings
from onnxsim_ci.equivalence.weights import weight_bytes
from onnxsim_ci.feeds import FeedRequest, Feeds, Sample, hazard_feeds, make_feeds
from onnxsim_ci.runtime import ModelImage, RunFailure, RuntimeRefusal, reference_run

LARGE_BYTES = 256 << 20
_LARGE_SAMPLES = 3
_FEWEST_SAMPLES = 2
_HAZARD_SECONDS = 3.0
_URGENT = "negative_zero nan infinity empty saturation batch_one overridden ties"
"""Hazards that have caught most mistakes of simplifiers, first ones first."""
_UNLIMITED_SECONDS = 3600.0  # for the search of inputs, when the proof has no limit
_REFERENCE_NODES = 2_000
_REFERENCE_BYTES = 64 << 20


def input_bytes(sample: Sample) -> int:
    """Size of a sample's tensors."""
    return sum(int(getattr(value, "nbytes", 0)) for value in sample.values.values())


class SourceSide:
    """The source of a proof: how it runs, its samples, its noise, its planted errors."""

    def __init__(self, image: ModelImage, settings: ProofSettings, bench: Bench) -> None:
        """Nothing is parsed or run yet."""
        self.settings = settings
        self.bench = bench
        self.subject = Subject(image, bench)
        self._feeds: dict[int, Feeds] = {}
        self._special: dict[frozenset[str], tuple[Sample, ...]] = {}
        self._answered: dict[Hashable, Sample | None] = {}

    @cached_property
    def large(self) -> bool:
        """True when the weights are too many to be copied."""
        return weight_bytes(self.subject.model) > LARGE_BYTES

    @cached_property
    def flow(self) -> Flow:
        """Which values depend on which."""
        return Flow(self.subject.model)

    @cached_property
    def refusal(self) -> str | None:
        """Why the source cannot be run, as a sentence, or None; may select the reference evaluator."""
        try:
            _ = self.subject.runner
        except RuntimeRefusal as refusal:
            if not refusal.lacks_kernel:
                return f"the runtime cannot load the source: {refusal}"
            if not self._reference_knows():
                return f"the runtime has no kernel for the source: {refusal}"
            self.bench.by_reference = True
        return None

    def _reference_knows(self) -> bool:
        model = self.subject.model
        if len(model.graph.node) > _REFERENCE_NODES or weight_bytes(model) > _REFERENCE_BYTES:
            return False
        try:
            reference_run(self.subject.image, {}, [])
        except RuntimeRefusal:
            return False
        except RunFailure:
            return True
        return True

    @cached_property
    def noise(self) -> Noise:
        """Baselines of the source."""
        wish = self.settings.baseline
        nudge = wish == "full" or (wish == "auto" and not self.large)
        return Noise(self.subject, self.bench, nudge_weights=nudge, light=self.large)

    @cached_property
    def planter(self) -> Planter:
        """Plants errors in the source."""
        return Planter(self.subject, self.bench, self.noise)

    @property
    def wanted(self) -> int:
        """How many samples a full comparison may use."""
        return min(self.settings.samples, _LARGE_SAMPLES) if self.large else self.settings.samples

    def feeds(self, count: int) -> Feeds:
        """At least `count` samples if the source accepts that many; a larger set found before serves too.

        Raises:
            BadUserData: The user's files do not fit the model.
        """
        enough = [key for key in self._feeds if key >= count]
        if enough:
            return self._feeds[min(enough)]
        settings = self.settings
        limit = settings.timeout_seconds or _UNLIMITED_SECONDS
        request = FeedRequest(
            samples=count,
            seed=settings.seed,
            shapes=settings.shapes,
            data=settings.data,
            hints=settings.hints,
            symbol_values=settings.symbol_values,
            seconds=limit * 0.4,
            run_seconds=limit * 0.1,
        )
        feeds = make_feeds(self.subject.image, self.subject.runner, request, model=self.subject.model)
        self._feeds[count] = feeds
        return feeds

    def samples(self, count: int) -> Iterator[tuple[Hashable, Sample]]:
        """Samples with a key and with the source's answer; those that the source refuses are left out.

        A key stands for one sample during the whole life of this object.
        """
        for number, sample in enumerate(self.feeds(count).samples[:count]):
            key = (count, number)  # samples of another request are other samples
            if key not in self._answered:
                self._answered[key] = self._with_answer(sample)
            answered = self._answered[key]
            if answered is not None:
                yield key, answered

    def hazards(self, hazards: frozenset[str]) -> tuple[Sample, ...]:
        """Special samples with the source's answer, made from the smallest ordinary one.

        A slow source gets only the first few of `_URGENT`, so that they take seconds at most.
        """
        if not hazards or self.refusal is not None:
            return ()
        if hazards not in self._special:
            feeds = self.feeds(_FEWEST_SAMPLES)
            ordinary = [sample for _, sample in self.samples(_FEWEST_SAMPLES)]
            most = int(_HAZARD_SECONDS / max(2 * feeds.run_seconds, 1e-3))
            urgent = sorted(hazards, key=lambda name: (name not in _URGENT, _URGENT.find(name), name))
            self._special[hazards] = (
                hazard_feeds(
                    self.subject.model,
                    self.subject.runner,
                    min(ordinary, key=input_bytes),
                    urgent[: max(2, most)],
                    seed=self.settings.seed,
                )
                if ordinary
                else ()
            )
        return self._special[hazards]

    def _with_answer(self, sample: Sample) -> Sample | None:
        if sample.answer is not None:
            return sample
        try:
            return replace(sample, answer=self.subject.runner.run(sample.values))
        except RunFailure:
            return None

    def observe(self, names: Iterable[str]) -> None:
        """Make inner values of the source available to all of its sessions."""
        if self.subject.observe(names):
            self.noise.release()

    def release(self) -> None:
        """Close sessions; samples, answers and baselines stay."""
        self.noise.release()
        self.subject.release()
