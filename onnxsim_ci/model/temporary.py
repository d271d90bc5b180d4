"""Names of temporary files, and removal of those that dead processes left.

House: model. Standard library only.
Touch: nothing else.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from itertools import count
from pathlib import Path

PATTERN = re.compile(r"\..+\.(\d+)(?:-\d+)?\.onnxsim-ci\.tmp")
_numbers = count()


def temporary_beside(target: Path) -> Path:
    """A name in the folder of `target` that belongs to this process alone."""
    remove_stale(target)
    return target.with_name(f".{target.name}.{os.getpid()}-{next(_numbers)}.onnxsim-ci.tmp")


def remove_stale(target: Path) -> None:
    """Remove temporary files of `target` whose process is gone."""
    prefix = f".{target.name}."
    try:
        names = [n for n in os.listdir(target.parent) if n.startswith(prefix)]
    except OSError:
        return
    for name in names:
        match = PATTERN.fullmatch(name)
        if match and not is_running(int(match[1])):
            with suppress(OSError):  # a folder of that name is none of ours
                target.with_name(name).unlink()


def is_running(pid: int) -> bool:
    """Whether a process with this number exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
