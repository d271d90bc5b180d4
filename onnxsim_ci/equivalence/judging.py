"""Turn differences into noise units and noise units into a state: clear, differs, or in between.

House: equivalence.
Touch: decision 0003 (thresholds); verdict.OutputEvidence prints what is collected here.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onnxsim_ci.equivalence.differences import Difference, difference
from onnxsim_ci.equivalence.noise import Baseline, Noise
from onnxsim_ci.equivalence.verdict import OutputEvidence
from onnxsim_ci.feeds import Sample

CLEAR_UNITS = 3.0
"""At most this: no further evidence is collected."""
EQUAL_UNITS = 10.0
"""At most this: the same function (largest of 337 true rewrites: 2.6)."""
DIFFERENT_UNITS = 30.0
"""More than this: another function."""
MOST_BASELINE = 1e-2
"""Relative L2 of the baseline above which ten units would allow visible errors."""
UNDISPUTED = 4.0
"""Machine epsilons of relative difference that nobody argues about."""


class State(enum.Enum):
    """Where a comparison stands."""

    CLEAR = "clear"
    EQUAL = "equal"
    BETWEEN = "between"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """A user's limits, which replace noise units."""

    rtol: float
    atol: float

    def holds(self, source: Any, other: Any) -> bool:
        """True when all floats are close, elementwise as numpy.allclose; structure is judged elsewhere."""
        if isinstance(source, list):
            return all(self.holds(a, b) for a, b in zip(source, other, strict=True))
        a = np.asarray(source)
        if a.dtype.kind not in "fV":
            return True
        a, b = a.astype(np.float64), np.asarray(other).astype(np.float64)
        return bool(np.allclose(b, a, rtol=self.rtol, atol=self.atol, equal_nan=True))


def noise_units(seen: Difference, baseline: Baseline) -> float:
    """L2 difference in units of what rounding does to the source.

    Args:
        seen: Difference of one output of one sample.
        baseline: What shakes did to the same output of the same sample.

    Returns: Ratio without unit; 0.0 for equal bits, infinity where the structure or exact values differ
        and no shake explains it. The unit is at least half a machine epsilon of the output's norm.

    Source: measured on 51 models with onnxruntime 1.32; decision 0003.
    """
    if seen.bits_equal:
        return 0.0
    if seen.structure:
        return 0.0 if baseline.unstable else math.inf
    exact = 0.0
    if seen.unequal:  # index flips: twice what the shakes flip is ten units
        exact = seen.unequal / baseline.unequal * EQUAL_UNITS / 2 if baseline.unequal else math.inf
    if seen.l2 == 0.0:
        return exact
    unit = max(baseline.l2, 0.5 * seen.eps * seen.norm)
    units = seen.l2 / unit if unit else math.inf
    if seen.relative_l2 <= UNDISPUTED * seen.eps:
        units = min(units, CLEAR_UNITS)
    return max(units, exact)


