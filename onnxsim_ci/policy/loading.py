"""Policy files read and checked: one file, and the chain of files that it extends.

House: policy. May import policy.document, discovery, mistakes, positions.
Touch: docs/policy.md when the form of a message changes.
"""

import posixpath
import tomllib
from collections.abc import Iterator, Mapping
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
MAX_FILES = 64
"""Policy files that one model's policy may consist of, each counted as often as it is extended."""
MAX_BYTES = 256 << 10
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
        BadPolicy: The file cannot be read, is too large, or is no TOML.
    """
    try:
        raw = tree.read(path)
    except OSError as error:
        raise BadPolicy(f"cannot be read ({error.strerror})", where=path) from None
    if raw is None:
        return None
    if len(raw) > MAX_BYTES:
        if posixpath.basename(path) == "pyproject.toml" and b"onnxsim-ci" not in raw:
            return None
        raise BadPolicy(f"has {len(raw):,} bytes, a policy at most {MAX_BYTES:,}", where=path)
    try:
        return _checked(path, raw)
    except RecursionError:
        raise BadPolicy("not TOML: nested too deeply", where=path) from None


@lru_cache(maxsize=64)
def _checked(path: str, raw: bytes) -> PolicyFile | None:
    """The policy in these bytes; kept, since each model of a repository asks for the same files."""
    text, data = _parse(path, raw)
    prefix: Path = ()
    tables: Any = data
    if posixpath.basename(path) == "pyproject.toml":
        prefix = _PYPROJECT_TABLE
        tools = data.get("tool")
        tables = tools.get("onnxsim-ci") if isinstance(tools, dict) else None
        if tables is None:
            return None
        if not isinstance(tables, dict):
            raise BadPolicy("tool.onnxsim-ci: expected a table", where=path)
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
    chain = gather(tree, first)
    if chain.problems:
        raise BadPolicy(f"{len(chain.problems)} mistakes in the policy", problems=chain.problems)
    return list(chain.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """A policy file with what it extends.

    Attributes:
        files: Furthest first, the file itself at the end.
        problems: Everything that is wrong, of the file itself first.
    """

    files: tuple[PolicyFile, ...]
    problems: tuple[str, ...]


def gather(tree: Tree, first: PolicyFile) -> Chain:
    """The files that `first` extends, and all mistakes in them; nothing is raised."""
    files: list[PolicyFile] = []
    broken: list[str] = []
    _extend(tree, first, (first.path,), files, broken)
    problems = [problem for file in reversed(files) for problem in file.problems]
    return Chain(files=tuple(files), problems=tuple(dict.fromkeys([*problems, *broken])))


def _parse(path: str, raw: bytes) -> tuple[str, dict[str, Any]]:
    try:
        text = raw.decode("utf-8-sig")
        return text, tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise BadPolicy(f"not UTF-8 at byte {error.start}", where=path) from None
    except tomllib.TOMLDecodeError as error:
        raise BadPolicy(f"not TOML: {str(error)[0].lower()}{str(error)[1:]}", where=path) from None
    except ValueError:
        raise BadPolicy("not TOML: a number has too many digits", where=path) from None


def _problems(file: PolicyFile) -> list[str]:
    found = list(_repeated(file.tables.get("overrides")))
    try:
        Policy.model_validate(file.tables)
    except ValidationError as failure:
        found += describe(failure, file.tables, Policy)
    found.sort(key=lambda item: (item[0][:1] != ("version",), file.line_column(item[0])))
    return [f"{file.place(path)}: {dotted(path)}{sentence}" for path, sentence in found]


def _repeated(overrides: object) -> Iterator[tuple[Path, str]]:
    """Overrides whose files an earlier one has; said beside whatever else is wrong with them."""
    seen: dict[frozenset[str], int] = {}
    for index, override in enumerate(overrides if isinstance(overrides, list) else ()):
        files = override.get("files") if isinstance(override, dict) else None
        if isinstance(files, list) and files and all(isinstance(name, str) for name in files):
            first = seen.setdefault(frozenset(files), index)
            if first != index:
                yield ("overrides", index, "files"), f"the same files as in overrides.{first}; merge them"


def dotted(path: Path) -> str:
    """`section.key: ` for messages; empty for the root."""
    return ".".join(str(step) for step in path) + ": " if path else ""


def _extend(
    tree: Tree, file: PolicyFile, chain: tuple[str, ...], files: list[PolicyFile], broken: list[str]
) -> None:
    """Add what `file` extends to `files`, then itself; links of the chain that lead nowhere to `broken`."""
    names = file.tables.get("extends", ())
    is_list = isinstance(names, list) and all(isinstance(name, str) for name in names)
    for index, name in enumerate(names if is_list else ()):  # another form is among its problems already
        path = posixpath.normpath(posixpath.join(file.folder, name))
        if len(files) + len(chain) >= MAX_FILES:
            broken.append(f"{chain[0]}: extends more than {MAX_FILES} files")
            break
        try:
            base = _base(tree, name, path, chain)
        except BadPolicy as mistake:
            broken.append(str(mistake) if mistake.where else f"{file.place(('extends', index))}: {mistake}")
        else:
            _extend(tree, base, (*chain, path), files, broken)
    files.append(file)


def _base(tree: Tree, name: str, path: str, chain: tuple[str, ...]) -> PolicyFile:
    """The file that `name` means.

    Raises:
        BadPolicy: It cannot be extended; with `where` if it is no TOML.
    """
    if name.startswith(("/", "~")) or path.startswith("../"):
        raise BadPolicy(f"extends {name!r} leads out of the repository")
    if path in chain:
        raise BadPolicy(f"extends in a circle: {' -> '.join((*chain, path))}")
    if len(chain) >= MAX_DEPTH:
        raise BadPolicy(f"extends more than {MAX_DEPTH} files deep: {' -> '.join(chain)}")
    base = read_policy(tree, path)
    if base is None:
        raise BadPolicy(f"extends {name!r}, but there is no policy at {path}")
    return base
