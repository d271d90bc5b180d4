"""Which models a repository has: what git tracks, by the policy nearest to each.

House: cli. May import policy, vcs and errors.
Touch: README.md says what `check --all` looks at.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from onnxsim_ci.cli.sources import Resolve, Source, pointer_of
from onnxsim_ci.errors import BadInput, BadPolicy
from onnxsim_ci.policy import Resolved
from onnxsim_ci.vcs import repository_root, tracked_files


def find_tracked(resolve: Resolve) -> list[Source]:
    """Models of the repository around the current folder; links, submodules and absent files are left out.

    Raises:
        BadInput: There is no repository, or git cannot be asked.
        BadPolicy: With the mistakes of all policies.
    """
    here = Path.cwd().resolve()
    root = repository_root(here)
    if root is None:
        raise BadInput("--all needs a git repository around the current folder", hint="name a folder instead")
    paths = dict.fromkeys(file.path for file in tracked_files(root) if file.is_file)
    return list(_sources(root, here, paths, resolve))


def _sources(root: Path, here: Path, paths: dict[str, None], resolve: Resolve) -> Iterator[Source]:
    """Include and exclude are the same for all files of a folder, so a policy is resolved once a folder."""
    policies: dict[str, Resolved] = {}
    problems: dict[str, None] = {}
    for path in paths:
        folder = path.rpartition("/")[0]
        if folder not in policies:
            try:
                policies[folder] = resolve(str(root / folder / "model.onnx"))
            except BadPolicy as mistake:
                problems.update(dict.fromkeys(str(mistake).splitlines()))
                continue
        place = root / path
        if policies[folder].selects(path) and place.is_file() and not place.is_symlink():
            yield Source(path=os.path.relpath(place, here), relative=Path(path), pointer=pointer_of(place))
    if problems:
        raise BadPolicy("mistakes in the policy", problems=tuple(problems))