class Comparison:
    """One candidate against the source, sample by sample; shakes the source as far as needed."""

    def __init__(
        self,
        noise: Noise,
        tolerance: Tolerance | None,
        *,
        thorough: bool,
        explains: Callable[[Sample, str], bool] = lambda sample, name: False,
    ) -> None:
        """Nothing compared yet.

        Args:
            noise: Baselines of the source.
            tolerance: The user's limits, or None.
            thorough: Take every shake even when the answer is clear.
            explains: Says whether unequal integers of an output follow from equal floats.
        """
        self._noise, self._tolerance, self._thorough = noise, tolerance, thorough
        self._explains = explains
        self._explained: set[str] = set()
        self._rows: dict[str, list[tuple[float, Difference, Baseline, bool]]] = {}
        self.bits_equal = True
        self.repeatable = True
        self.samples = 0

    def add(self, key: Hashable, sample: Sample, answer: Mapping[str, Any]) -> State:
        """Compare one sample; returns the state of this sample alone."""
        assert sample.answer is not None
        self.samples += 1
        seen = {name: difference(value, answer[name]) for name, value in sample.answer.items()}
        if not all(each.bits_equal for each in seen.values()):
            if self.bits_equal:  # asked once here, and again before blame
                self.bits_equal = False
                self.repeatable = self._noise.repeatable(key, sample)
            while self._needs_more(key, seen) and self._noise.grow(key, sample):
                pass
        elif self._thorough:
            while self._noise.grow(key, sample):
                pass
        baselines = self._noise.of(key)
        worst = 0.0
        for name, each in seen.items():
            baseline = baselines.get(name, Baseline())
            units = noise_units(each, baseline)
            if each.unequal and units > CLEAR_UNITS and not each.structure and self._explains(sample, name):
                self._explained.add(name)
                units = 0.0
            holds = self._tolerance is None or self._tolerance.holds(sample.answer[name], answer[name])
            self._rows.setdefault(name, []).append((units, each, baseline, holds))
            worst = max(worst, self._counted(units, each, holds=holds))
        state = _state(worst)
        if state is State.DIFFERENT:
            self.repeatable = self.repeatable and self._noise.repeatable(key, sample)
        return state

    def _needs_more(self, key: Hashable, seen: Mapping[str, Difference]) -> bool:
        baselines = self._noise.of(key)
        units = [noise_units(each, baselines.get(name, Baseline())) for name, each in seen.items()]
        return self._thorough or not baselines or max(units) > CLEAR_UNITS

    def _counted(self, units: float, seen: Difference, *, holds: bool) -> float:
        """Units, or what the user's tolerance makes of them."""
        if self._tolerance is None or seen.structure or seen.unequal or not seen.floats:
            return units
        return 0.0 if holds else math.inf

    @property
    def worst(self) -> tuple[str | None, float]:
        """The output with most units, and how many."""
        units = {
            name: max(self._counted(u, seen, holds=holds) for u, seen, _, holds in rows)
            for name, rows in self._rows.items()
        }
        name = max(units, key=lambda key: units[key], default=None)
        return name, units[name] if name is not None else 0.0

    @property
    def state(self) -> State:
        """The state over all samples."""
        return _state(self.worst[1])

    def ill_conditioned(self) -> dict[int, str]:
        """Samples that are no evidence: rounding alone moves an output too much, and the result moved it.

        Returns: Position of the sample, and a sentence about the output.
        """
        found: dict[int, str] = {}
        for name, rows in self._rows.items():
            for position, (_, seen, baseline, _) in enumerate(rows):
                disputed = seen.relative_l2 > UNDISPUTED * seen.eps and not seen.structure
                if disputed and baseline.l2 > MOST_BASELINE * seen.norm:
                    share = baseline.l2 / seen.norm if seen.norm else 1.0
                    found.setdefault(position, f"rounding alone moves output {name!r} by {share:.1%}")
        return {} if self._tolerance is not None else found

    def same_bits_on(self, name: str) -> bool:
        """True when an output was bit for bit equal in every sample."""
        return all(seen.bits_equal for _, seen, _, _ in self._rows.get(name, ()))

    def explanation(self) -> str:
        """What is wrong with the worst output."""
        name, _ = self.worst
        if name is None:
            return "nothing was compared"
        units, seen, _, _ = max(self._rows[name], key=lambda row: row[0])
        if seen.structure:
            return f"output {name!r}: {seen.structure}"
        if seen.unequal:
            return f"output {name!r}: {seen.unequal} of {seen.count} values differ"
        scale = f"{units:.3g} noise units" if math.isfinite(units) else "rounding moves nothing there"
        return f"output {name!r}: {scale}, relative L2 {seen.relative_l2:.1e}"

    def rows(self) -> tuple[OutputEvidence, ...]:
        """Evidence, one row an output."""
        rows = [_row(name, rows) for name, rows in self._rows.items()]
        return tuple(
            replace(row, note="unequal values follow from floats that are equal within noise")
            if row.name in self._explained
            else row
            for row in rows
        )


def _state(units: float) -> State:
    if units <= CLEAR_UNITS:
        return State.CLEAR
    if units <= EQUAL_UNITS:
        return State.EQUAL
    return State.DIFFERENT if units > DIFFERENT_UNITS else State.BETWEEN


def _row(name: str, rows: list[tuple[float, Difference, Baseline, bool]]) -> OutputEvidence:
    units, seen, baseline, _ = max(rows, key=lambda row: row[0])
    floats = seen.floats and not seen.structure
    exact = not seen.floats and seen.count > 0
    return OutputEvidence(
        name=name,
        noise_units=_finite(units) if not seen.bits_equal else None,
        relative_l2=_finite(seen.relative_l2) if floats else None,
        max_abs=_finite(seen.max_abs) if floats else None,
        baseline_l2=_finite(baseline.l2 / seen.norm)
        if floats and not seen.bits_equal and seen.norm
        else None,
        unequal_ratio=seen.unequal / seen.count if exact else None,
        note=seen.structure
        or ("moved by rounding as well: " + baseline.unstable if baseline.unstable else ""),
    )


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
