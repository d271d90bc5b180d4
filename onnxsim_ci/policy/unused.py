"""Overrides that match no file: warnings of `policy check`.

House: policy. May import policy.layers, loading; vcs.
Touch: tests/policy/test_checking.py.
"""

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path

from onnxsim_ci.policy.layers import matches
from onnxsim_ci.policy.loading import PolicyFile
from onnxsim_ci.vcs import WorkTree

_WILD = frozenset("*?[")


def unused_overrides(file: PolicyFile, folder: Path) -> Iterator[str]:
    """One sentence for each override of `file` that matches no file below `folder`, where the file stands."""
    overrides = file.tables.get("overrides")
    asked = [
        (index, override["files"])
        for index, override in enumerate(overrides if isinstance(overrides, list) else ())
        if isinstance(override, dict) and _is_globs(override.get("files"))
    ]
    paths = list(WorkTree(folder).list()) if asked else []
    for index, patterns in asked:
        if not any(matches(patterns, "", path) for path in paths):
            keys = ("overrides", index, "files")
            yield f"{file.place(keys)}: overrides.{index}.files matches no file{_nearest(patterns[0], paths)}"


def _is_globs(files: object) -> bool:
    return isinstance(files, list) and bool(files) and all(isinstance(name, str) for name in files)


def _nearest(pattern: str, paths: Sequence[str]) -> str:
    """The pattern with its folder as it is spelled on disk, if one is near."""
    fixed = []
    for part in pattern.lstrip("!/").split("/"):
        if _WILD & set(part):
            break
        fixed.append(part)
    wanted = "/".join(fixed)
    folders = {"/".join(path.split("/")[: len(fixed)]) for path in paths}
    near = difflib.get_close_matches(wanted, sorted(folders), 1, 0.7) if wanted else []
    return f"; did you mean {pattern.replace(wanted, near[0], 1)!r}?" if near else ""
