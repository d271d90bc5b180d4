"""The work on one model in its child process, under the locks of its files; data files mapped to models.

House: hooks. May import fleet, model, report, vcs.
Touch: nothing else.
"""

import mmap
from pathlib import Path

from onnxsim_ci.errors import BadInput, LfsPointer
from onnxsim_ci.fleet import Task, stopped_entry, sweep, work
from onnxsim_ci.hooks.locks import locked
from onnxsim_ci.report import ModelReport, failed_entry
from onnxsim_ci.vcs import Pointer, read_pointer
from onnxsim_ci.vcs.lfs import MAX_BYTES


def check_one(task: Task, *, requires_content: bool) -> ModelReport:
    """What simplify would do."""
    data = data_files(Path(task.path))
    return _without_content(task, data, requires_content=requires_content) or work(task)


def rewrite_one(task: Task, locks: Path | None, *, requires_content: bool) -> ModelReport:
    """Simplify the model in place, while no other hook touches it or its data."""
    model = Path(task.path)
    data = data_files(model)
    try:
        with locked(locks, (model, *(model.parent / name for name in data))):
            sweep(task)
            return _without_content(task, data, requires_content=requires_content) or work(task)
    except OSError as error:  # of the locks: work raises nothing
        reason = f"{model}: cannot be locked ({error.strerror}: {locks})"
        return failed_entry(task.path, BadInput(reason))


def _without_content(task: Task, data: tuple[str, ...], *, requires_content: bool) -> ModelReport | None:
    """The entry of a model that is here without its weights; None if all are here."""
    for name in data:
        if is_pointer(Path(task.path).parent / name):
            reason = f"{name} is a git-LFS pointer; `git lfs pull` fetches the content"
            if requires_content:
                return failed_entry(task.path, LfsPointer(reason))
            return stopped_entry(task, reason).model_copy(update={"data_files": data})
    return None


def is_pointer(file: Path) -> bool:
    """Whether git-lfs has not fetched the content of the file yet."""
    try:
        with file.open("rb") as stream:
            return isinstance(read_pointer(stream.read(MAX_BYTES + 1)), Pointer)
    except (OSError, ValueError):
        return False


def data_files(model: Path) -> tuple[str, ...]:
    """External data files that the model names; none if it cannot be read, which `work` will say."""
    from onnxsim_ci.model import load, named_data_files

    try:
        return named_data_files(load(model).proto)
    except BadInput:
        return ()


def models_of_data(file: Path, root: Path) -> list[Path]:
    """Models that name `file` as external data: they lie in its folder, or above."""
    folders = [folder for folder in file.parents if folder.is_relative_to(root)]
    found = []
    for folder in folders:
        wanted = file.relative_to(folder).as_posix()
        models = sorted(
            path for path in folder.iterdir() if path.suffix.lower() == ".onnx" and path.is_file()
        )
        found += [path for path in models if mentions(path, file.name) and wanted in data_files(path)]
    return found


def mentions(model: Path, name: str) -> bool:
    """Whether the bytes of the model hold the name: cheaper than reading it."""
    try:
        with model.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(name.encode(errors="surrogateescape")) >= 0
    except (OSError, ValueError):
        return False
