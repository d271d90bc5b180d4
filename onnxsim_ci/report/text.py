"""The report as text on a terminal: a page for one model, a row a model for many.

House: report; the one renderer that imports rich. A pure function of the report.
Touch: golden files in tests/report (`GOLDEN_UPDATE=1 pytest tests/report`).
"""

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from onnxsim_ci.report import wording
from onnxsim_ci.report.model import Figures, ModelReport, Report

_VERDICT_STYLES = {
    "equivalent": "green",
    "differs": "bold red",
    "inconclusive": "yellow",
    "not run": "yellow",
}
_OUTCOME_STYLES = {"simplified": "green", "failed": "red", "differs": "bold red", "over budget": "red"}


def render_text(report: Report, console: Console, *, is_verbose: bool = False) -> None:
    """Print the report: one page for one model, else a table, the trouble, and a summary."""
    if len(report.models) == 1:
        console.print(page(report.models[0], is_verbose=is_verbose))
        return
    console.print(overview(report.models))
    for entry in report.models:
        trouble = [*_missing_proof(entry), *_trouble(entry)]
        if trouble:
            console.print(Text(entry.path, style="bold"))
            console.print(Padding(Group(*trouble), (0, 0, 0, 2), expand=False))
    console.print(summary(report.models))


def page(entry: ModelReport, *, is_verbose: bool = False) -> RenderableType:
    """Everything a person wants to know about one model."""
    parts: list[RenderableType] = [_headline(entry)]
    if entry.source is not None:
        parts.append(
            Padding(
                operator_table(entry.source, entry.result, is_verbose=is_verbose), (0, 0, 0, 2), expand=False
            )
        )
    if entry.failure is None and entry.outcome != "skipped":
        parts.append(_line("proof", wording.proof(entry.verdict), _VERDICT_STYLES[entry.verdict.verdict]))
    if entry.rules:
        parts.append(_rules(entry))
    parts += _trouble(entry)
    if entry.seconds:
        spent = ", ".join(f"{phase} {wording.duration(seconds)}" for phase, seconds in entry.seconds.items())
        parts.append(_line("time", spent, "dim"))
    return Group(*parts)


def overview(models: tuple[ModelReport, ...]) -> Table:
    """A row a model."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("model", overflow="fold", ratio=3)
    for name in ("nodes", "size"):
        table.add_column(name, justify="right", no_wrap=True)
        table.add_column("", justify="right", no_wrap=True)
    table.add_column("proof", no_wrap=True)
    table.add_column("outcome", no_wrap=True)
    for entry in models:
        table.add_row(
            escape(entry.path),
            *_moved("nodes", entry),
            *_moved("total_bytes", entry),
            _short_proof(entry),
            Text(wording.ending(entry), style=_OUTCOME_STYLES.get(entry.outcome, "")),
        )
    return table


def summary(models: tuple[ModelReport, ...]) -> Text:
    """One line over all models."""
    counts: dict[str, int] = {}
    for entry in models:
        counts[wording.ending(entry)] = counts.get(wording.ending(entry), 0) + 1
    pairs = [(entry.source, entry.result) for entry in models if entry.source and entry.result]
    nodes = sum(source.nodes for source, _ in pairs), sum(result.nodes for _, result in pairs)
    sizes = sum(source.total_bytes for source, _ in pairs), sum(result.total_bytes for _, result in pairs)
    words = ", ".join(f"{count} {ending}" for ending, count in counts.items())
    text = f"{wording.plural(len(models), 'model')}: {words}"
    if nodes[0]:
        text += f"; nodes {nodes[0]:,} to {nodes[1]:,} {wording.change(*nodes)}".rstrip()
        text += f"; size {wording.size(sizes[0])} to {wording.size(sizes[1])}"
        text += f" {wording.size_change(*sizes)}".rstrip()
    return Text(text, style="bold")


def _headline(entry: ModelReport) -> Text:
    text = Text(entry.path, style="bold")
    if entry.compared_with:
        text.append(f" and {entry.compared_with}")
    if entry.written and entry.written != entry.path:
        text.append(f" -> {entry.written}")
    text.append(f"  {wording.ending(entry)}", style=_OUTCOME_STYLES.get(entry.outcome, ""))
    if entry.preset:
        text.append(f"  (preset {entry.preset.partition(':')[0]})", style="dim")
    return text


def operator_table(source: Figures, result: Figures | None = None, *, is_verbose: bool = False) -> Table:
    """Operators with their counts, then the totals; with a result, changed operators first."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("operator")
    table.add_column("source", justify="right")
    if result is not None:
        table.add_column("result", justify="right")
        table.add_column("", justify="right")
    for name, *counts in _operator_rows(source, result, is_verbose=is_verbose):
        table.add_row(escape(name), *counts)
    _total(table, "nodes", source.nodes, result.nodes if result else None)
    _total(table, "parameters", source.parameters, result.parameters if result else None)
    _total(table, "initializers", source.initializers, result.initializers if result else None)
    cells = [wording.size(source.total_bytes)]
    if result is not None:
        cells += [
            wording.size(result.total_bytes),
            wording.size_change(source.total_bytes, result.total_bytes),
        ]
    table.add_row(*(Text(cell, style="bold") for cell in ("size", *cells)))
    return table


