"""The effective policy of one model, and where each of its values comes from.

Lowest first: defaults, extended files, the file itself, its matching overrides, environment, flags. A preset
fills what nobody set (`Policy.settled`).

House: policy. May import everything in policy.
Touch: docs/policy.md describes this order.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any

from onnxsim_ci.errors import BadPolicy
from onnxsim_ci.policy.discovery import OwnFolder, candidates, work_tree
from onnxsim_ci.policy.document import Policy
from onnxsim_ci.policy.loading import PolicyFile, read_chain, read_policy
from onnxsim_ci.policy.positions import Path as Keys
from onnxsim_ci.policy.settings import Setting, environment_settings
from onnxsim_ci.vcs import Tree, WorkTree, repository_root

FILE_VARIABLE = "ONNXSIM_CI_POLICY"
"""Environment variable that names a policy file, like `--policy`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """An effective policy with its provenance.

    Attributes:
        policy: Files, overrides, environment and flags applied; the preset not yet (`Policy.settled`).
        origins: `file:line:col`, `environment NAME` or `flag --NAME` by path of keys; absent for defaults.
        files: Policy files that were read, furthest first.
        folder: Folder of the last of them on this machine; None if there is none.
        root: Root of the tree that they were found in, on this machine; None if there is none.
        globs: Folder in the tree that `include` and `exclude` are relative to, each; empty for the root.
    """

    policy: Policy
    origins: Mapping[Keys, str]
    files: tuple[str, ...]
    folder: Path | None = None
    root: Path | None = None
    globs: Mapping[str, str] = field(default_factory=dict)

    def selects(self, path: str) -> bool:
        """Whether `include` and `exclude` make the file at `path` in the tree one of the models."""
        policy, globs = self.policy, self.globs
        is_default = policy.include == Policy.model_fields["include"].default
        named = path.lower() if is_default else path  # MODEL.ONNX is one, until somebody says otherwise
        return matches(policy.include, globs.get("include", ""), named) and not matches(
            policy.exclude, globs.get("exclude", ""), path
        )

    def origin(self, *keys: str) -> str:
        """Where the value at `keys` comes from; `default` if nobody set it."""
        for length in range(len(keys), 0, -1):
            if keys[:length] in self.origins:
                return self.origins[keys[:length]]
        return "default"


def resolve(  # noqa: PLR0913 - each is a source of its own, by name
    path: str | Path,
    *,
    tree: Tree | None = None,
    file: str | Path | None = None,
    settings: Sequence[Setting] = (),
    environ: Mapping[str, str] | None = None,
    place: Path | None = None,
) -> Resolved:
    """The effective policy of the model at `path`.

    Args:
        path: The model; in `tree` if that is given, else on this machine. It need not exist.
        tree: A git revision or work tree to search instead of this machine's folders.
        file: A policy file that replaces the search; in `tree` if that is given.
        settings: Flags, above everything else.
        environ: Environment variables; those of the process if not given.
        place: Where `tree` lies on this machine; None for a git revision.

    Raises:
        BadPolicy: With every mistake found in files, environment and flags.
    """
    environ = os.environ if environ is None else environ
    file = file or environ.get(FILE_VARIABLE) or None
    outside = [*environment_settings(environ), *settings]
    problems = [problem for setting in outside for problem in setting.problems()]
    try:
        chain, model, root = _chain(path, tree, file)
    except BadPolicy as mistake:
        raise BadPolicy(mistake.message, problems=(*str(mistake).splitlines(), *problems)) from None
    if problems:
        raise BadPolicy(f"{len(problems)} mistakes in the policy", problems=tuple(problems))
    resolved = _effective(chain, model, outside)
    base = place or root
    if base is None:
        return resolved
    resolved = replace(resolved, policy=_with_data(resolved, base))
    return replace(resolved, folder=base / chain[-1].folder, root=base) if chain else resolved


def _with_data(resolved: Resolved, root: Path) -> Policy:
    """The policy with `verify.data` relative to the file that says it; to the current folder for a flag."""
    verify = resolved.policy.verify
    if not verify.data:
        return resolved.policy
    origin = resolved.origin("verify", "data")
    file = next((file for file in resolved.files if origin.startswith(f"{file}:")), None)
    folder = Path.cwd() if file is None else (root / file).parent
    return resolved.policy.model_copy(update={"verify": verify.placed(folder)})


def policy_file_of(path: Path) -> Path | None:
    """The file that holds the policy of the model or folder at `path`; None if there is none.

    Raises:
        BadPolicy: A file on the way is no TOML.
    """
    tree, model = work_tree(path / "model.onnx" if path.is_dir() else path)
    found = (candidate for candidate in candidates(model) if read_policy(tree, candidate) is not None)
    nearest = next(found, None)
    return None if nearest is None else tree.root / nearest


def environment_problems(environ: Mapping[str, str]) -> list[str]:
    """What is wrong with our environment variables, one sentence each."""
    return [problem for setting in environment_settings(environ) for problem in setting.problems()]


