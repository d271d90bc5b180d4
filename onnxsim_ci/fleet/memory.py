"""Free memory of the machine, and anonymous memory of another process, as Linux counts them.

RssAnon leaves out mapped weights, which the kernel can drop; RLIMIT_AS would count them.

House: fleet. Standard library only.
Touch: nothing else.
"""

from pathlib import Path


def available_bytes() -> int | None:
    """What the machine can give away without swapping; None if the system does not say."""
    return _kibibytes(Path("/proc/meminfo"), "MemAvailable:")


def anonymous_bytes(pid: int) -> int | None:
    """RssAnon of the process in bytes; None if it is gone, or the system does not say."""
    return _kibibytes(Path(f"/proc/{pid}/status"), "RssAnon:")


def _kibibytes(file: Path, key: str) -> int | None:
    """The figure after `key`, in bytes."""
    try:
        text = file.read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    lines = (line for line in text.splitlines() if line.startswith(key))
    return next((int(line.split()[1]) * 1024 for line in lines), None)
