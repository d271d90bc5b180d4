"""How figures and verdicts are said: sizes, counts, changes, the proof in one line.

House: report. Plain functions of the report model; every renderer for people uses them.
Touch: golden files in tests/report when a wording changes.
"""

from onnxsim_ci.report.model import ModelReport, VerdictReport

_SIZES = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


def size(count: int) -> str:
    """Bytes with one decimal in the largest binary unit, such as `97.8 MiB`."""
    for unit, scale in _SIZES:
        if abs(count) >= scale:
            return f"{count / scale:,.1f} {unit}"
    return f"{count} B"


def change(source: int, result: int) -> str:
    """Difference as percent, such as `-29.9 %`; empty if nothing changed."""
    if source == result:
        return ""
    if source == 0:
        return f"{result:+,}"
    percent = 100 * (result - source) / source
    return f"{percent:+.1f} %" if abs(percent) >= 0.05 else f"{result - source:+,}"


def size_change(source: int, result: int) -> str:
    """As `change`, with the difference in bytes where a percentage would say nothing."""
    if source and 0 < abs(100 * (result - source) / source) < 0.05:
        return ("-" if result < source else "+") + size(abs(result - source))
    return change(source, result)


def duration(seconds: float) -> str:
    """Seconds with sensible digits, such as `0.04 s`, `12.3 s`, `3 min 5 s`."""
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"


def plural(count: int, noun: str) -> str:
    """The count with its noun, such as `1 node`, `2 nodes`, `2 entries`."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun[:-1]}ies" if noun.endswith("y") else f"{count:,} {noun}s"


def proof(verdict: VerdictReport) -> str:
    """The verdict in one line: what, by which basis, from how much evidence, or why not."""
    if verdict.verdict != "equivalent":
        return f"{verdict.verdict}: {verdict.reason}" if verdict.reason else verdict.verdict
    basis = {
        "digest": "the same graph",
        "exact": "every rewrite keeps all bits",
        "samples": "compared on samples",
        "islands": "compared in the parts that can run",
    }
    parts = [basis[verdict.basis] if verdict.basis else verdict.reason]
    parts += _evidence(verdict)
    return f"equivalent ({verdict.basis or 'unknown basis'}): " + ", ".join(part for part in parts if part)


def _evidence(verdict: VerdictReport) -> list[str]:
    evidence, parts = verdict.evidence, []
    if evidence.samples:
        parts.append(plural(evidence.samples, "sample"))
    if evidence.hazards:
        parts.append(plural(len(evidence.hazards), "hazard sample"))
    if evidence.noise_units:
        parts.append(f"output {evidence.worst_output!r} at {evidence.noise_units:.2g} noise units of 10")
    elif evidence.samples and all(
        not output.max_abs and not output.unequal_ratio for output in evidence.outputs
    ):
        parts.append("all bits equal")
    if evidence.planted:
        parts.append(f"{evidence.caught} of {evidence.planted} planted faults seen")
    if evidence.uncovered:
        parts.append(f"{plural(len(evidence.uncovered), 'value')} not covered")
    return parts


def ending(entry: ModelReport) -> str:
    """What happened to the model, in a few words."""
    if entry.failure is not None:
        return "failed"
    if entry.outcome == "simplified":
        return "written" if entry.written else "would be simplified"
    return entry.outcome
