"""How much a passed comparison is worth: errors planted in the source must be called `differs`.

Each planted error disturbs one non-zero float constant by 1 % (standard deviation) among those that the
values of ROUNDING edits depend on. A saturated or dead model lets such errors through, and then a
comparison that found nothing proves nothing.

House: equivalence.
Touch: decision 0003; verdict.Evidence prints `caught` of `planted`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from onnxsim_ci.equivalence.bench import Bench, Subject
from onnxsim_ci.equivalence.differences import difference
from onnxsim_ci.equivalence.judging import DIFFERENT_UNITS, noise_units
from onnxsim_ci.equivalence.noise import Baseline, Noise
from onnxsim_ci.equivalence.weights import Constant, disturbed, float_constants, read
from onnxsim_ci.feeds import Sample
from onnxsim_ci.runtime import RunFailure, RuntimeRefusal

PLANTED = 4
ENOUGH = 2
_ERROR = 0.01
_SEED = 99
_USUAL_SIZE = 64
_LARGEST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """Result of the check."""

    caught: int
    planted: int

    @property
    def enough(self) -> bool:
        """True when at least two errors were caught (all, where fewer could be planted)."""
        return self.planted > 0 and self.caught >= min(ENOUGH, self.planted)


class Planter:
    """Plants errors in one source; sessions live for one error each."""

    def __init__(self, source: Subject, bench: Bench, noise: Noise) -> None:
        """Nothing is planted yet."""
        self._source, self._bench, self._noise = source, bench, noise

    def candidates(self, upstream: set[str] | None) -> list[Constant]:
        """Constants to disturb: those in `upstream` (None: all), usual sizes before small ones."""
        constants = [
            constant
            for constant in float_constants(self._source.model)
            if 0 < constant.byte_count <= _LARGEST_BYTES and (upstream is None or constant.name in upstream)
        ]
        usual = [constant for constant in constants if constant.count >= _USUAL_SIZE]
        return usual or constants

    def check(
        self,
        constants: list[Constant],
        samples: Sequence[tuple[Hashable, Sample]],
        watched: set[str],
        *,
        strict: bool,
    ) -> Power:
        """Plant up to four errors, one at a time; stops at two caught.

        Args:
            constants: Out of `candidates`.
            samples: Those that were compared, with their keys; the source's answers are in them.
            watched: Outputs that count.
            strict: The result was equal bit for bit, so any changed bit counts as caught.
        """
        caught = planted = 0
        for constant, values in self._errors(constants):
            if planted == PLANTED or caught == ENOUGH:
                break
            planted += 1
            caught += self._is_caught({constant.name: values}, samples, watched, strict=strict)
        return Power(caught=caught, planted=planted)

    def _errors(self, constants: list[Constant]) -> Iterator[tuple[Constant, np.ndarray]]:
        rng = np.random.default_rng(_SEED)
        for index in rng.permutation(len(constants)):
            values = read(constants[index].tensor, self._source.folder)
            if np.any(values):  # 1 % of an all-zero bias would be no error
                yield constants[index], disturbed(values, rng, _ERROR)

    def _is_caught(
        self,
        overrides: dict[str, np.ndarray],
        samples: Sequence[tuple[Hashable, Sample]],
        watched: set[str],
        *,
        strict: bool,
    ) -> bool:
        try:
            runner = self._bench.open(self._source.image, overrides=overrides)
        except RuntimeRefusal:
            return False
        for key, sample in samples:
            assert sample.answer is not None
            if not strict and not self._noise.of(key):
                self._noise.grow(key, sample)
            try:
                answer = runner.run(sample.values, list(sample.answer))
            except RunFailure:
                return True
            baselines = self._noise.of(key)
            for name in watched & sample.answer.keys():
                seen = difference(sample.answer[name], answer[name])
                units = noise_units(seen, baselines.get(name, Baseline()))
                if units > DIFFERENT_UNITS or (strict and not seen.bits_equal):
                    return True
        return False
