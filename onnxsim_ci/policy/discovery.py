"""Where a policy is found: trees of files, repository roots, the walk upwards.

House: policy. May import errors.
Touch: a git revision becomes another `Tree` when vcs is built.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from onnxsim_ci.errors import BadPolicy

FILE_NAMES = ("onnxsim-ci.toml", ".onnxsim-ci.toml", "pyproject.toml")
"""Names of policy files, the first wins; in pyproject.toml the table is [tool.onnxsim-ci]."""


class Tree(Protocol):
    """Files by path relative to one root, with forward slashes: a work tree or a git revision."""

    def read(self, path: str) -> bytes | None:
        """Bytes of the file, or None if there is none."""

    def list(self) -> Iterator[str]:
        """Paths of all files."""


class WorkTree:
    """Files below a folder of this machine.

    Attributes:
        root: The folder, absolute and resolved.
        is_repository: Whether `root` is the top of a git work tree.
    """

    def __init__(self, root: Path, *, is_repository: bool) -> None:
        self.root = root
        self.is_repository = is_repository

    def read(self, path: str) -> bytes | None:
        """Bytes of the file; None if there is none, or it lies outside the root by a link.

        Raises:
            BadPolicy: Outside a repository, the file belongs to another user.
        """
        place = (self.root / path).resolve()
        if not place.is_relative_to(self.root) or not place.is_file():
            return None
        if not self.is_repository:
            _refuse_foreign(place)
        return place.read_bytes()

    def list(self) -> Iterator[str]:
        """Paths of all files, without hidden folders, sorted within each folder."""
        for folder, names, files in os.walk(self.root):
            names[:] = sorted(name for name in names if not name.startswith("."))
            base = Path(folder).relative_to(self.root)
            yield from ((base / name).as_posix() for name in sorted(files))


def repository_root(path: Path) -> Path | None:
    """Top of the git work tree that `path` lies in, or None."""
    return next((folder for folder in (path, *path.parents) if (folder / ".git").exists()), None)


def work_tree(model: Path) -> tuple[WorkTree, str]:
    """The tree that holds the policy of `model`, and the model's path in it.

    Inside a repository that is the repository; else the model's own folder.
    """
    place = Path(os.path.abspath(model))  # links are not followed: the policy stands by the name
    folder = place.parent.resolve()
    root = repository_root(folder)
    tree = WorkTree(root or folder, is_repository=root is not None)
    return tree, (folder / place.name).relative_to(tree.root).as_posix()


def candidates(path: str) -> Iterator[str]:
    """Paths that may hold the policy of the model at `path`, nearest first, up to the root."""
    parts = path.split("/")[:-1]
    for depth in range(len(parts), -1, -1):
        base = "/".join(parts[:depth])
        yield from (f"{base}/{name}" if base else name for name in FILE_NAMES)


def _refuse_foreign(place: Path) -> None:
    if hasattr(os, "getuid") and place.stat().st_uid != os.getuid():
        raise BadPolicy(
            "this policy file outside a repository belongs to another user",
            where=str(place),
            hint="name it with --policy to use it all the same",
        )
