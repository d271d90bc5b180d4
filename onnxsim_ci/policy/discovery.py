"""Where a policy is found: the names of its files, and the walk upwards through a tree.

House: policy. May import vcs, errors.
Touch: docs/policy.md (tools/docs.py) describes the search.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from onnxsim_ci.errors import BadPolicy
from onnxsim_ci.vcs import WorkTree, repository_root

FILE_NAMES = ("onnxsim-ci.toml", ".onnxsim-ci.toml", "pyproject.toml")
"""Names of policy files, the first wins; in pyproject.toml the table is [tool.onnxsim-ci]."""


class OwnFolder(WorkTree):
    """A folder outside any repository: nobody else's policy counts there."""

    def read(self, path: str) -> bytes | None:
        """Bytes of the file; None if there is none.

        Raises:
            BadPolicy: The file belongs to another user.
        """
        place = self.place(path)
        if place is None:
            return None
        _refuse_foreign(place)
        return place.read_bytes()


def work_tree(model: Path) -> tuple[WorkTree, str]:
    """The tree that holds the policy of `model`, and the model's path in it.

    Inside a repository that is the repository; else the model's own folder.
    """
    place = Path(os.path.abspath(model))  # links are not followed: the policy stands by the name
    folder = place.parent.resolve()
    root = repository_root(folder)
    tree = OwnFolder(folder) if root is None else WorkTree(root)
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
