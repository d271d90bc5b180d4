"""What simplify and check share: resolve each model's policy, run the fleet, judge, print, exit.

House: cli. May import fleet, report, policy.
Touch: cli/simplify.py and cli/check.py.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from onnxsim_ci.cli.options import Choice, Output
from onnxsim_ci.cli.sources import Source
from onnxsim_ci.errors import BadInput, BadPolicy, ExitCode, LfsPointer, shown, worst
from onnxsim_ci.fleet import Done, Task, run_all
from onnxsim_ci.policy import Resolved
from onnxsim_ci.report import (
    ModelReport,
    Report,
    build_report,
    exit_code,
    failed_entry,
    judge,
    render_json,
    skipped_entry,
)
from onnxsim_ci.report.trouble import print_fault_text
from onnxsim_ci.vcs import DamagedPointer

Command = Literal["simplify", "check"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run over several models.

    Attributes:
        command: Which gates and exit codes apply.
        choice: Where policies come from.
        output: How to print.
        jobs: Most children at a time.
        requires_content: A git-LFS pointer is an error wherever it was found.
        save_repro: Folder for what shows a mismatch.
    """

    command: Command
    choice: Choice
    output: Output
    jobs: int | None = None
    requires_content: bool = False
    save_repro: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A run that is over: the report, and the policy of each model."""

    report: Report
    resolved: tuple[Resolved, ...]
    code: ExitCode


def run_models(job: Job, sources: Sequence[Source], outputs: Sequence[Path | None]) -> Finished:
    """Work on all sources; entries stand in their order.

    Raises:
        BadPolicy: With the mistakes of all policies, before any model is touched.
    """
    resolved = _policies(job, sources)
    entries: dict[int, ModelReport] = {}
    tasks: dict[int, Task] = {}
    for index, source in enumerate(sources):
        if source.pointer is not None:
            entries[index] = _pointer(source, requires_content=job.requires_content)
        else:
            tasks[index] = Task(
                path=source.path,
                policy=resolved[index].policy,
                output=outputs[index],
                data=sys.stdin.buffer.read() if source.path == "-" else None,
                save_repro=job.save_repro,
            )
    with _progress(job.output, list(tasks.values())) as on_done:
        done = run_all(list(tasks.values()), jobs=job.jobs, on_done=on_done) if tasks else []
    for index, entry in zip(tasks, done, strict=True):
        found = resolved[index]
        entries[index] = judge(entry, found.policy, found.origin, command=job.command)
    ordered = [entries[index] for index in range(len(sources))]
    policies = [found.policy for found in resolved]
    is_one = bool(policies) and all(policy == policies[0] for policy in policies)
    return Finished(
        report=build_report(ordered, policy=policies[0] if is_one else None),
        resolved=tuple(resolved),
        code=worst(exit_code(entry, command=job.command) for entry in ordered),
    )


def print_report(report: Report, output: Output, *, is_stderr: bool = False) -> None:
    """The report as the user wants it; faults of ours in full on stderr."""
    stream = sys.stderr if is_stderr else sys.stdout
    if output.is_json:
        stream.write(render_json(report))
    elif len(report.models) == 1 and report.models[0].failure is not None:
        _print_failures(report)
    elif not output.is_quiet:
        from onnxsim_ci.report.grouped import render_groups
        from onnxsim_ci.report.text import render_text

        render = render_groups if output.is_grouped and len(report.models) != 1 else render_text
        render(report, output.console(is_stderr=is_stderr), is_verbose=output.is_verbose)
    else:
        _print_failures(report)
    for entry in report.models:
        if entry.failure is not None and entry.failure.traceback:
            print_fault_text(entry.failure.message, entry.failure.traceback)


def _print_failures(report: Report) -> None:
    for entry in report.models:
        if entry.failure is not None and not entry.failure.traceback:
            sys.stderr.write(f"error[{entry.failure.code}]: {shown(entry.failure.message)}\n")


def _policies(job: Job, sources: Sequence[Source]) -> list[Resolved]:
    problems: dict[str, None] = {}
    found = []
    for source in sources:
        try:
            found.append(job.choice.resolve(source.path))
        except BadPolicy as mistake:
            problems.update(dict.fromkeys(str(mistake).splitlines()))
    if problems:
        raise BadPolicy("mistakes in the policy", problems=tuple(problems))
    return found


def _pointer(source: Source, *, requires_content: bool) -> ModelReport:
    if isinstance(source.pointer, DamagedPointer):
        reason = f"is a damaged git-LFS pointer: {source.pointer.reason}"
        return failed_entry(source.path, BadInput(reason, where=source.path))
    if requires_content:
        error = LfsPointer(
            "is a git-LFS pointer", where=source.path, hint="`git lfs pull` fetches the content"
        )
        return failed_entry(source.path, error)
    return skipped_entry(source.path, "a git-LFS pointer; `git lfs pull` fetches the content")


@contextmanager
def _progress(output: Output, tasks: Sequence[Task]) -> Iterator[Done | None]:
    """A progress bar on stderr while several models are worked on, for people at a terminal."""
    if not output.shows_progress or len(tasks) < 2:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=output.console(is_stderr=True), transient=True) as bar:
        line = bar.add_task("", total=len(tasks))

        def advance(index: int, _: ModelReport) -> None:
            following = tasks[index + 1].path if index + 1 < len(tasks) else ""
            bar.update(line, advance=1, description=following)

        yield advance
