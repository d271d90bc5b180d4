"""Anonymous memory of another process, as Linux counts it.

RssAnon leaves out mapped weights, which the kernel can drop; RLIMIT_AS would count them.

House: fleet. Standard library only.
Touch: nothing else.
"""

from pathlib import Path


def anonymous_bytes(pid: int) -> int | None:
    """RssAnon of the process in bytes; None if it is gone, or the system does not say."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return None
