"""A result into its place: the model, its data files, the evidence; whole at every instant.

House: api. May import model, report, policy, vcs.
Touch: `Written` says what is beside the model; design, core: "Saving with external data".
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from onnxsim_ci.api.reporting import Run, Written, describe
from onnxsim_ci.errors import BadInput, GitFailed
from onnxsim_ci.model import (
    SavedFiles,
    named_data_files,
    note_outdated,
    remove_outdated,
    save_beside,
)
from onnxsim_ci.model.temporary import temporary_beside
from onnxsim_ci.report.evidence import SUFFIX, claim_text
from onnxsim_ci.vcs import repository_root, write_note

if TYPE_CHECKING:
    from collections.abc import Iterable


def write_result(run: Run, target: Path) -> Written:
    """Write the result of `run` atomically; an unchanged model is its own bytes.

    Raises:
        BadInput: The target cannot be written; the old model is whole.
    """
    candidate = run.proven.candidate
    loaded, old = candidate.source.loaded, candidate.source.data_files
    same_file = loaded.path is not None and target.exists() and os.path.samefile(loaded.path, target)
    if not candidate.changed and same_file:
        return Written(path=target, data_files=old, removed=remove_outdated(target))
    saved = save_beside(
        candidate.proto,
        loaded.weights,
        loaded.folder,
        target,
        untouched=None if candidate.changed else loaded.buffer,
    )
    new = tuple(final.name for _, final in saved.data)
    now = new or named_data_files(candidate.proto)
    how = run.policy.report.evidence if candidate.changed else "off"
    text = "" if how == "off" else _claim(run, saved, target, now)
    added = [name for name in new if not same_file or name not in old]
    if how == "file":
        added += _put_beside(target, text, saved)
    if same_file:
        _note(target, [name for name in old if name not in now], saved)
    saved.commit()
    removed = remove_outdated(target) if same_file else ()
    warnings = _put_note(target, text) if how == "git-note" else ()
    return Written(path=target, data_files=now, added=tuple(added), removed=removed, warnings=warnings)


def _note(target: Path, outdated: list[str], saved: SavedFiles) -> None:
    try:
        note_outdated(target, outdated)
    except OSError as error:
        saved.discard()
        raise BadInput(f"{target}: cannot be written ({error.strerror or error})") from error


def _claim(run: Run, saved: SavedFiles, target: Path, data: Iterable[str]) -> str:
    fresh = {final.name: temporary for temporary, final in saved.data}
    digests: Mapping[str, str] = {name: _sha256(fresh.get(name, target.parent / name)) for name in data}
    source = run.proven.candidate.source.loaded.sha256
    return claim_text(describe(run), source=source, model=_sha256(saved.model), data=digests)


def _put_beside(target: Path, text: str, saved: SavedFiles) -> list[str]:
    """Write the evidence before the model, which it names by digest; its name, if it is new."""
    place = target.with_name(target.name + SUFFIX)
    is_new = not place.exists()
    temporary = temporary_beside(place)
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(place)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        saved.discard()
        raise BadInput(f"{place}: cannot be written ({error.strerror or error})") from error
    return [place.name] if is_new else []


def _put_note(target: Path, text: str) -> tuple[str, ...]:
    place = target.resolve()
    root = repository_root(place.parent)
    if root is None:
        return ("the evidence was not kept: report.evidence is git-note, but this is no repository",)
    try:
        write_note(root, place.relative_to(root).as_posix(), text)
    except GitFailed as error:
        return (f"the evidence was not kept: {error}",)
    return ()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
