"""Run a command as a process and watch it: seconds, CPU seconds, peak memory.

Three kinds of memory, because a tool may fork: RSS is the kernel's own high-water mark of the largest
process (VmHWM; not `ru_maxrss`, which after a fork starts at the size of the parent); PSS is summed over the
process and its descendants, a shared page counted once; RssAnon, what the kernel cannot drop, is summed too,
a page shared by a fork counted twice, so never too small. All are read from /proc every few milliseconds.

House: benchmarks. Standard library only; Linux for memory, elsewhere memory is 0.
Touch: command.py, memory.py and peers.py.
"""

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

POLL_SECONDS = 0.004
MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one process did.

    Attributes:
        seconds: Wall clock from start to end.
        cpu_seconds: User and system time, with all children that it waited for.
        rss_bytes: Peak RSS of the largest process.
        pss_bytes: Peak PSS of all processes.
        anonymous_bytes: Peak RssAnon of all processes.
        code: Exit code.
        out: Standard output.
        error: Last lines of standard error.
    """

    seconds: float
    cpu_seconds: float
    rss_bytes: int
    pss_bytes: int
    anonymous_bytes: int
    code: int
    out: str
    error: str


def run(
    command: Sequence[str], *, environment: Mapping[str, str] | None = None, timeout: float = 1800
) -> Run:
    """Run a command to its end; past `timeout` seconds it is killed."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        since = time.perf_counter()
        process = subprocess.Popen(
            list(command), stdout=out, stderr=error, stdin=subprocess.DEVNULL, env=environment
        )
        watch = _Watch(process.pid)
        stop = threading.Timer(timeout, process.kill)
        stop.start()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - since
        process.returncode = os.waitstatus_to_exitcode(status)
        stop.cancel()
        watch.end()
        return Run(
            seconds=seconds,
            cpu_seconds=usage.ru_utime + usage.ru_stime,
            rss_bytes=watch.high,
            pss_bytes=watch.pss,
            anonymous_bytes=watch.anonymous,
            code=process.returncode,
            out=_read(out),
            error=_read(error)[-2000:],
        )


def _read(stream: "tempfile._TemporaryFileWrapper[bytes]") -> str:
    stream.seek(0)
    return stream.read().decode(errors="replace")


class _Watch:
    """A thread that reads the memory of a process and its descendants until told to end."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.rss = self.high = self.pss = self.anonymous = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._poll, daemon=True)
        if Path("/proc/self/status").exists():
            self._thread.start()

    def end(self) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def _poll(self) -> None:
        while not self._ended.wait(POLL_SECONDS):
            tree = _tree(self.pid)
            sums = [_memory(pid) for pid in tree]
            rss = sum(memory["VmRSS"] for memory in sums)
            self.high = max(self.high, *(memory["VmHWM"] for memory in sums))
            self.anonymous = max(self.anonymous, sum(memory["RssAnon"] for memory in sums))
            if rss > 0.9 * self.rss:  # PSS costs a walk over the pages: read it near the peak only
                self.pss = max(self.pss, sum(_pss(pid) for pid in tree))
            self.rss = max(self.rss, rss)


def _tree(root: int) -> list[int]:
    """The process and its descendants."""
    found, todo = [], [root]
    while todo:
        pid = todo.pop()
        found.append(pid)
        try:
            text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
        except OSError:
            continue
        todo.extend(int(child) for child in text.split())
    return found


def _memory(pid: int) -> dict[str, int]:
    """VmHWM, VmRSS and RssAnon in bytes; zeros when the process is gone."""
    found = dict.fromkeys(("VmHWM", "VmRSS", "RssAnon"), 0)
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return found
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name in found:
            found[name] = int(value.split()[0]) * 1024
    return found


def _pss(pid: int) -> int:
    """Proportional set size in bytes; 0 when the process is gone."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:")), 0)
