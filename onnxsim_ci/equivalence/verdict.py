"""What a proof is asked and what it answers.

House: equivalence; frozen values, standard library and runtime's image only.
Touch: report carries `Verdict` on the wire: a new field needs a schema version; decision 0003 for numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from onnxsim_ci.runtime import ModelImage

Outcome = Literal["equivalent", "differs", "inconclusive", "not run"]
Basis = Literal["digest", "exact", "samples", "islands"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputEvidence:
    """The worst that was seen on one output, over all samples."""

    name: str
    noise_units: float | None
    """L2 difference in units of what rounding does to the source; None: bits equal, or no floats."""
    relative_l2: float | None
    """L2 difference over the L2 norm of the source's output; None: no floats."""
    max_abs: float | None
    baseline_l2: float | None
    """What rounding does to the source, relative; None: it was not needed, the bits were equal."""
    unequal_ratio: float | None = None
    """Share of unequal integers, booleans or strings; None: floats."""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Enough to repeat the proof and to judge how much it is worth."""

    samples: int = 0
    """Ordinary samples compared."""
    sizes: tuple[tuple[tuple[str, int], ...], ...] = ()
    profiles: tuple[str, ...] = ()
    seed: int = 0
    notes: tuple[str, ...] = ()
    """What samples were special: equalities broken, files read; what was not covered."""
    hazards: tuple[str, ...] = ()
    """Hazard samples that agreed bit for bit."""
    worst_output: str | None = None
    noise_units: float | None = None
    outputs: tuple[OutputEvidence, ...] = ()
    caught: int = 0
    """Planted errors that the same samples and thresholds called `differs`."""
    planted: int = 0
    covered: tuple[str, ...] = ()
    """Values inside the model at which islands were compared."""
    uncovered: tuple[str, ...] = ()
    """Values that a ROUNDING edit produced and no island reached."""
    runs: int = 0
    sessions: int = 0
    seconds: float = 0.0
    versions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer of a proof; `reason` is a sentence, `basis` is None unless equivalent."""

    verdict: Outcome
    basis: Basis | None = None
    reason: str
    evidence: Evidence = field(default_factory=Evidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofSettings:
    """What the user decided about proof."""

    samples: int = 6
    """At most this many ordinary samples; three suffice when they are clear."""
    seed: int = 0
    shapes: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    data: str | Sequence[str] | None = None
    hints: Mapping[str, Any] = field(default_factory=dict)
    """As `feeds.FeedRequest.hints`."""
    rtol: float | None = None
    """With `atol`: replaces noise units; None: noise units decide."""
    atol: float | None = None
    symbol_values: int = 2
    baseline: Literal["auto", "full", "inputs"] = "auto"
    """What is nudged to measure rounding: `auto` leaves weights above 256 MiB alone, `inputs` all weights."""
    timeout_seconds: float | None = 300.0
    strict: bool = False
    """Use all samples and the whole baseline even when three samples are clear."""
    hazards: frozenset[str] = frozenset()
    """Hazard samples run for information when there is no journal."""
    interface_changes: frozenset[str] = frozenset()
    """Differences of the interface that were ordered: see `interface.ASPECTS`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """What a journal says about a result, as far as a proof needs it."""

    all_exact: bool
    rounding_outputs: tuple[str, ...] = ()
    """Names of result values that ROUNDING edits produced; a value of the same name in the source is the
    same quantity."""
    hazards: frozenset[str] = frozenset()
    """Special inputs that the rules which fired name."""
    intermediate: ModelImage | None = None
    """The model after the EXACT pass; None: hazards cannot decide, unless every edit is EXACT."""
