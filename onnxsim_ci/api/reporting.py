"""What a proven candidate means under a policy: is it kept, is it written, what does the report say.

House: api. May import report and policy.
Touch: `report/model.py` for the fields.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from onnx import ModelProto

from onnxsim_ci.report import (
    ModelReport,
    Refusal,
    Report,
    budget_judgements,
    build_report,
    figures,
    may_write,
    rule_uses,
    verdict_report,
)
from onnxsim_ci.report.model import Outcome
from onnxsim_ci.rewrite import Record

if TYPE_CHECKING:
    from onnxsim_ci.api.candidate import Source
    from onnxsim_ci.api.proving import Proven
    from onnxsim_ci.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What happens with a result.

    Attributes:
        outcome: Word of the report.
        is_kept: The result stands; otherwise the source does.
        may_write: It may go to the output.
    """

    outcome: Outcome
    is_kept: bool
    may_write: bool


def outcome_of(proven: Proven, policy: Policy) -> Decision:
    """Judge a result by its verdict and the budget."""
    candidate, verdict = proven.candidate, proven.verdict
    if not candidate.changed:
        return Decision(outcome="unchanged", is_kept=False, may_write=True)
    if verdict.verdict == "differs":
        return Decision(outcome="differs", is_kept=False, may_write=False)
    is_off = policy.verify.mode == "off"
    if verdict.verdict != "equivalent" and not is_off and policy.verify.mode != "best-effort":
        return Decision(outcome="unproven", is_kept=False, may_write=False)
    judged = budget_judgements(
        figures(candidate.source.statistics), figures(candidate.statistics), policy.budget
    )
    if not may_write(judged):
        return Decision(outcome="over budget", is_kept=False, may_write=False)
    return Decision(outcome="simplified", is_kept=True, may_write=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A model that is in its place.

    Attributes:
        path: The model.
        data_files: External data files that it names.
        added: Files that are new beside it.
        removed: Files beside it that it no longer needs, removed.
        warnings: What could not be kept.
    """

    path: Path
    data_files: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Everything that a report tells about one model.

    Attributes:
        path: The model as the caller named it; `-` for bytes and messages.
        known: Refusals of earlier runs that were kept to.
        written: Where the result is, and what lies beside it; None if nothing was written.
        seconds: By phase.
    """

    path: str
    source: Source
    proven: Proven
    known: tuple[tuple[str, str], ...]
    decision: Decision
    policy: Policy
    seconds: dict[str, float]
    written: Written | None = None


def describe(run: Run) -> Report:
    """The report of one model."""
    candidate = run.proven.candidate
    journal = candidate.outcome.journal
    refusals = dict.fromkeys((*run.known, *run.proven.refusals))
    entry = ModelReport(
        path=run.path,
        outcome=run.decision.outcome,
        written=None if run.written is None else str(run.written.path),
        data_files=run.source.data_files if run.written is None else run.written.data_files,
        added_files=() if run.written is None else run.written.added,
        removed_files=() if run.written is None else run.written.removed,
        warnings=() if run.written is None else run.written.warnings,
        source=figures(run.source.statistics),
        result=figures(candidate.statistics),
        verdict=verdict_report(run.proven.verdict),
        preset=run.policy.preset_sentence,
        assumptions=assumptions(journal.records),
        rules=rule_uses(journal.records),
        removed_names={name: journal.survivor_of(name) for name in journal.survivors},
        refusals=tuple(Refusal(rule=rule, reason=reason) for rule, reason in refusals),
        seconds=run.seconds,
    )
    return build_report([entry], policy=run.policy)


def name_of(model: str | os.PathLike[str] | bytes | ModelProto) -> str:
    """How a report names what the caller passed."""
    return os.fspath(model) if isinstance(model, (str, os.PathLike)) else "-"


def assumptions(records: Iterable[Record]) -> tuple[str, ...]:
    """Claims that rules relied on, out of the journal's sentences."""
    found: dict[str, None] = {}
    for record in records:
        _, mark, claim = record.why.partition("assumed: ")
        if mark:
            found[claim] = None
    return tuple(found)
