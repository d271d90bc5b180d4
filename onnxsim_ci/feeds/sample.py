"""Values that pass between the makers of inputs and their readers.

House: feeds; standard library and runtime's failures.
Touch: equivalence/evidence reads profile, sizes and seed; the report prints them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from onnxsim_ci.runtime import RunFailure

Value = Any


class Runner(Protocol):
    """Anything that runs the source: a runtime session, or the reference evaluator."""

    def run(
        self,
        feeds: Mapping[str, Value],
        outputs: Sequence[str] | None = None,
        *,
        seconds: float | None = None,
    ) -> dict[str, Value]:
        """Outputs by name; raises RunFailure."""

    def run_isolated(
        self, feeds: Sequence[Mapping[str, Value]], outputs: Sequence[str], *, seconds: float | None = None
    ) -> list[dict[str, Value] | RunFailure]:
        """Answers to inputs that may end the process, or the failure in their place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One complete set of inputs."""

    values: Mapping[str, Value]
    profile: str
    """Distribution of the float inputs, `user data`, or the name of a hazard."""
    sizes: tuple[tuple[str, int], ...] = ()
    """Sizes chosen for the free dimensions, symbol by symbol."""
    seed: tuple[int, int] = (0, 0)
    """Seed of numpy's default_rng that made it: (seed of the request, number of the sample)."""
    answer: Mapping[str, Value] | None = None
    """What the source returned when the sample was tried; None: not run yet."""
    note: str = ""
    """What is special: the equality it breaks, the file it came from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feeds:
    """Samples that the source accepted (or, past the first, is expected to accept)."""

    samples: tuple[Sample, ...]
    trials: int = 0
    """Runs of the source that the search took."""
    seconds: float = 0.0
    run_seconds: float = 0.0
    """Duration of one accepted run; 0.0 when none was."""
    failures: tuple[str, ...] = ()
    """What the source said to refused inputs, each text once, at most eight."""
    reason: str | None = None
    """Why there are no samples, as a sentence; None when there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedRequest:
    """How many inputs, and what the user said about them."""

    samples: int = 6
    seed: int = 0
    shapes: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """Input name to one shape or a list of shapes; -1 leaves an axis free."""
    data: str | Sequence[str] | None = None
    """Files (`.npz`) or folders (`.npy` files, or `input_0.pb`, `input_1.pb`, …); globs are allowed."""
    hints: Mapping[str, Any] = field(default_factory=dict)
    """`dims`: list of {symbol or "input@axis": size}; `inputs`: {name: hint}, where a hint may hold value,
    low, high, kind ("ones", "arange"), scale, shape."""
    symbol_values: int = 2
    """Sizes tried for each free dimension."""
    max_bytes: int = 256 << 20
    """Limit on the inputs of one sample, checked before they are allocated."""
    seconds: float = 60.0
    """Time for the whole search."""
    run_seconds: float = 10.0
    """A trial that takes longer is stopped and counts as refused."""