def _operator_rows(source: Figures, result: Figures | None, *, is_verbose: bool) -> list[list[str]]:
    """Changed operators, largest change first; the others as one row, or one by one when verbose."""
    if result is None:
        ordered = sorted(source.operators.items(), key=lambda item: (-item[1], item[0]))
        return [[name, f"{count:,}"] for name, count in ordered]
    names = sorted({*source.operators, *result.operators})
    pairs = [(name, source.operators.get(name, 0), result.operators.get(name, 0)) for name in names]
    changed = sorted(
        (pair for pair in pairs if pair[1] != pair[2]), key=lambda pair: (pair[2] - pair[1], pair[0])
    )
    same = sorted((pair for pair in pairs if pair[1] == pair[2]), key=lambda pair: (-pair[1], pair[0]))
    rows = [[name, f"{old:,}", f"{new:,}", f"{new - old:+,}"] for name, old, new in changed]
    if is_verbose:
        rows += [[name, f"{old:,}", f"{new:,}", ""] for name, old, new in same]
    elif same:
        count = f"{sum(old for _, old, _ in same):,}"
        rows.append([f"{len(same)} {'others' if changed else 'kinds'}, unchanged", count, count, ""])
    return rows


def _total(table: Table, name: str, source: int, result: int | None) -> None:
    cells = [name, f"{source:,}"]
    if result is not None:
        cells += [f"{result:,}", wording.change(source, result)]
    table.add_row(*(Text(cell, style="bold" if name == "nodes" else "") for cell in cells))


def _rules(entry: ModelReport) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    for index, use in enumerate(entry.rules):
        kind = use.result_class + (
            f", {use.machine_folds} computed by the runtime" if use.machine_folds else ""
        )
        label = f"  {'rules' if index == 0 else '':<9}"
        table.add_row(Text(label, style="dim"), f"{use.count:>5,} x", Text(use.rule), Text(kind, style="dim"))
    return table


def _missing_proof(entry: ModelReport) -> list[RenderableType]:
    if entry.outcome not in ("unproven", "differs"):
        return []
    return [_line("proof", wording.proof(entry.verdict), _VERDICT_STYLES[entry.verdict.verdict])]


def _trouble(entry: ModelReport) -> list[RenderableType]:
    """Lines that ask for attention: failures, broken gates, refusals, assumptions, warnings."""
    lines: list[RenderableType] = []
    if entry.failure is not None:
        lines.append(_line("error", entry.failure.message, "red"))
    for judgement in entry.judgements:
        if judgement.passed is False:
            name = judgement.gate if judgement.gate == judgement.key else f"{judgement.gate}.{judgement.key}"
            text = f"{name}: {judgement.value}, allowed is {judgement.limit}"
            text += f" ({judgement.origin})" if judgement.origin not in ("default", "policy") else ""
            lines.append(_line("gate", f"{text}; {judgement.hint}" if judgement.hint else text, "red"))
    lines += [_line("left out", f"{refusal.rule}: {refusal.reason}", "yellow") for refusal in entry.refusals]
    lines += [_line("assumed", assumption, "yellow") for assumption in entry.assumptions]
    lines += [_line("warning", warning, "yellow") for warning in entry.warnings]
    return lines


def _line(label: str, text: str, style: str) -> RenderableType:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=11, no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(f"  {label}", style="dim"), Text(text, style=style))
    return grid


def _moved(attribute: str, entry: ModelReport) -> tuple[str, str]:
    say = wording.size if attribute == "total_bytes" else "{:,}".format
    if entry.source is None:
        return "", ""
    source = getattr(entry.source, attribute)
    result = getattr(entry.result, attribute) if entry.result is not None else source
    if source == result:
        return say(source), ""
    changed = wording.size_change if attribute == "total_bytes" else wording.change
    return f"{say(source)} -> {say(result)}", changed(source, result)


def _short_proof(entry: ModelReport) -> Text:
    if entry.failure is not None or entry.outcome == "skipped":
        return Text("")
    verdict = entry.verdict
    return Text(verdict.basis or verdict.verdict, style=_VERDICT_STYLES[verdict.verdict])
