"""Which models a command means: files, folders, standard input, and where results go.

House: cli. May import policy, vcs and errors.
Touch: README.md says how SRC and -o are read.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from onnxsim_ci.errors import BadInput
from onnxsim_ci.policy import Resolved
from onnxsim_ci.vcs import DamagedPointer, Pointer, read_pointer
from onnxsim_ci.vcs.lfs import MAX_BYTES

Resolve = Callable[[str], Resolved]
"""The effective policy of a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One model to work on.

    Attributes:
        path: As it is shown, and opened.
        relative: Path below the folder that was named; the file's name for a file.
        pointer: What it is instead of a model, if it was found and not named: a git-LFS pointer.
    """

    path: str
    relative: Path
    pointer: Pointer | DamagedPointer | None = None


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
    root = resolved.root or folder.resolve()
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if any(part.startswith(".") for part in relative.parts) or not path.is_file():
            continue
        place = folder.resolve() / relative
        named = place.relative_to(root) if place.is_relative_to(root) else relative
        if resolved.selects(named.as_posix()):
            yield Source(path=str(path), relative=relative, pointer=pointer_of(path))


def pointer_of(path: Path) -> Pointer | DamagedPointer | None:
    """The git-LFS pointer that stands at `path` instead of a model, whole or damaged."""
    try:
        with path.open("rb") as file:
            return read_pointer(file.read(MAX_BYTES + 1))
    except OSError:
        return None  # whoever opens it next says why


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
