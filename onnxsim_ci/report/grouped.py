"""The report as text, by what came of the models: findings first, what is fine as one number.

House: report. May import rich, like the text renderer. A pure function of the report.
Touch: golden files in tests/report (`GOLDEN_UPDATE=1 pytest tests/report`).
"""

from collections.abc import Callable

from rich.console import Console
from rich.text import Text

from onnxsim_ci.report import wording
from onnxsim_ci.report.model import ModelReport, Report
from onnxsim_ci.report.text import summary

_GROUPS: tuple[tuple[str, str, Callable[[ModelReport], bool]], ...] = (
    ("failed", "red", lambda entry: entry.failure is not None),
    ("differs", "bold red", lambda entry: entry.outcome == "differs"),
    ("over budget", "red", lambda entry: bool(_broken(entry))),
    ("would be simplified", "yellow", lambda entry: entry.outcome == "simplified"),
    ("left alone", "yellow", lambda entry: entry.outcome == "unproven"),
    ("skipped", "dim", lambda entry: entry.outcome == "skipped"),
    ("fine", "green", lambda entry: True),
)
"""Title, style and test of each group; an entry belongs to the first that takes it."""

ALIGNED = 60
"""Longest name that the others are aligned to."""


def render_groups(report: Report, console: Console, *, is_verbose: bool = False) -> None:
    """Print a group a kind of outcome, a line a model; models that are fine only if asked for."""
    groups: dict[str, list[ModelReport]] = {title: [] for title, _, _ in _GROUPS}
    for entry in report.models:
        title = next(title for title, _, takes in _GROUPS if takes(entry))
        groups[title].append(entry)
    for title, style, _ in _GROUPS:
        entries = groups[title]
        if entries:
            console.print(Text(f"{title} ({len(entries)})", style=style))
            if title != "fine" or is_verbose:
                console.print(Text("\n".join(_lines(entries))), soft_wrap=True)
    console.print(summary(report.models) if report.models else Text("no model of the repository is included"))
    if groups["would be simplified"]:
        console.print(Text("run `onnxsim-ci simplify --in-place MODEL...`, or use the hook", style="dim"))


def _lines(entries: list[ModelReport]) -> list[str]:
    """A line a model, aligned where names have a usual length; not wrapped, so that logs can be searched."""
    width = max(min(len(entry.path), ALIGNED) for entry in entries)
    return [f"  {entry.path:<{width}}  {_what(entry)}".rstrip() for entry in entries]


def _what(entry: ModelReport) -> str:
    if entry.failure is not None:
        return entry.failure.message.removeprefix(f"{entry.path}: ")
    if entry.outcome == "skipped":
        return "; ".join(entry.warnings)
    if entry.outcome in ("differs", "unproven"):
        return wording.proof(entry.verdict)
    broken = _broken(entry)
    if broken:
        return "; ".join(broken)
    return _change(entry)


def _change(entry: ModelReport) -> str:
    source, result = entry.source, entry.result
    if source is None or result is None or entry.outcome != "simplified":
        return ""
    sizes = f"{wording.size(source.total_bytes)} -> {wording.size(result.total_bytes)}"
    return f"{source.nodes:,} -> {result.nodes:,} nodes, {sizes}"


def _broken(entry: ModelReport) -> list[str]:
    found = []
    for judgement in entry.judgements:
        if judgement.passed is False and judgement.gate == "budget":
            where = f" ({judgement.origin})" if judgement.origin not in ("default", "policy") else ""
            found.append(f"{judgement.key}: {judgement.value}, allowed is {judgement.limit}{where}")
    return found
