"""Find inputs that the source accepts, by trying them on the source.

House: feeds; imports numpy, runtime's failures.
Touch: make.py decides which plans are tried; the texts in `_BOUND` and `_TABLE` are ONNX Runtime's (1.32).
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from onnxsim_ci.feeds.meaning import Meaning
from onnxsim_ci.feeds.sample import FeedRequest, Runner, Sample
from onnxsim_ci.feeds.sizes import Plan, bytes_of
from onnxsim_ci.feeds.specs import InputSpec, Kind
from onnxsim_ci.feeds.values import Draw, tensor
from onnxsim_ci.runtime import RunFailure

_BOUND = re.compile(r"idx=(-?\d+) must be within the inclusive range \[-?\d+,(-?\d+)\]")
_LENGTH = re.compile(r"len(s|gth|gths)?$|length", re.IGNORECASE)
_REPAIRS = 4
_MOST_FAILURES = 8
_SEQUENCE_LENGTH = 3


class TooLarge(Exception):
    """The inputs of a plan would need more memory than the request allows; `str()` says how much."""


class Search:
    """The source, what its inputs mean, and what it has answered so far."""

    def __init__(
        self,
        runner: Runner,
        specs: tuple[InputSpec, ...],
        meanings: Mapping[str, Meaning],
        request: FeedRequest,
    ) -> None:
        """Start with nothing tried."""
        self.runner = runner
        self.specs = specs
        self.meanings = meanings
        self.request = request
        self.trials = 0
        self.failures: list[str] = []
        self.run_seconds = 0.0
        self.timed_out = False
        """The last run that was refused was stopped for its time."""
        self.default_high = 128
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        """Time since the search began."""
        return time.monotonic() - self._started

    @property
    def over(self) -> bool:
        """True when the time of the request is used up."""
        return self.seconds > self.request.seconds

    def build(self, plan: Plan, number: int, profile: str) -> Sample:
        """A sample that was not run.

        Raises:
            TooLarge: Its inputs would exceed `request.max_bytes`; nothing was allocated.
        """
        shapes = {spec.name: spec.shape(plan.sizes, plan.axes) for spec in self.specs if not spec.overridable}
        needed = sum(bytes_of(shapes[spec.name], spec.element) for spec in self.specs if spec.name in shapes)
        if needed > self.request.max_bytes:
            raise TooLarge(
                f"its inputs would need {needed >> 20} MiB (limit {self.request.max_bytes >> 20} MiB)"
            )
        seed = (self.request.seed, number)
        draw = Draw(np.random.default_rng(seed), profile, plan.sizes, self.default_high)
        values = {
            spec.name: self._value(spec, shapes, plan, draw) for spec in self.specs if spec.name in shapes
        }
        return Sample(
            values=values, profile=profile, sizes=tuple(sorted(plan.sizes.items())), seed=seed, note=plan.note
        )

    def _value(self, spec: InputSpec, shapes: Mapping[str, tuple[int, ...]], plan: Plan, draw: Draw) -> Any:
        hint: Mapping[str, Any] = self.request.hints.get("inputs", {}).get(spec.name, {})
        shape, meaning = shapes[spec.name], self.meanings[spec.name]
        if spec.name in plan.picks:
            hint = {"value": plan.picks[spec.name]}
        elif not hint and meaning.high is None and len(shape) < 2 and _LENGTH.search(spec.name):
            longest = [other[-1] for name, other in shapes.items() if name != spec.name and len(other) > 1]
            hint = {"value": longest[0]} if longest else {}
        if spec.kind is Kind.SEQUENCE:
            return [tensor(spec, shape, meaning, hint, draw) for _ in range(_SEQUENCE_LENGTH)]
        return tensor(spec, shape, meaning, hint, draw)

    def attempt(self, plan: Plan, number: int, profile: str) -> Sample | None:
        """The sample with the source's answer, or None; ranges learnt from error texts stay learnt."""
        for _ in range(_REPAIRS):
            if self.over:
                return None
            try:
                sample = self.build(plan, number, profile)
            except TooLarge as problem:
                self._note(str(problem))
                return None
            answer = self.run(sample)
            if answer is not None:
                return replace(sample, answer=answer)
            if not self._repair(sample):
                return None
        return None

    def run(self, sample: Sample) -> dict[str, Any] | None:
        """The source's answer, or None after a note of what it said."""
        self.trials += 1
        started = time.monotonic()
        try:
            answer = self.runner.run(sample.values, seconds=self.request.run_seconds)
        except RunFailure as failure:
            self.timed_out = failure.timed_out
            slow = f"one run takes longer than {self.request.run_seconds:.2g} s"
            self._note(slow if failure.timed_out else failure.message)
            return None
        self.run_seconds = time.monotonic() - started
        return answer

    def _note(self, text: str) -> None:
        line = text if _BOUND.search(text) else text.splitlines()[0]
        if line in self.failures:
            self.failures.remove(line)
        elif len(self.failures) >= _MOST_FAILURES:
            self.failures.pop(1)
        self.failures.append(line)

    def _repair(self, sample: Sample) -> bool:
        """Lower the range of every integer input that holds the index that was refused."""
        found = _BOUND.search(self.failures[-1])
        if found is None:
            return False
        index, high, changed = int(found[1]), int(found[2]) + 1, False
        for name, value in sample.values.items():
            array = np.asarray(value) if not isinstance(value, list) else np.zeros(0)
            if array.dtype.kind in "iu" and array.size and np.any(array == index) and high > 0:
                self.meanings[name].limit(high)
                changed = True
        return changed
