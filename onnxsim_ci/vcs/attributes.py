"""What `.gitattributes` says about files, asked from git itself.

House: vcs. Standard library, errors.
Touch: nothing else.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from onnxsim_ci.vcs.git import git


def lfs_paths(root: Path, paths: Iterable[str]) -> frozenset[str]:
    """Those of `paths` that git-lfs stores.

    Raises:
        GitFailed: This is no repository, or git is not installed.
    """
    asked = b"".join(os.fsencode(path) + b"\0" for path in paths)
    if not asked:
        return frozenset()
    found = git(root, "check-attr", "-z", "--stdin", "filter", stdin=asked).split(b"\0")[:-1]
    pairs = zip(found[0::3], found[2::3], strict=True)  # a value may be empty
    return frozenset(os.fsdecode(path) for path, value in pairs if value == b"lfs")
