"""Where a repository is, and what it tracks.

House: vcs. Standard library, errors.
Touch: `common_folder` is where the hook keeps its seen table.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from os import fsdecode
from pathlib import Path

from onnxsim_ci.errors import GitFailed
from onnxsim_ci.vcs.git import git
from onnxsim_ci.vcs.revision import FILE_MODES


@dataclass(frozen=True, slots=True)
class TrackedFile:
    """One entry of the index; a path in conflict has several.

    Attributes:
        path: Relative to the top, with forward slashes.
        mode: As git writes it.
        object_id: Of the staged blob.
    """

    path: str
    mode: str
    object_id: str

    @property
    def is_file(self) -> bool:
        """Whether this is a regular file, no link and no submodule."""
        return self.mode in FILE_MODES


def repository_root(path: Path) -> Path | None:
    """Top of the git work tree that the folder `path` lies in, or None."""
    return next((folder for folder in (path, *path.parents) if (folder / ".git").exists()), None)


def common_folder(root: Path) -> Path | None:
    """The git directory that all work trees of the repository share; None if it cannot be found.

    Read from the files, as git documents them: no process is started.
    """
    place = root / ".git"
    try:
        if not place.is_dir():
            head, _, target = place.read_text(encoding="utf-8").strip().partition("gitdir: ")
            if head or not target:
                return None
            place = (root / target).resolve()
        shared = place / "commondir"
        if shared.is_file():
            place = (place / shared.read_text(encoding="utf-8").strip()).resolve()
    except (OSError, ValueError):
        return None
    return place if place.is_dir() else None


def tracked_files(root: Path) -> Iterator[TrackedFile]:
    """Everything in the index, in git's order.

    Raises:
        GitFailed: This is no repository, or git is not installed.
    """
    for line in git(root, "ls-files", "--stage", "--full-name", "-z").split(b"\0"):
        if line:
            head, _, name = line.partition(b"\t")
            mode, object_id, _ = head.decode("ascii").split()
            yield TrackedFile(fsdecode(name), mode, object_id)


def staged_size(root: Path, path: str) -> int | None:
    """Bytes of the staged blob of `path`; None if nothing is staged, or git cannot tell."""
    try:
        return int(git(root, "cat-file", "-s", f":0:{path}"))
    except GitFailed:
        return None
