"""Compare source and result inside the model, at the values that ROUNDING edits produced.

An error may hide behind what follows it: a channel that a Relu silences, a saturated sigmoid, an arg-max.
The value that an edit produced keeps its name, so both models can be asked for it directly. There an error
of 1 % in one of 512 channels is 4e-4 of the norm, thousands of noise units.

House: equivalence.
Touch: Edits.rounding_outputs promises that equal names mean the same quantity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx

from onnxsim_ci.equivalence.bench import Subject
from onnxsim_ci.equivalence.flow import Flow
from onnxsim_ci.equivalence.judging import Comparison, State
from onnxsim_ci.equivalence.power import Power
from onnxsim_ci.equivalence.source_side import SourceSide
from onnxsim_ci.equivalence.verdict import OutputEvidence
from onnxsim_ci.feeds import Sample
from onnxsim_ci.runtime import RunFailure

_FIRST_GROUP = 8
"""Values fetched by the first run; how large they are decides how many the next run fetches."""
_GROUP_BYTES = 48 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """What was seen inside."""

    state: State
    explanation: str = ""
    """What is wrong with the worst value."""
    covered: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()
    doubt: str | None = None
    """Why the covered values are no proof by themselves: ill-conditioned, or planted errors not caught."""
    power: Power | None = None
    rows: tuple[OutputEvidence, ...] = ()


def shared_values(source: onnx.ModelProto, result: onnx.ModelProto, names: Sequence[str]) -> list[str]:
    """The names that are inner values of the top scope of both models, in order."""
    common = _inner(source) & _inner(result)
    return [name for name in dict.fromkeys(names) if name in common]


def _inner(model: onnx.ModelProto) -> set[str]:
    produced = {name for node in model.graph.node for name in node.output if name}
    return produced - {value.name for value in model.graph.output}


class Insider:
    """Looks inside one candidate; both subjects must already observe the shared values."""

    def __init__(self, side: SourceSide, result: Subject, shared: list[str], edited: Sequence[str]) -> None:
        """Nothing is run yet; `edited` are all values of ROUNDING edits, `shared` those in both models."""
        self._side, self._result = side, result
        self._shared = shared
        self._edited = list(dict.fromkeys(edited))

    def _uncovered(self, incomparable: set[str]) -> tuple[str, ...]:
        """Values of edits from which an output can be reached past every value that was compared."""
        flow = Flow(self._result.model)
        gates = set(self._shared) - incomparable
        return tuple(name for name in self._edited if flow.escapes(name, gates))

    def look(self, samples: Sequence[Sample], *, power: bool) -> Inside:
        """Compare at all shared values on these samples; `power` plants errors as well."""
        comparison = Comparison(self._side.noise, None, thorough=False)
        incomparable: set[str] = set()
        strength: Power | None = None
        for sample in samples:
            for key, whole, answer in self._parts(sample):
                part = _comparable(whole, answer, incomparable)
                if comparison.add(key, part, answer) is State.DIFFERENT and comparison.repeatable:
                    return self._different(comparison)
                if power and strength is None:
                    strength = self._power(key, part)
                self._side.noise.forget(key)
        covered = tuple(name for name in self._shared if name not in incomparable)
        return Inside(
            state=comparison.state if comparison.repeatable else State.BETWEEN,
            explanation=_inner_words(comparison.explanation()),
            covered=covered,
            uncovered=self._uncovered(incomparable),
            doubt=next(iter(comparison.ill_conditioned().values()), None) or _weak(strength),
            power=strength,
            rows=comparison.rows(),
        )

    def _different(self, comparison: Comparison) -> Inside:
        words = _inner_words(comparison.explanation())
        return Inside(state=State.DIFFERENT, explanation=words, rows=comparison.rows())

    def _parts(self, sample: Sample) -> Iterator[tuple[tuple[Any, ...], Sample, dict[str, Any]]]:
        """The sample with the source's and the result's inner values, a bounded group of values at a time."""
        left, size = list(self._shared), _FIRST_GROUP
        while left:
            group, left = left[:size], left[size:]
            try:
                mine = self._side.subject.runner.run(sample.values, group)
                other = self._result.runner.run(sample.values, group)
            except RunFailure:
                return
            total = sum(_bytes(value) for value in mine.values())
            size = max(1, len(group) * _GROUP_BYTES // max(total, 1))
            yield ("inside", sample.seed, tuple(group)), replace(sample, answer=mine), other

    def _power(self, key: tuple[Any, ...], part: Sample) -> Power:
        watched = set(part.answer or ())
        constants = self._side.planter.candidates(self._side.flow.ancestors(watched))
        return self._side.planter.check(constants, [(key, part)], watched, strict=False)


def _comparable(part: Sample, answer: dict[str, Any], incomparable: set[str]) -> Sample:
    """The part without values whose shape or dtype differ: there the names do not mean the same."""
    kept = {}
    for name, value in (part.answer or {}).items():
        other = answer[name]
        if _form(value) == _form(other):
            kept[name] = value
        else:
            incomparable.add(name)
    return replace(part, answer=kept)


def _weak(power: Power | None) -> str | None:
    if power is None or power.enough:
        return None
    return f"inside the model {power.caught} of {power.planted} planted errors were caught"


def _form(value: Any) -> tuple[Any, ...] | type:
    """Shape and dtype of a tensor, the Python type of anything else."""
    return (value.shape, value.dtype) if isinstance(value, np.ndarray) else type(value)


def _bytes(value: Any) -> int:
    return int(value.nbytes) if isinstance(value, np.ndarray) else 0


def _inner_words(text: str) -> str:
    return text.replace("output ", "inner value ", 1)
