"""One model here, several in child processes.

House: fleet. May import fleet.pool when there is more than one model: the pool's library costs its import.
Touch: nothing else.
"""

import os
from collections.abc import Sequence

from onnxsim_ci.fleet.forked import is_possible, run_forked
from onnxsim_ci.fleet.memory import available_bytes
from onnxsim_ci.fleet.tasks import Done, Task, Worker, work
from onnxsim_ci.report import ModelReport

CHILD_BYTES = 256 << 20
"""What a child takes before it has read a model: the libraries, and a session or two."""

MODEL_TIMES = 3
"""Anonymous memory of a usual proof, in sizes of the model: weights are mapped, copies of a few are not."""


def default_jobs(count: int, need: int = CHILD_BYTES) -> int:
    """Workers for `count` models: one a processor, as far as the free memory holds `need` bytes for each."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    free = available_bytes()
    fitting = count if free is None else free // need
    return max(1, min(count, allowed, fitting))


def needed_bytes(tasks: Sequence[Task]) -> int:
    """Memory that the largest of the models is going to take, at most what its policy allows."""
    return max(min(CHILD_BYTES + MODEL_TIMES * _size(task), task.policy.limits.memory) for task in tasks)


def _size(task: Task) -> int:
    if task.data is not None:
        return len(task.data)
    try:
        return os.stat(task.path).st_size
    except (OSError, ValueError):
        return 0


def run_all(
    tasks: Sequence[Task], *, jobs: int | None = None, on_done: Done | None = None, worker: Worker = work
) -> list[ModelReport]:
    """Reports of all tasks, in their order.

    One task runs in a forked child where that is safe, else in this process: a new child costs its start.
    Several run in children, whatever `jobs` is.

    Args:
        tasks: The models.
        jobs: Most children at a time; None for one a processor, as far as memory goes.
        on_done: Told of each finished model.
        worker: What is done with one task; a module-level function.
    """
    if len(tasks) == 1:
        entries = [run_forked(tasks[0], worker) if is_possible() else worker(tasks[0])]
        if on_done is not None:
            on_done(0, entries[0])
        return entries
    from onnxsim_ci.fleet.pool import run_isolated

    return run_isolated(tasks, jobs or default_jobs(len(tasks), needed_bytes(tasks)), on_done, worker)
