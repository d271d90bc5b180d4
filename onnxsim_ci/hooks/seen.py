"""The seen table: what an earlier run of the hook found out about exactly these bytes.

An answer counts if everything is as it was: the model, each policy file that was looked at (also those that
were not there), each external data file, the versions of what computes, our environment variables, and the
arguments. Nothing is interpreted; any change is a miss, and so is a table that cannot be read.

Size, times and inode are a first look that saves reading; `CI` in the environment switches it off.

House: hooks, fast path. Standard library only: this runs before onnx, numpy and pydantic are imported.
Touch: `FORMAT` when an entry's form changes.
"""

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

FORMAT = 1
FILE = "seen.sqlite"
MAX_ENTRIES = 20_000
RACY_NS = 100_000_000
"""A file changed this shortly before it was noted may have changed again within one tick of the clock."""

_COMPUTES = ("onnx", "onnxruntime", "onnxruntime-gpu", "numpy", "ml_dtypes")
_TABLE = (
    "CREATE TABLE IF NOT EXISTS seen (path TEXT, context TEXT, sha256 TEXT, entry TEXT, noted INTEGER, "
    "PRIMARY KEY (path, context, sha256))"
)

_TRIM = "DELETE FROM seen WHERE rowid IN (SELECT rowid FROM seen ORDER BY noted DESC LIMIT -1 OFFSET ?)"

Stat = tuple[int, int, int, int]
"""Size, mtime_ns, ctime_ns, inode."""


