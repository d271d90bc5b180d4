"""Run what may end the process in a forked child: some kernels divide by an empty size or sort NaN.

onnxruntime 1.32's Einsum raises SIGFPE for an empty batch, for example. A fork costs milliseconds and shares
the loaded session; a child that dies costs one answer.

House: runtime; standard library only. Where there is no fork, nothing is run.
Touch: session.py offers it as `run_isolated`; hazards of feeds/ and equivalence/ are its users.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import os
import pickle  # only between this process and its own child
import select
import signal
import struct
import time
import warnings
from collections.abc import Callable, Sequence
from typing import TypeVar

from onnxsim_ci.runtime.failures import RunFailure

T = TypeVar("T")

_HEADER = struct.Struct("<Q")
_NO_LIMIT_SECONDS = 600.0
_BLOCK = 1 << 20


def isolated(calls: Sequence[Callable[[], T]], *, seconds: float | None = None) -> list[T | RunFailure]:
    """The answer of each call, made in a forked child, or the failure that took its place.

    Args:
        calls: Functions whose answers can be pickled; each runs once, in order.
        seconds: Limit for all of them together; what is not answered by then counts as failed.
    """
    if not hasattr(os, "fork"):
        return [RunFailure("not run: this platform cannot isolate a run") for _ in calls]
    deadline = time.monotonic() + (_NO_LIMIT_SECONDS if seconds is None else seconds)
    answers: list[T | RunFailure] = []
    while len(answers) < len(calls):
        part, ending = _child_answers(calls[len(answers) :], deadline)
        answers += part
        if ending is not None and len(answers) < len(calls):
            answers.append(ending)
    return answers


def _child_answers(
    calls: Sequence[Callable[[], T]], deadline: float
) -> tuple[list[T | RunFailure], RunFailure | None]:
    """Answers of one child, and what ended it before it was through."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # forking with threads: the child starts none of them
        child = _fork_without_collector()
    if child == 0:
        os.close(reader)
        _serve(calls, writer)
    os.close(writer)
    try:
        data, timed_out = _read_all(reader, deadline)
    finally:
        os.close(reader)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    answers: list[T | RunFailure] = _unpacked(data)
    if timed_out:
        return answers, RunFailure("the run was stopped: its time was over", timed_out=True)
    code = os.waitstatus_to_exitcode(status)
    return answers, RunFailure(f"an operator of the runtime ended the process (signal {-code})")


def _fork_without_collector() -> int:
    """`os.fork`, with the cyclic garbage collector off in the child.

    It would otherwise end sessions whose threads exist in the parent only, and wait for them forever.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    child = os.fork()
    if child and was_enabled:
        gc.enable()
    return child


def _serve(calls: Sequence[Callable[[], T]], writer: int) -> None:
    """The child: write each answer with its length, then leave without any clean-up."""
    faulthandler.disable()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what a dying kernel prints is for nobody
    try:
        for call in calls:
            try:
                answer: object = call()
            except RunFailure as failure:
                answer = (RunFailure, failure.message)
            payload = pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL)
            _write(writer, _HEADER.pack(len(payload)) + payload)
    finally:
        os._exit(0)


def _write(writer: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(writer, view) :]


def _read_all(reader: int, deadline: float) -> tuple[bytes, bool]:
    """Everything until the child closes its end, and whether the deadline came first."""
    blocks: list[bytes] = []
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            return b"".join(blocks), True
        block = os.read(reader, _BLOCK)
        if not block:
            return b"".join(blocks), False
        blocks.append(block)


def _unpacked(data: bytes) -> list[T | RunFailure]:
    answers: list[T | RunFailure] = []
    start = 0
    while start + _HEADER.size <= len(data):
        (length,) = _HEADER.unpack_from(data, start)
        start += _HEADER.size
        if start + length > len(data):
            break
        answer = pickle.loads(data[start : start + length])  # noqa: S301  # our own child wrote it
        start += length
        is_failure = isinstance(answer, tuple) and answer[:1] == (RunFailure,)
        answers.append(RunFailure(answer[1]) if is_failure else answer)
    return answers
