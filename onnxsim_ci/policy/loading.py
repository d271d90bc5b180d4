"""Policy files read and checked: one file, and the chain of files that it extends.

House: policy. May import policy.document, discovery, mistakes, positions.
Touch: docs/policy.md when the form of a message changes.
"""

import posixpath
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import ValidationError

from onnxsim_ci.errors import BadPolicy
from onnxsim_ci.policy.document import Policy
from onnxsim_ci.policy.mistakes import describe
from onnxsim_ci.policy.positions import Path, positions
from onnxsim_ci.vcs import Tree

MAX_DEPTH = 8
_PYPROJECT_TABLE: Path = ("tool", "onnxsim-ci")


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFile:
    """One policy file.

    Attributes:
        path: In its tree.
        tables: What it says, not yet merged with anything.
        lines: Line and column by path in `tables`.
        problems: What is wrong in it, one sentence each, with positions.
    """

    path: str
    tables: Mapping[str, Any]
    lines: Mapping[Path, tuple[int, int]]
    problems: tuple[str, ...]

    @property
    def folder(self) -> str:
        """Folder that the file's globs are relative to; empty for the root."""
        return posixpath.dirname(self.path)

    def line_column(self, path: Path) -> tuple[int, int]:
        """Where a path in `tables` stands, or the nearest placed table above it; (0, 0) for none."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return 0, 0

    def place(self, path: Path) -> str:
        """`file:line:col` of a path in `tables`; the file alone if nothing has a position."""
        line, column = self.line_column(path)
        return f"{self.path}:{line}:{column}" if line else self.path


def read_policy(tree: Tree, path: str) -> PolicyFile | None:
    """The policy file at `path`, checked; None if there is none (or a pyproject.toml without our table).

    Raises:
        BadPolicy: The text is no TOML.
    """
    raw = tree.read(path)
    return None if raw is None else _checked(path, raw)


@lru_cache(maxsize=64)
def _checked(path: str, raw: bytes) -> PolicyFile | None:
    """The policy in these bytes; kept, since each model of a repository asks for the same files."""
    text, data = _parse(path, raw)
    prefix: Path = ()
    tables: Any = data
    if posixpath.basename(path) == "pyproject.toml":
        prefix = _PYPROJECT_TABLE
        tables = data.get("tool", {}).get("onnxsim-ci")
        if tables is None:
            return None
    lines = {
        at[len(prefix) :]: line for at, line in positions(text, data).items() if at[: len(prefix)] == prefix
    }
    file = PolicyFile(path=path, tables=tables, lines=lines, problems=())
    return PolicyFile(path=path, tables=tables, lines=lines, problems=tuple(_problems(file)))


def read_chain(tree: Tree, first: PolicyFile) -> list[PolicyFile]:
    """The files that `first` extends, furthest first, and `first` itself at the end.

    Raises:
        BadPolicy: With the problems of all; also for cycles, missing files, and paths out of the tree.
    """
    files = _extended(tree, first, (first.path,))
    problems = [problem for file in files for problem in file.problems]
    if problems:
        raise BadPolicy(f"{len(problems)} mistakes in the policy", problems=tuple(problems))
    return files


def _parse(path: str, raw: bytes) -> tuple[str, dict[str, Any]]:
    try:
        text = raw.decode("utf-8-sig")
        return text, tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise BadPolicy(f"not UTF-8 at byte {error.start}", where=path) from None
    except tomllib.TOMLDecodeError as error:
        raise BadPolicy(f"not TOML: {str(error)[0].lower()}{str(error)[1:]}", where=path) from None
    except RecursionError:
        raise BadPolicy("not TOML: nested too deeply", where=path) from None


def _problems(file: PolicyFile) -> list[str]:
    try:
        Policy.model_validate(file.tables)
    except ValidationError as failure:
        found = describe(failure, file.tables, Policy)
        found.sort(key=lambda item: (item[0][:1] != ("version",), file.line_column(item[0])))
        return [f"{file.place(path)}: {dotted(path)}{sentence}" for path, sentence in found]
    return []


def dotted(path: Path) -> str:
    """`section.key: ` for messages; empty for the root."""
    return ".".join(str(step) for step in path) + ": " if path else ""


def _extended(tree: Tree, file: PolicyFile, chain: tuple[str, ...]) -> list[PolicyFile]:
    names = file.tables.get("extends", ())
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return [file]  # already among its problems
    found: list[PolicyFile] = []
    for index, name in enumerate(names):
        place = file.place(("extends", index))
        path = posixpath.normpath(posixpath.join(file.folder, name))
        if name.startswith(("/", "~")) or path.startswith("../"):
            raise BadPolicy(f"extends {name!r} leads out of the repository", where=place)
        if path in chain:
            raise BadPolicy(f"extends in a circle: {' -> '.join((*chain, path))}", where=place)
        if len(chain) >= MAX_DEPTH:
            raise BadPolicy(f"extends more than {MAX_DEPTH} files deep: {' -> '.join(chain)}", where=place)
        base = read_policy(tree, path)
        if base is None:
            raise BadPolicy(f"extends {name!r}, but there is no policy at {path}", where=place)
        found += _extended(tree, base, (*chain, path))
    return [*found, file]
