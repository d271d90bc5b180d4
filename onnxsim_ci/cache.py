"""What is already known about models, by the digest of their bytes: refused rules and verdicts.

A second run on a result reads here which rules were left out for it, so that it changes no byte. One JSON
file an entry, written atomically; whatever cannot be read counts as not known. The place comes from the user
(`ONNXSIM_CI_CACHE`) or the caller, never from a policy.

House: cache. Standard library and platformdirs.
Touch: `FORMAT` when the fields of an entry change; `onnxsim-ci cache` shows and clears it.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

FORMAT = 1
PLACE_VARIABLE = "ONNXSIM_CI_CACHE"
OFF_VARIABLE = "ONNXSIM_CI_NO_CACHE"
"""Set to anything: nothing is read or kept; inherited by child processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known about the model with a digest.

    Attributes:
        refusals: Pairs of rule id (or `rounding`) and reason, left out when this model was made.
        verdicts: By digest of the other model and of the proof's settings: plain values of a verdict.
    """

    refusals: tuple[tuple[str, str], ...] = ()
    verdicts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheSize:
    """How much a cache holds."""

    entries: int
    bytes: int


class ResultsCache:
    """Entries in one folder; a folder that cannot be written is an empty cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, digest: str) -> Known:
        """What is known about the model whose bytes have this SHA-256; an empty entry if nothing is."""
        try:
            data = json.loads(self._path(digest).read_text(encoding="utf-8"))
            if data["format"] != FORMAT:
                return Known()
            return Known(
                refusals=tuple((str(rule), str(reason)) for rule, reason in data["refusals"]),
                verdicts=dict(data["verdicts"]),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return Known()

    def write(self, digest: str, known: Known) -> None:
        """Replace what is known about the model with this digest; a full or closed disk is no error."""
        path = self._path(digest)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        text = json.dumps({"format": FORMAT, **asdict(known)}, sort_keys=True, allow_nan=False)
        with suppress(OSError):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                temporary.write_text(text, encoding="utf-8")
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)

    def is_empty(self) -> bool:
        """True when nothing was ever kept, so that no digest has to be computed to ask."""
        return next(self.folder.glob("[0-9a-f][0-9a-f]/*.json"), None) is None

    def size(self) -> CacheSize:
        """Number and bytes of the entries."""
        sizes = [path.stat().st_size for path in self._entries()]
        return CacheSize(entries=len(sizes), bytes=sum(sizes))

    def clear(self) -> CacheSize:
        """Remove all entries, and nothing else; returns what was there."""
        size = self.size()
        for path in self._entries():
            path.unlink(missing_ok=True)
        return size

    def _entries(self) -> list[Path]:
        return sorted(self.folder.glob("[0-9a-f][0-9a-f]/*.json"))

    def _path(self, digest: str) -> Path:
        return self.folder / digest[:2] / f"{digest}.json"


def default_cache() -> ResultsCache:
    """The user's cache: `ONNXSIM_CI_CACHE`, else the platform's folder for caches; empty if switched off."""
    if os.environ.get(OFF_VARIABLE):
        return ResultsCache(Path(os.devnull))
    named = os.environ.get(PLACE_VARIABLE)
    if named:
        return ResultsCache(Path(named) / "results")
    from platformdirs import user_cache_dir

    return ResultsCache(Path(user_cache_dir("onnxsim-ci", appauthor=False)) / "results")
