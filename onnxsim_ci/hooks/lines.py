"""What the hook says about one model: one line.

House: hooks. May import report, policy.
Touch: integrations/pre-commit/README.md shows these lines.
"""

from dataclasses import dataclass
from typing import Literal

from onnxsim_ci.errors import ExitCode, shown
from onnxsim_ci.policy import Verify
from onnxsim_ci.report import ModelReport, exit_code, wording


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A finished model.

    Attributes:
        kind: What happened, for the summary.
        code: Exit code of this model.
        line: What is said; empty for a clean file.
        is_unread: Nothing is known about the model: its child was stopped, or died.
    """

    kind: Literal["rewritten", "would change", "clean", "left alone", "refused", "failed"]
    code: ExitCode
    line: str
    is_unread: bool = False

    @property
    def is_kept(self) -> bool:
        """Whether the answer holds until something changes: nothing was written and nothing went wrong."""
        return self.kind in ("clean", "left alone")


def said(name: str, entry: ModelReport, verify: Verify, *, was_written: bool, is_check: bool) -> Said:
    """What to say about a judged entry.

    Args:
        name: The model, relative to the root.
        entry: With the judgements of `check`.
        verify: How the policy wants it proven: whether what is not is a finding.
        was_written: The file has other bytes now.
        is_check: Nothing may be written.
    """
    code, head = exit_code(entry, command="check"), shown(name)
    if entry.failure is not None:
        return Said(
            kind="failed", code=code, line=f"{head}: {shown(entry.failure.message.removeprefix(f'{name}: '))}"
        )
    if entry.outcome in ("unproven", "differs"):
        if entry.outcome == "differs":
            code = ExitCode.CHANGES if verify.strict or verify.on_mismatch == "fail" else ExitCode.FINE
        line = f"{head}: left alone, {shown(wording.proof(entry.verdict))}"
        return Said(
            kind="left alone", code=code, line=line, is_unread=entry.source is None and not entry.data_files
        )
    broken = "; ".join(_gate(entry))
    if was_written:
        more = f"; {broken}" if broken else ""
        is_ours = entry.outcome != "unchanged"
        what = _change(entry) if is_ours else "was written by another process meanwhile"
        return Said(kind="rewritten", code=ExitCode.CHANGES, line=f"{head}: {what}{more}")
    if entry.outcome == "simplified" and is_check and not broken:
        if code is ExitCode.FINE:
            return Said(kind="clean", code=code, line="")
        return Said(kind="would change", code=code, line=f"{head}: would become {_change(entry)}")
    if broken:
        left = "not written, " if entry.outcome == "over budget" else ""
        return Said(kind="refused", code=ExitCode.CHANGES, line=f"{head}: {left}{broken}")
    return Said(kind="clean", code=ExitCode.FINE, line="")


def overrides(name: str, entry: ModelReport) -> list[str]:
    """Policy lines that keep the entry's refused rules out, so that a fresh clone writes the same bytes."""
    from onnxsim_ci.policy.toml_text import refusal_override

    rules = tuple(refusal.rule for refusal in entry.refusals)
    text = refusal_override(f"/{name}", rules)
    return ["to keep these rules out everywhere, commit to the policy:", *text.splitlines()] if rules else []


def _change(entry: ModelReport) -> str:
    """`312 → 187 nodes, 12.4 → 12.1 MiB, proven (samples, 6)`."""
    source, result = entry.source, entry.result
    assert source is not None
    assert result is not None
    nodes = f"{source.nodes:,} → {result.nodes:,} nodes"
    old, new = wording.size(source.total_bytes), wording.size(result.total_bytes)
    unit = old.rpartition(" ")[2]
    sizes = f"{old.rpartition(' ')[0]} → {new}" if new.endswith(f" {unit}") else f"{old} → {new}"
    return f"{nodes}, {sizes}, {_proof(entry)}"


def _proof(entry: ModelReport) -> str:
    verdict = entry.verdict
    if verdict.verdict != "equivalent":
        return f"not proven ({verdict.verdict})"
    samples = f", {verdict.evidence.samples}" if verdict.evidence.samples else ""
    return f"proven ({verdict.basis}{samples})"


def _gate(entry: ModelReport) -> list[str]:
    found = []
    for judgement in entry.judgements:
        if judgement.passed is False and judgement.gate == "budget":
            where = f" ({judgement.origin})" if judgement.origin not in ("default", "policy") else ""
            found.append(f"budget.{judgement.key} is {judgement.value}, allowed is {judgement.limit}{where}")
    return found