@dataclass(frozen=True, slots=True)
class Noted:
    """A file as it was; path relative to the root, sha256 None if it was not there."""

    path: str
    sha256: str | None
    stat: Stat | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An answer.

    Attributes:
        model: The model.
        others: Policy files, external data files, inputs of the proof and the folders they are looked for in.
        noted: When the run began that looked at them, in nanoseconds.
        code: Exit code of this file.
        line: What is said about it; empty for a clean file.
    """

    model: Noted
    others: tuple[Noted, ...]
    noted: int
    code: int
    line: str


class Files:
    """Digests of files below a root, each computed once.

    Args:
        root: Top of the repository.
        trusts_stat: Equal size, times and inode mean equal bytes.
    """

    def __init__(self, root: Path, *, trusts_stat: bool) -> None:
        self.root = root
        self.trusts_stat = trusts_stat
        self.began = now()
        self._notes: dict[str, Noted] = {}

    def note(self, path: str) -> Noted:
        """The file as it was when it was first read; size and times are older than the digest."""
        if path not in self._notes:
            stat = self.stat(path)
            self._notes[path] = Noted(path, self._read(path), stat)
        return self._notes[path]

    def noted(self, path: str, data: bytes | None) -> Noted:
        """The file with the bytes that were read from it at another time, so without size and times."""
        return Noted(path, None if data is None else hashlib.sha256(data).hexdigest())

    def stat(self, path: str) -> Stat | None:
        """Size, times and inode; None if it is not there."""
        try:
            found = os.stat(self.root / path)
        except (OSError, ValueError):
            return None
        return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino

    def _read(self, path: str) -> str | None:
        """SHA-256 of the file, or of the names in the folder; None if it cannot be read."""
        place = self.root / path
        with suppress(OSError, ValueError):
            if place.is_dir():
                return hashlib.sha256(json.dumps(sorted(os.listdir(place))).encode()).hexdigest()
            with place.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        return None

    def is_same(self, noted: Noted, when: int) -> bool:
        """Whether the file is what it was at `when`."""
        now = self.stat(noted.path)
        if noted.sha256 is None or now is None:
            return noted.sha256 is None and now is None
        return self.is_quick(noted, when) or self.note(noted.path).sha256 == noted.sha256

    def is_quick(self, noted: Noted, when: int) -> bool:
        """Whether size, times and inode alone say that the file is what it was at `when`."""
        now = self.stat(noted.path)
        if not self.trusts_stat or noted.stat != now:
            return False
        return now is None or is_settled(now, when)

    def renewed(self, noted: Noted) -> Noted:
        """The same note, with the size and times that were seen before its digest was compared."""
        return self._notes.get(noted.path, noted)


def is_settled(stat: Stat, when: int) -> bool:
    """Whether the file was changed for the last time well before `when`."""
    return max(stat[1], stat[2]) < when - RACY_NS


class SeenTable:
    """Answers by path, in the folder that all work trees of a repository share.

    Args:
        folder: Where the table lies; None for no table.
        context: Digest of what else an answer depends on.
    """

    def __init__(self, folder: Path | None, context: str) -> None:
        self._file = None if folder is None else folder / FILE
        self._context = context

    def answers(self, paths: Iterable[str], files: Files) -> dict[str, Entry]:
        """The answers that still hold, by path."""
        if self._file is None or not self._file.is_file():
            return {}
        found: dict[str, Entry] = {}
        slow = []
        query = "SELECT entry FROM seen WHERE path = ? AND context = ? ORDER BY noted DESC"
        with suppress(sqlite3.Error, OSError), closing(self._connect(self._file)) as base:
            for path in paths:
                for (text,) in base.execute(query, (_key(path), self._context)):
                    entry = _entry(text)
                    if entry is not None and holds(entry, files):
                        found[path] = entry
                        if files.trusts_stat and not is_quick(entry, files):
                            slow.append(entry)
                        break
        self.remember([renewed(entry, files) for entry in slow])
        return found

    def remember(self, entries: Sequence[Entry]) -> None:
        """Keep answers; a table that cannot be written is no error, a broken one is made anew."""
        if self._file is None or not entries:
            return
        try:
            self._insert(self._file, entries)
        except sqlite3.DatabaseError as error:
            if not isinstance(error, sqlite3.OperationalError):
                with suppress(sqlite3.Error, OSError):
                    self._file.unlink(missing_ok=True)
                    self._insert(self._file, entries)
        except OSError:
            pass

    def _insert(self, file: Path, entries: Sequence[Entry]) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        rows = [
            (_key(e.model.path), self._context, e.model.sha256, json.dumps(asdict(e)), e.noted)
            for e in entries
        ]
        with closing(self._connect(file)) as base, base:
            base.execute(_TABLE)
            base.executemany("INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?, ?)", rows)
            base.execute(_TRIM, (MAX_ENTRIES,))

    @staticmethod
    def _connect(file: Path) -> sqlite3.Connection:
        return sqlite3.connect(file, timeout=5.0)


def holds(entry: Entry, files: Files) -> bool:
    """Whether every file that the answer rests on is as it was."""
    return all(files.is_same(noted, entry.noted) for noted in (entry.model, *entry.others))


def is_quick(entry: Entry, files: Files) -> bool:
    """Whether no file had to be read to know that the answer holds."""
    return all(files.is_quick(noted, entry.noted) for noted in (entry.model, *entry.others))


def renewed(entry: Entry, files: Files) -> Entry:
    """The same answer with the times of this run, so that the next look is quick."""
    model, *others = (files.renewed(noted) for noted in (entry.model, *entry.others))
    return replace(entry, model=model, others=tuple(others), noted=files.began)


def context_of(options: Sequence[object], environ: Mapping[str, str], tool: str) -> str:
    """Digest of tool, versions, our environment variables and the arguments."""
    from importlib import metadata

    versions = {}
    for name in _COMPUTES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    ours = {
        name: value
        for name, value in environ.items()
        if name.startswith("ONNXSIM_CI_") and ("__" in name or name == "ONNXSIM_CI_POLICY")
    }
    facts = [FORMAT, tool, versions, ours, list(options)]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def now() -> int:
    """The time an entry is noted at."""
    return time.time_ns()


def _key(path: str) -> str:
    """Paths that are not UTF-8 cannot be text of sqlite."""
    return path.encode("utf-8", errors="backslashreplace").decode()


def _entry(text: str) -> Entry | None:
    try:
        data = json.loads(text)
        model, *others = (_noted(item) for item in (data["model"], *data["others"]))
        return Entry(
            model=model,
            others=tuple(others),
            noted=int(data["noted"]),
            code=int(data["code"]),
            line=str(data["line"]),
        )
    except (ValueError, KeyError, TypeError):
        return None


def _noted(item: Mapping[str, object]) -> Noted:
    stat = item["stat"]
    digest = item["sha256"]
    return Noted(
        path=str(item["path"]),
        sha256=None if digest is None else str(digest),
        stat=(stat[0], stat[1], stat[2], stat[3]) if isinstance(stat, list) else None,
    )
