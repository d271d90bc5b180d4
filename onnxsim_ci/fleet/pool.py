"""Many models over isolated child processes: one model a task, a dead worker costs one file.

The parent polls the anonymous memory of each child and stops the one that is over its policy's limit.

House: fleet. May import pebble, report, errors.
Touch: `Task.policy.limits.memory` and `verify.timeout` are the limits.
"""

import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager, suppress
from pathlib import Path

from pebble import ProcessExpired, ProcessPool

from onnxsim_ci.fleet.memory import anonymous_bytes
from onnxsim_ci.fleet.tasks import (
    POLL_SECONDS,
    Done,
    Task,
    Worker,
    died_entry,
    memory_entry,
    stopped_entry,
    sweep,
)
from onnxsim_ci.report import ModelReport

SAFE_PATH_VARIABLE = "PYTHONSAFEPATH"
SPARE_SECONDS = 600.0
"""What one model may take beyond the limit of its proof; past it the child is stopped."""


def run_isolated(tasks: Sequence[Task], jobs: int, on_done: Done | None, worker: Worker) -> list[ModelReport]:
    """Reports of all tasks, in their order, each made in a child process."""
    entries: list[ModelReport] = []
    with tempfile.TemporaryDirectory(prefix="onnxsim-ci-") as folder:
        watch = _MemoryWatch(Path(folder), tasks)
        context = multiprocessing.get_context("spawn")
        pool = ProcessPool(max_workers=jobs, context=context)
        try:
            with _safe_path(), watch.watching():
                futures = [
                    pool.schedule(
                        _work_in_child,
                        args=(worker, task, Path(folder) / str(index)),
                        timeout=task.policy.verify.timeout + SPARE_SECONDS,
                    )
                    for index, task in enumerate(tasks)
                ]
                for index, future in enumerate(futures):
                    try:
                        entry = future.result()
                    except (ProcessExpired, FutureTimeout) as ending:
                        entry = _ended(tasks[index], ending, is_over_memory=index in watch.stopped)
                    entries.append(entry)
                    if on_done is not None:
                        on_done(index, entry)
            pool.close()
        except BaseException:
            pool.stop()
            raise
        finally:
            pool.join()
            for task in tasks:
                sweep(task)
    return entries


@contextmanager
def _safe_path() -> Iterator[None]:
    """Children start as `python -c`, which imports from the current folder: planted modules would run."""
    before = os.environ.get(SAFE_PATH_VARIABLE)
    os.environ[SAFE_PATH_VARIABLE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE_PATH_VARIABLE]
        else:
            os.environ[SAFE_PATH_VARIABLE] = before


def _work_in_child(worker: Worker, task: Task, note: Path) -> ModelReport:
    note.write_text(str(os.getpid()), encoding="ascii")
    try:
        return worker(task)
    finally:
        note.unlink(missing_ok=True)


def _ended(task: Task, ending: BaseException, *, is_over_memory: bool) -> ModelReport:
    """The entry of a model whose child did not come back."""
    if is_over_memory:
        return memory_entry(task)
    if isinstance(ending, FutureTimeout):
        seconds = task.policy.verify.timeout + SPARE_SECONDS
        return stopped_entry(task, f"time limit: the child was stopped after {seconds:g} s")
    return died_entry(task, getattr(ending, "exitcode", None))


class _MemoryWatch:
    """A thread that reads the children's memory; `stopped` holds the indices of tasks it ended."""

    def __init__(self, notes: Path, tasks: Sequence[Task]) -> None:
        self.notes = notes
        self.limits = [task.policy.limits.memory for task in tasks]
        self.stopped: set[int] = set()
        self._end = threading.Event()

    @contextmanager
    def watching(self) -> Iterator[None]:
        thread = threading.Thread(target=self._poll, daemon=True, name="memory-watch")
        thread.start()
        try:
            yield
        finally:
            self._end.set()
            thread.join()

    def _poll(self) -> None:
        while not self._end.wait(POLL_SECONDS):
            for note in self.notes.iterdir():
                with suppress(OSError, ValueError):
                    self._check(int(note.name), int(note.read_text(encoding="ascii")))

    def _check(self, index: int, pid: int) -> None:
        used = anonymous_bytes(pid)
        if used is not None and used > self.limits[index] and index not in self.stopped:
            self.stopped.add(index)
            os.kill(pid, signal.SIGKILL)
