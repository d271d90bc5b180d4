"""What in a policy never applies, for `policy check`: overrides that match no file, names that mean nothing.

House: policy. May import policy.layers, loading; vcs.
Touch: tests/policy/test_checking.py.
"""

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path

from onnxsim_ci.policy.layers import matches
from onnxsim_ci.policy.loading import PolicyFile
from onnxsim_ci.policy.rule_names import ONNXSIM_PASSES
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


def idle_names(file: PolicyFile) -> Iterator[str]:
    """One sentence for each name of onnxsim in `simplify.skip` or `extra` that no rule of ours answers to."""
    for key in ("skip", "extra"):
        table = file.tables.get("simplify")
        names = table.get(key) if isinstance(table, dict) else None
        for index, name in enumerate(names if isinstance(names, list) else ()):
            if isinstance(name, str) and ONNXSIM_PASSES.get(name) == ():
                keys = ("simplify", key, index)
                what = f"{name!r} has no effect: no rule does its work"
                yield f"{file.place(keys)}: simplify.{key}.{index}: {what}"


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