def from_settings(settings: Sequence[Setting]) -> Policy:
    """The defaults with `settings` over them; no file and no environment is read.

    Raises:
        BadPolicy: With every mistake found.
    """
    problems = tuple(problem for setting in settings for problem in setting.problems())
    if problems:
        raise BadPolicy(f"{len(problems)} mistakes in the arguments", problems=problems)
    return _effective([], "", settings).policy


_Chain = tuple[list[PolicyFile], str, Path | None]
"""Files that apply, furthest first; the model's path in their tree; the tree's root on this machine."""


def _chain(path: str | Path, tree: Tree | None, file: str | Path | None) -> _Chain:
    if tree is not None:
        named = None if file is None else PurePath(file).as_posix()
        return _found(tree, str(path)) if named is None else _named(tree, named), str(path), None
    if file is not None:
        return _named_chain(Path(path), Path(file))
    local, model = work_tree(Path(path))
    chain = _found(local, model)
    current = Path.cwd()
    if not chain and isinstance(local, OwnFolder) and repository_root(current) is None:
        return _found(OwnFolder(current), "x"), Path(path).name, current
    return chain, model, local.root


def _named_chain(model: Path, file: Path) -> _Chain:
    place = file.resolve()
    if not place.is_file():
        raise BadPolicy("there is no such policy file", where=str(file))
    root = repository_root(place.parent) or place.parent
    chain = _named(WorkTree(root), place.relative_to(root).as_posix())  # named, so its owner does not matter
    absolute = model.absolute()
    absolute = absolute.parent.resolve() / absolute.name
    shown = absolute.relative_to(root) if absolute.is_relative_to(root) else absolute
    return chain, shown.as_posix(), root


def _named(tree: Tree, file: str) -> list[PolicyFile]:
    first = read_policy(tree, file)
    if first is None:
        raise BadPolicy("there is no policy in this file", where=file)
    return read_chain(tree, first)


def _found(tree: Tree, model: str) -> list[PolicyFile]:
    for candidate in candidates(model):
        first = read_policy(tree, candidate)
        if first is not None:
            return read_chain(tree, first)
    return []


def _effective(chain: Sequence[PolicyFile], model: str, outside: Sequence[Setting]) -> Resolved:
    merged: dict[str, Any] = {}
    origins: dict[Keys, str] = {}
    globs: dict[str, str] = {}
    overrides: PolicyFile | None = None
    for file in chain:
        globs.update({key: file.folder for key in ("include", "exclude") if key in file.tables})
        tables = {key: value for key, value in file.tables.items() if key not in ("extends", "overrides")}
        _merge(merged, tables, origins, file.place, ())
        overrides = file if "overrides" in file.tables else overrides
    if overrides is not None:
        for index, tables in _matching(overrides, model):
            _merge_override(merged, tables, origins, overrides, index)
    for setting in outside:
        tables = setting.tables()
        if setting.adds:
            _prepend_present(tables, merged, setting.path)
        _merge(merged, tables, origins, lambda _, origin=setting.origin: origin, ())
    return Resolved(
        policy=Policy.model_validate(merged),
        origins=origins,
        files=tuple(file.path for file in chain),
        globs=globs,
    )


def _matching(file: PolicyFile, model: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for index, override in enumerate(file.tables["overrides"]):
        if matches(override["files"], file.folder, model):
            yield index, {key: value for key, value in override.items() if key != "files"}


def matches(patterns: Sequence[str], folder: str, path: str) -> bool:
    """Whether `path` is named by gitignore-style `patterns` that stand in `folder`, both in one tree."""
    from pathspec import GitIgnoreSpec

    if folder and not path.startswith(f"{folder}/"):
        return False
    return GitIgnoreSpec.from_lines(patterns).match_file(path[len(folder) + 1 :] if folder else path)


def _merge_override(
    merged: dict[str, Any], tables: dict[str, Any], origins: dict[Keys, str], file: PolicyFile, index: int
) -> None:
    _merge(merged, tables, origins, lambda keys: file.place(("overrides", index, *keys)), ())


def _merge(
    merged: dict[str, Any], tables: Mapping[str, Any], origins: dict[Keys, str], place: Any, at: Keys
) -> None:
    """Put `tables` over `merged`: tables key by key, lists and values whole; note where each value stands."""
    for key, value in tables.items():
        here = (*at, key)
        if isinstance(value, Mapping):
            inner = merged.setdefault(key, {})
            _merge(inner, value, origins, place, here)
        else:
            merged[key] = value
            origins[here] = place(here)


def _prepend_present(tables: dict[str, Any], merged: Mapping[str, Any], path: tuple[str, ...]) -> None:
    """Put the list that stands in `merged` at `path` before the one in `tables`."""
    present: Any = merged
    inner: Any = tables
    for step in path[:-1]:
        present, inner = present.get(step, {}), inner[step]
    inner[path[-1]] = [*present.get(path[-1], ()), *inner[path[-1]]]
