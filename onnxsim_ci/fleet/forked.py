"""One model in a forked child: isolation for the price of a fork, before the heavy libraries are loaded.

A spawned child has to import everything again. A fork of a process that has neither threads nor a runtime is
safe and costs a millisecond; the runtime is then loaded in the child only, and its crash costs one model.

House: fleet. Standard library, report.
Touch: `is_possible` when the parent learns to load more.
"""

import os
import pickle
import select
import signal
import sys
import threading

from onnxsim_ci.fleet.memory import anonymous_bytes
from onnxsim_ci.fleet.tasks import POLL_SECONDS, Task, Worker, died_entry, memory_entry, sweep
from onnxsim_ci.report import ModelReport

_UNSAFE = ("onnxruntime", "torch", "tensorflow", "jax")
"""Libraries that start threads, which a fork does not copy."""


def is_possible() -> bool:
    """Whether this process may fork: it has one thread, and no library loaded that hides others."""
    is_alone = threading.active_count() == 1 and not any(name in sys.modules for name in _UNSAFE)
    return hasattr(os, "fork") and sys.platform != "darwin" and is_alone


def run_forked(task: Task, worker: Worker) -> ModelReport:
    """The report of one task, made in a child that inherits this process.

    Raises:
        KeyboardInterrupt: Here or in the child; the child is gone then.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _serve(writing, task, worker)
    os.close(writing)
    is_over_memory = False
    try:
        answer, is_over_memory = _receive(reading, child, task.policy.limits.memory)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        sweep(task)
        raise
    finally:
        os.close(reading)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code != 0:
        sweep(task)
    if code == 130:
        raise KeyboardInterrupt
    if is_over_memory:
        return memory_entry(task)
    if code != 0:
        return died_entry(task, code)
    entry: ModelReport = pickle.loads(answer)  # noqa: S301 - written by our own child
    return entry


def _serve(writing: int, task: Task, worker: Worker) -> None:
    """Work in the child and leave without running anything that belongs to the parent."""
    code = 70
    try:
        answer = pickle.dumps(worker(task))
        with os.fdopen(writing, "wb") as stream:
            stream.write(answer)
        code = 0
    except KeyboardInterrupt:
        code = 130
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _receive(reading: int, child: int, limit: int) -> tuple[bytes, bool]:
    """What the child wrote until it closed the pipe, and whether it was stopped over its memory limit."""
    pieces: list[bytes] = []
    while True:
        is_ready = bool(select.select([reading], [], [], POLL_SECONDS)[0])
        if not is_ready:
            used = anonymous_bytes(child)
            if used is not None and used > limit:
                os.kill(child, signal.SIGKILL)
                return b"", True
            continue
        piece = os.read(reading, 1 << 16)
        if not piece:
            return b"".join(pieces), False
        pieces.append(piece)
