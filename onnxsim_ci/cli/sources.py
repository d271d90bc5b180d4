"""Which models a command means: files, folders, standard input, and where results go.

House: cli. May import policy and errors.
Touch: README.md says how SRC and -o are read.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from onnxsim_ci.errors import BadInput
from onnxsim_ci.policy import Resolved, matches

Resolve = Callable[[str], Resolved]
"""The effective policy of a model."""

LFS_HEAD = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One model to work on.

    Attributes:
        path: As it is shown, and opened.
        relative: Path below the folder that was named; the file's name for a file.
        is_pointer: It was found in a folder and is a git-LFS pointer.
    """

    path: str
    relative: Path
    is_pointer: bool = False


def find_sources(names: Sequence[str], resolve: Resolve) -> list[Source]:
    """Models behind `names`, each once, in order; folders are searched by the policy's include and exclude.

    Raises:
        BadInput: A name does not exist, or a folder holds no model.
    """
    found: dict[str, Source] = {}
    for name in names:
        for source in _sources_of(name, resolve):
            found.setdefault(source.path, source)
    return list(found.values())


def _sources_of(name: str, resolve: Resolve) -> Iterator[Source]:
    path = Path(name)
    if name == "-":
        yield Source(path="-", relative=Path("stdin.onnx"))
    elif path.is_dir():
        inside = list(_in_folder(path, resolve))
        if not inside:
            raise BadInput(
                "there is no model in this folder", where=name, hint="the policy's include names them"
            )
        yield from inside
    elif path.exists() or path.is_symlink():
        yield Source(path=name, relative=Path(path.name))
    else:
        raise BadInput("there is no such file", where=name)


def _in_folder(folder: Path, resolve: Resolve) -> Iterator[Source]:
    resolved = resolve(str(folder / "model.onnx"))
    policy, anchor = resolved.policy, resolved.folder or folder.resolve()
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if any(part.startswith(".") for part in relative.parts) or not path.is_file():
            continue
        place = folder.resolve() / relative
        named = place.relative_to(anchor).as_posix() if place.is_relative_to(anchor) else relative.as_posix()
        if matches(policy.include, "", named) and not matches(policy.exclude, "", named):
            yield Source(path=str(path), relative=relative, is_pointer=_is_pointer(path))


def _is_pointer(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(LFS_HEAD)) == LFS_HEAD


def destinations(sources: Sequence[Source], output: str | None, *, is_in_place: bool) -> list[Path | None]:
    """Where the result of each source goes; None for nowhere.

    Raises:
        BadInput: Several models cannot go into one file.
    """
    if is_in_place:
        return [Path(source.path) for source in sources]
    if output is None or output == "-":
        return [None for _ in sources]
    target = Path(output)
    is_new = len(sources) > 1 and not target.exists()
    is_folder = output.endswith(("/", "\\")) or target.is_dir() or is_new
    if not is_folder and len(sources) > 1:
        raise BadInput(
            f"{len(sources)} models cannot go into one file", where=output, hint="name a folder with -o"
        )
    if not is_folder:
        return [target]
    places = [target / source.relative for source in sources]
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
    return list(places)
