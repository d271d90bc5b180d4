"""One model to work on, as plain values that travel to a child process; and the work itself.

House: fleet. May import api, report, policy and below.
Touch: onnxsim_ci/api, whose `optimize` does the work.
"""

import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onnxsim_ci.policy import Policy, format_bytes
from onnxsim_ci.report import ModelReport, VerdictReport, failed_entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One model.

    Attributes:
        path: The model, as the user named it; shown in the report.
        policy: Effective policy of this model.
        output: Where the result goes; None to write nothing.
        data: The model itself, when it came from standard input.
        save_repro: Folder for what shows a mismatch; None for none.
    """

    path: str
    policy: Policy
    output: Path | None = None
    data: bytes | None = None
    save_repro: Path | None = None


POLL_SECONDS = 0.1
"""How often the memory of children is read."""

Done = Callable[[int, ModelReport], None]
"""Called in the parent with index and entry of each finished model, in the order of the tasks."""

Worker = Callable[[Task], ModelReport]
"""Does one task; runs in the child."""


def work(task: Task) -> ModelReport:
    """Simplify one model in this process; an error becomes a failed entry, never an exception."""
    try:
        from onnxsim_ci.api import optimize

        model = task.path if task.data is None else task.data
        more: dict[str, Any] = {} if task.save_repro is None else {"save_repro": task.save_repro}
        result = optimize(model, policy=task.policy, output=task.output, **more)
    except MemoryError:
        return stopped_entry(task, "memory limit: the process ran out of memory")
    except Exception as error:  # a fault of ours on one model must not stop the others
        return failed_entry(task.path, error)
    entry: ModelReport = result.report.models[0]
    return entry.model_copy(update={"path": task.path})


def stopped_entry(task: Task, reason: str) -> ModelReport:
    """The entry of a model that was left as it is because of a limit."""
    verdict = VerdictReport(verdict="not run", reason=reason)
    return ModelReport(path=task.path, outcome="unproven", verdict=verdict)


def memory_entry(task: Task) -> ModelReport:
    """The entry of a model whose child took more memory than its policy allows."""
    limit = format_bytes(task.policy.limits.memory)
    return stopped_entry(task, f"memory limit: the child was stopped above {limit} (limits.memory)")


def sweep(task: Task) -> None:
    """Remove what a dead process left beside the task's output: temporary files, outdated data files."""
    if task.output is not None:
        from onnxsim_ci.model import remove_outdated
        from onnxsim_ci.model.temporary import remove_stale

        remove_stale(task.output)
        remove_outdated(task.output)


def died_entry(task: Task, code: int | None) -> ModelReport:
    """The entry of a model whose child did not come back: a crash of a library that works on it."""
    names = {-number.value: number.name for number in signal.Signals}
    how = names.get(code or 0, f"exit code {code}")
    return stopped_entry(task, f"crash: the process that worked on this model died ({how})")
