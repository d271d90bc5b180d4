"""A git revision as a tree: read by `git cat-file --batch`, nothing is checked out.

House: vcs. Standard library, errors.
Touch: the Action reads base and head through this.
"""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from onnxsim_ci.errors import GitFailed
from onnxsim_ci.vcs.git import command, git

FILE_MODES = ("100644", "100755")
"""Regular files; links (120000) and submodules (160000) are never opened."""


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One name in a revision.

    Attributes:
        mode: As git writes it: 100644, 100755, 120000 for a link, 160000 for a submodule.
        object_id: Of the blob or commit.
    """

    mode: str
    object_id: str

    @property
    def is_file(self) -> bool:
        """Whether this is a regular file."""
        return self.mode in FILE_MODES


class RevisionTree:
    """Files of one revision of a repository. A context manager: it holds a git process.

    Args:
        root: Top of the work tree, or a bare repository.
        revision: Anything that names a commit or tree.

    Raises:
        GitFailed: The revision does not exist here.
    """

    def __init__(self, root: Path, revision: str) -> None:
        self.root = root
        self.revision = revision
        asked = f"{revision}^{{tree}}"
        found = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", asked)
        self.tree_id = found.decode("ascii").strip()
        self._reader: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the git process."""
        if self._reader is not None:
            self._reader.communicate()
            self._reader = None

    @cached_property
    def entries(self) -> dict[str, TreeEntry]:
        """Everything in the revision by path, links and submodules too."""
        found = {}
        for line in git(self.root, "ls-tree", "-r", "-z", "--full-tree", self.tree_id).split(b"\0"):
            if line:
                head, _, name = line.partition(b"\t")
                mode, _, object_id = head.decode("ascii").split()
                found[os.fsdecode(name)] = TreeEntry(mode, object_id)
        return found

    def read(self, path: str) -> bytes | None:
        """Bytes of the regular file at `path`; None if there is none.

        Raises:
            GitFailed: The object is not in this (partial) clone.
        """
        entry = self.entries.get(path)
        return self.blob(entry.object_id) if entry is not None and entry.is_file else None

    def list(self) -> Iterator[str]:
        """Paths of all regular files, in git's order."""
        return (path for path, entry in self.entries.items() if entry.is_file)

    def blob(self, object_id: str) -> bytes:
        """Bytes of an object.

        Raises:
            GitFailed: It is not in this (partial) clone.
        """
        reader = self._reader or self._start()
        assert reader.stdin is not None
        assert reader.stdout is not None
        reader.stdin.write(f"{object_id}\n".encode("ascii"))
        reader.stdin.flush()
        head = reader.stdout.readline().split()
        if len(head) != 3:
            raise GitFailed(
                f"object {object_id} of revision {self.revision} is missing", where=str(self.root)
            )
        data = reader.stdout.read(int(head[2]))
        reader.stdout.read(1)
        return data

    def _start(self) -> "subprocess.Popen[bytes]":
        self._reader = subprocess.Popen(  # noqa: S603 - git, with arguments that no shell reads
            command(self.root, ("cat-file", "--batch")), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        return self._reader
