"""Data files beside a model: which it names, and removal of those that a new version no longer needs.

The order is: new data file, a note of what will be outdated, the model, the outdated files, the note. Killed
anywhere in between, the next run finds the note and ends the work; until then a file too many lies there.
A note may also be planted, so it holds what nobody can know who is not on this machine: inode and change time
of each file. Only exactly that file is removed.

House: model. May import onnx and errors.
Touch: `save.py` writes new data files; `api/flow.py` calls this around its commit.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from onnx import ModelProto

from onnxsim_ci.errors import BadInput
from onnxsim_ci.model.external import contained_path
from onnxsim_ci.model.load import load
from onnxsim_ci.model.temporary import is_running
from onnxsim_ci.model.walk import all_tensors, is_outside

SEARCHED_BYTES = 64 << 20
"""Other files than models are searched for the name up to this size; larger ones are weights themselves."""

MAX_NOTE_BYTES = 1 << 20

_NOTE = re.compile(r"\.(.+)\.(\d+)\.onnxsim-ci\.outdated")


def named_data_files(proto: ModelProto) -> tuple[str, ...]:
    """Locations of external data as the model writes them, in the order of first use."""
    found: dict[str, None] = {}
    for tensor in all_tensors(proto):
        if is_outside(tensor):
            found.update((e.value, None) for e in tensor.external_data if e.key == "location" and e.value)
    return tuple(found)


def note_outdated(target: Path, locations: Iterable[str]) -> None:
    """Write down, before the model at `target` is replaced, which data files it will no longer need."""
    places = {name: target.parent / name for name in locations}
    files = {name: _identity(place) for name, place in places.items() if place.is_file()}
    if files:
        place = target.with_name(f".{target.name}.{os.getpid()}.onnxsim-ci.outdated")
        place.write_text(json.dumps(files), encoding="utf-8")


def remove_outdated(target: Path) -> tuple[str, ...]:
    """Remove noted data files that no model needs; returns their locations.

    Notes of this process and of dead ones count. A file stays if the model that is there now names it, or any
    other file that could be a model beside it mentions it.
    """
    removed: list[str] = []
    for note in list(_notes(target)):
        try:
            files = _noted(note)
            kept = set(named_data_files(load(target).proto)) if files else set()
        except (OSError, ValueError, TypeError, RecursionError, BadInput):
            files, kept = {}, set()
        for name, identity in files.items():
            if name not in kept and _unlink(target, name, identity):
                removed.append(name)
        with suppress(OSError):
            note.unlink()
    return tuple(removed)


def _noted(note: Path) -> dict[str, object]:
    """Identity by location, as a run wrote it."""
    status = note.lstat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_NOTE_BYTES:
        return {}
    return dict(json.loads(note.read_text(encoding="utf-8")))


def _identity(place: Path) -> list[int]:
    """What tells this very file, unchanged, from any other."""
    status = place.stat()
    return [status.st_ino, status.st_ctime_ns]


def _notes(target: Path) -> Iterator[Path]:
    try:
        names = os.listdir(target.parent)
    except OSError:
        return
    for name in sorted(names):
        match = _NOTE.fullmatch(name)
        if match and match[1] == target.name:
            process = int(match[2])
            if process == os.getpid() or not is_running(process):
                yield target.with_name(name)


def _unlink(target: Path, location: str, identity: object) -> bool:
    try:
        place = contained_path(target.parent, location)
        if _identity(place) != identity:
            return False
        if _is_mentioned(target, place):
            return False
        place.unlink()
    except (OSError, BadInput):
        return False
    return True


def _is_mentioned(target: Path, place: Path) -> bool:
    """Whether a file that could be a model, other than the one at `target`, holds the name of `place`."""
    needle = place.name.encode(errors="surrogateescape")
    root = target.parent.resolve()
    folders = [place.parent, *(folder for folder in place.parents if folder.is_relative_to(root))]
    return any(
        _mentions(other, needle)
        for folder in dict.fromkeys((*folders, *_above(root)))
        for other in folder.iterdir()
        if other not in (place, target)
    )


def _above(folder: Path) -> tuple[Path, ...]:
    """Folders above, up to the top of the repository: a model there may name a file below it."""
    above = tuple(folder.parents)
    tops = [index for index, place in enumerate((folder, *above)) if (place / ".git").exists()]
    return above[: tops[0]] if tops else ()


def _mentions(path: Path, needle: bytes) -> bool:
    try:
        if path.is_symlink() or not path.is_file() or path.name.endswith(".onnxsim-ci.outdated"):
            return False
        size = path.stat().st_size
        if not size or (size > SEARCHED_BYTES and path.suffix.lower() != ".onnx"):
            return False
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(needle) >= 0
    except OSError:
        return True  # what cannot be read may need it
