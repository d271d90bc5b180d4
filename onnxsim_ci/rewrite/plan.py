"""What one run may do: the user's choice as plain frozen values.

House: rewrite. May import model.
Touch: `api.py` compiles a policy into this.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from onnxsim_ci.rewrite.contract import Level

FOLD_SLACK_BYTES = 4096
"""How much larger than what it frees one fold may be; the whole file is compared after saving."""


class ValueInfos(Enum):
    """What happens to the value_info of a model."""

    KEEP = "keep"
    """Entries of surviving values stay, unless facts contradict them."""
    ADD = "add"
    """As keep, and every proven shape is added."""
    STRIP = "strip"
    """All entries go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The part of a policy that the engine needs.

    Attributes:
        level: Rules above it stay off; None switches everything off.
        skip: Ids or families of rules that stay off; `fold-constants` and `merge-nodes` are ids too.
        extra: Ids of rules that are off by default and shall run.
        rounding: Whether ROUNDING rules run.
        signed_zero: Whether rules that lose the sign of zero run.
        fold: Whether constants are folded at all.
        fold_max_bytes: Largest tensor that a fold may make.
        fold_slack_bytes: Bytes that one fold may add beyond what it frees.
        fold_work: Elements that all folds of the run may read and write.
        subgraphs: Whether bodies of If, Loop, Scan and local functions are rewritten.
        keep: Names of values that must survive.
        value_info: What happens to the entries of inner values.
        limit: Apply only the first `limit` edits; None for all.
        visits: How often a node may be looked at on average before the run stops.
    """

    level: Level | None = Level.FUSION
    skip: frozenset[str] = frozenset()
    extra: frozenset[str] = frozenset()
    rounding: bool = True
    signed_zero: bool = False
    fold: bool = True
    fold_max_bytes: int = 64 << 20
    fold_slack_bytes: int = FOLD_SLACK_BYTES
    fold_work: int = 10_000_000_000
    subgraphs: bool = True
    keep: tuple[str, ...] = ()
    value_info: ValueInfos = ValueInfos.KEEP
    limit: int | None = None
    visits: int = 200
