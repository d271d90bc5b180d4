"""What rounding alone does to the source: the unit in which a result's difference is counted.

The source is shaken in ways that no rewrite could be blamed for: inputs nudged by one unit in the last
place, weights and inputs nudged (two seeds), the runtime's own full optimisation with one and with two
threads. The shakes are ordered by price and taken only until the verdict is clear, so a difference
within three units of the first shake never pays for the others. More shakes can only lower the units.

House: equivalence.
Touch: decision 0003 holds the calibration (51 models, 337 rewrites, 450 mutants).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from onnxsim_ci.equivalence.bench import Bench, Subject
from onnxsim_ci.equivalence.differences import Difference, difference, same_bits
from onnxsim_ci.equivalence.weights import float_constants, nudged, read
from onnxsim_ci.feeds import Runner, Sample
from onnxsim_ci.runtime import Level, RunFailure, RuntimeRefusal

_SMALLEST_NUDGED = 8  # scales, bounds and exponents stay


@dataclass(slots=True)
class Baseline:
    """Largest effect of the shakes so far on one output of one sample."""

    l2: float = 0.0
    unequal: int = 0
    unstable: str = ""
    """What a shake did to the structure (shape, NaN, infinities); empty: nothing."""

    def take(self, seen: Difference) -> None:
        """Raise the baseline to what this shake did."""
        if seen.structure:
            self.unstable = seen.structure
        else:
            self.l2 = max(self.l2, seen.l2)
            self.unequal = max(self.unequal, seen.unequal)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shake:
    """One harmless change of the source: a session (made once), and whether inputs move too."""

    open: Callable[[], Runner]
    moves_inputs: bool
    seed: int


class Noise:
    """Baselines of one source, grown shake by shake, sample by sample."""

    def __init__(self, source: Subject, bench: Bench, *, nudge_weights: bool, light: bool) -> None:
        """Nothing is run yet.

        Args:
            source: The model that is shaken.
            bench: Where sessions are opened.
            nudge_weights: False leaves the weights alone (large models, or the user's wish).
            light: One cheap level instead of full optimisation, which would copy a large model's weights.
        """
        self._source, self._bench = source, bench
        self._runners: dict[int, Runner | None] = {}
        self._repeatable: dict[Hashable, bool] = {}
        self._found: dict[Hashable, dict[str, Baseline]] = {}
        self._taken: dict[Hashable, int] = {}
        self.shakes = self._plan(nudge_weights=nudge_weights, light=light)

    def _plan(self, *, nudge_weights: bool, light: bool) -> list[Shake]:
        source, bench = self._source, self._bench
        plan = [Shake(open=lambda: source.runner, moves_inputs=True, seed=10)]
        if nudge_weights:
            plan += [
                Shake(open=lambda seed=seed: self._nudged_runner(seed), moves_inputs=True, seed=seed)  # type: ignore[misc]
                for seed in (11, 12)
            ]
        levels = [(Level.BASIC, 1), (Level.DISABLED, 2)] if light else [(Level.ALL, 1), (Level.ALL, 2)]
        for level, threads in levels:
            plan.append(
                Shake(
                    open=lambda level=level, threads=threads: bench.open(  # type: ignore[misc]
                        source.image, level=level, threads=threads
                    ),
                    moves_inputs=False,
                    seed=0,
                )
            )
        return plan

    def _nudged_runner(self, seed: int) -> Runner:
        rng = np.random.default_rng(seed)
        overrides = {
            constant.name: nudged(read(constant.tensor, self._source.folder), rng)
            for constant in float_constants(self._source.model)
            if constant.count >= _SMALLEST_NUDGED
        }
        return self._bench.open(self._source.image, overrides=overrides)

    def of(self, key: Hashable) -> dict[str, Baseline]:
        """The baselines of a sample by output; empty before the first shake."""
        return self._found.get(key, {})

    def grow(self, key: Hashable, sample: Sample) -> bool:
        """Take the next shake of a sample that has an effect to offer; False when none is left."""
        assert sample.answer is not None
        while (step := self._taken.get(key, 0)) < len(self.shakes):
            self._taken[key] = step + 1
            answer = self._shaken(step, sample)
            if answer is not None:
                found = self._found.setdefault(key, {})
                for name, value in sample.answer.items():
                    found.setdefault(name, Baseline()).take(difference(value, answer[name]))
                return True
        return False

    def _shaken(self, step: int, sample: Sample) -> Mapping[str, Any] | None:
        shake = self.shakes[step]
        values = (
            nudged_inputs(sample.values, shake.seed + sample.seed[1]) if shake.moves_inputs else sample.values
        )
        if step == 0 and values is sample.values:
            return None  # no float inputs to move
        try:
            if step not in self._runners:
                self._runners[step] = shake.open()
            runner = self._runners[step]
            return None if runner is None else runner.run(values, list(sample.answer or ()))
        except RuntimeRefusal:
            self._runners[step] = None  # a level that the runtime itself cannot do is no evidence
        except RunFailure:
            return None
        return None

    def repeatable(self, key: Hashable, sample: Sample) -> bool:
        """True when the source gives the same bits again; asked once a sample."""
        if key not in self._repeatable:
            assert sample.answer is not None
            again = self._source.runner.run(sample.values, list(sample.answer))
            self._repeatable[key] = all(same_bits(v, again[k]) for k, v in sample.answer.items())
        return self._repeatable[key]

    def forget(self, key: Hashable) -> None:
        """Drop what is known of one sample."""
        self._repeatable.pop(key, None)
        self._found.pop(key, None)
        self._taken.pop(key, None)

    def release(self) -> None:
        """Close the shaken sessions; baselines stay."""
        self._runners.clear()


def nudged_inputs(values: Mapping[str, Any], seed: int) -> Mapping[str, Any]:
    """Inputs with every float moved by one unit in the last place; the same object when there is none."""
    rng = np.random.default_rng(seed)
    moved = {
        name: nudged(value, rng)
        for name, value in values.items()
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size
    }
    return {**values, **moved} if moved else values
