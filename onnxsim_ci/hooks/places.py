"""Which file is meant by a name that was handed over: links followed, what must not be written refused.

House: hooks, fast path. Standard library.
Touch: integrations/pre-commit/README.md says what happens to links.
"""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Place:
    """A file to look at.

    Attributes:
        path: In its tree: relative to the root, links followed, with forward slashes.
        file: The same on this machine, absolute.
    """

    path: str
    file: Path


@dataclass(frozen=True, slots=True)
class Refused:
    """A name that is left alone.

    Attributes:
        named: As it was handed over.
        reason: One sentence without a full stop.
    """

    named: str
    reason: str


def locate(names: Iterable[str], root: Path, *, is_written: bool) -> tuple[list[Place], list[Refused]]:
    """(each file once, in order; names that are refused).

    Args:
        names: Relative to the current folder, or absolute.
        root: Top of the repository, resolved.
        is_written: The files are going to be replaced, so that a second hard link would be cut off.
    """
    places: dict[str, Place] = {}
    refused = []
    for name in names:
        file = os.path.realpath(name)
        reason = _reason(name, file, root, is_written=is_written)
        if reason:
            refused.append(Refused(name, reason))
        else:
            path = Path(file).relative_to(root).as_posix()
            places.setdefault(path, Place(path, Path(file)))
    return list(places.values()), refused


def _reason(name: str, file: str, root: Path, *, is_written: bool) -> str:
    try:
        status = os.stat(file)
    except (OSError, ValueError):
        return "there is no such file" if not os.path.islink(name) else "is a link to nothing"
    if not Path(file).is_relative_to(root):
        return "is a link out of the repository" if os.path.islink(name) else "lies outside the repository"
    if not stat.S_ISREG(status.st_mode):
        return "is no regular file"
    if is_written and status.st_nlink > 1:
        return f"has {status.st_nlink} hard links; writing would cut it off from the others: copy it first"
    return ""
