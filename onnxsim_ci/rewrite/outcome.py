"""What a run of the driver did.

House: rewrite. May import the journal.
Touch: `driver.py` fills it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from onnxsim_ci.rewrite.journal import Journal


class StopReason(Enum):
    """Why a run ended."""

    FIXPOINT = "fixpoint"
    LIMIT = "limit"
    VISITS = "visits"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run did.

    Attributes:
        journal: Every edit in order.
        changed: The graph differs from what it was.
        visits: Nodes looked at, counted each time.
        stop: Why it ended.
        problem: What strict shape inference said against the source; None when nothing.
    """

    journal: Journal
    changed: bool
    visits: int
    stop: StopReason
    problem: str | None
