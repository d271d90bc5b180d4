"""Files by path relative to one root, wherever they are: the protocol, and folders of this machine.

House: vcs. Standard library only.
Touch: `revision.py` is the other tree; policy/discovery.py adds who may own a policy.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol


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
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self, path: str) -> bytes | None:
        """Bytes of the file; None if there is none, or it lies outside the root by a link."""
        place = self.place(path)
        return None if place is None else place.read_bytes()

    def place(self, path: str) -> Path | None:
        """The file itself, links followed; None if there is none inside the root."""
        try:
            place = (self.root / path).resolve()
            return place if place.is_relative_to(self.root) and place.is_file() else None
        except (OSError, RuntimeError, ValueError):  # a circle of links, or no name of a file
            return None

    def list(self) -> Iterator[str]:
        """Paths of all files, without hidden folders, sorted within each folder."""
        for folder, folders, files in os.walk(self.root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            base = Path(folder).relative_to(self.root)
            yield from ((base / name).as_posix() for name in sorted(files))


class ReadingTree:
    """Another tree, each file of it read once; `reads` tells what was asked for.

    Attributes:
        reads: Bytes by path of everything that was read; None for files that are not there.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.reads: dict[str, bytes | None] = {}

    def read(self, path: str) -> bytes | None:
        """Bytes of the file, or None if there is none."""
        if path not in self.reads:
            self.reads[path] = self._tree.read(path)
        return self.reads[path]

    def list(self) -> Iterator[str]:
        """Paths of all files."""
        return self._tree.list()
