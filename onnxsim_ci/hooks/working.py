"""The work on one model in its child process, under the locks of its files; data files mapped to models.

House: hooks. May import fleet, model, report.
Touch: nothing else.
"""

import mmap
from pathlib import Path

from onnxsim_ci.errors import BadInput
from onnxsim_ci.fleet import Task, sweep, work
from onnxsim_ci.hooks.locks import locked
from onnxsim_ci.report import ModelReport, failed_entry


def check_one(task: Task) -> ModelReport:
    """What simplify would do."""
    return work(task)


def rewrite_one(task: Task, locks: Path | None) -> ModelReport:
    """Simplify the model in place, while no other hook touches it or its data."""
    model = Path(task.path)
    try:
        with locked(locks, (model, *(model.parent / name for name in data_files(model)))):
            sweep(task)
            return work(task)
    except OSError as error:  # of the locks: work raises nothing
        reason = f"{model}: cannot be locked ({error.strerror}: {locks})"
        return failed_entry(task.path, BadInput(reason))


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
