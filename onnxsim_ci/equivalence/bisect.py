"""Find the edit that is to blame, by proving results with fewer edits.

House: equivalence; knows neither journal nor rules: a caller builds the result of the first k edits.
Touch: api's quarantine and `--save-repro` read `Culprit`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from onnxsim_ci.equivalence.verdict import Verdict

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Culprit:
    """Where results stop being equivalent."""

    index: int | None
    """Position of the edit in the journal, from 0; None: no single edit is to blame."""
    verdict: Verdict | None
    """Verdict on the result that ends with that edit; None: no result failed again."""
    reason: str
    reruns: int


def find_culprit(
    count: int,
    build: Callable[[int], T],
    judge: Callable[[T], Verdict],
    *,
    failing: frozenset[str] = frozenset({"differs"}),
) -> Culprit:
    """The first edit with which the result fails, while it passes without it.

    Args:
        count: Edits in the journal; the result of all of them has failed.
        build: The result of the first k edits, 0 <= k <= count (an image, or whatever `judge` takes); 0 is
            the source as the engine writes it.
        judge: A proof of such a result against the source, for example `Prover.judge`.
        failing: Verdicts that count as failed. Give the verdict of the whole result.

    Returns: The culprit after at most ceil(log2(count)) + 2 re-runs. "Several edits together" when the
        verdicts are not those of one faulty edit: the end does not fail again, or the beginning fails.
    """
    verdicts: dict[int, Verdict] = {}

    def fails(k: int) -> bool:
        verdicts[k] = judge(build(k))
        return verdicts[k].verdict in failing

    low, high = 0, count  # low passes, high fails
    while high - low > 1:
        middle = (low + high) // 2
        if fails(middle):
            high = middle
        else:
            low = middle
    if low not in verdicts and fails(low):
        return Culprit(index=None, verdict=verdicts[low], reason=_SEVERAL, reruns=len(verdicts))
    if high not in verdicts and not fails(high):
        return Culprit(index=None, verdict=None, reason=_SEVERAL, reruns=len(verdicts))
    assert len(verdicts) <= math.ceil(math.log2(max(count, 1))) + 2
    reason = f"results pass up to edit {high - 1} and fail from edit {high} on (of {count})"
    return Culprit(index=high - 1, verdict=verdicts[high], reason=reason, reruns=len(verdicts))


_SEVERAL = "several edits together: no single edit makes the difference"
