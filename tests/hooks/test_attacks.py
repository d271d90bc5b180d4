"""What a repository holds decides what is simplified, and no more: it runs no code, removes no file."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from small_models import save

DEAD = 4194399
"""No process has this number: it is above the kernel's limit."""


def test_a_module_in_the_work_tree_is_not_imported(here: Path, script: Any) -> None:
    names = ["a.onnx", "b.onnx"]
    for name in names:
        save(here / name)
    for module in ("multiprocessing", "pickle", "onnx", "pebble"):
        (here / module).mkdir()
        (here / module / "__init__.py").write_text(f"open({str(here / 'ran')!r}, 'w')\nraise SystemExit(3)\n")
    done = script(*names)
    assert (done.code, done.err) == (1, "")
    assert not (here / "ran").exists()


def test_a_planted_note_removes_nothing(here: Path, hook: Any) -> None:
    save(here / "m.onnx")
    for name in ("notes.txt", "m.data"):
        (here / name).write_text("precious")
    head = (here / ".git" / "HEAD").read_bytes()
    for index, text in enumerate(
        (
            json.dumps(["notes.txt", ".git/HEAD"]),
            json.dumps({"notes.txt": [0, 0], "m.data": None, ".git/HEAD": [1, 2]}),
            "[" * 100_000,
            "null",
        )
    ):
        (here / f".m.onnx.{DEAD + index}.onnxsim-ci.outdated").write_text(text)
    (here / f".m.onnx.{DEAD + 9}.onnxsim-ci.outdated").symlink_to("/dev/zero")
    assert hook("m.onnx").code == 1
    assert {path.name for path in here.iterdir()} == {".git", "m.onnx", "notes.txt", "m.data"}
    assert (here / ".git" / "HEAD").read_bytes() == head


@pytest.mark.parametrize("suffix", ["tmp", "outdated"])
@pytest.mark.parametrize("count", [1, 2])
def test_a_folder_under_our_names_stops_nobody(here: Path, hook: Any, suffix: str, count: int) -> None:
    names = ["m.onnx", "n.onnx"][:count]
    for name in names:
        save(here / name)
    folder = here / f".m.onnx.{DEAD}.onnxsim-ci.{suffix}"
    (folder / "inner").mkdir(parents=True)
    done = hook(*names)
    assert (done.code, len(done.lines)) == (1, count)
    assert folder.is_dir()


def test_an_empty_attribute_value_is_none_of_lfs(here: Path, hook: Any) -> None:
    (here / ".gitattributes").write_text("*.onnx filter=\n")
    save(here / "m.onnx")
    assert hook("m.onnx").code == 1


def test_a_data_file_that_changed_after_the_note_stays(here: Path) -> None:
    from onnxsim_ci.model import note_outdated, remove_outdated

    save(here / "m.onnx")
    for name in ("old.data", "again.data"):
        (here / name).write_bytes(b"weights")
    note_outdated(here / "m.onnx", ["old.data", "again.data", "gone.data"])
    os.utime(here / "again.data")
    assert remove_outdated(here / "m.onnx") == ("old.data",)
    assert (here / "again.data").is_file()


def test_a_model_named_as_an_option_is_a_model(here: Path, hook: Any) -> None:
    names = ["--policy=x.onnx", "--set=a.b.onnx", "--jobs=2.onnx"]
    for name in names:
        save(here / name)
    done = hook(*names)
    assert (done.code, len(done.lines)) == (1, 3)
    assert all("→" in line for line in done.lines)


def test_a_place_for_locks_that_is_taken_is_a_sentence(here: Path, hook: Any) -> None:
    names = ["a.onnx", "b.onnx"]
    before = [save(here / name).read_bytes() for name in names]
    (here / ".git" / "onnxsim-ci").mkdir()
    (here / ".git" / "onnxsim-ci" / "locks").write_text("")
    done = hook(*names)
    assert done.code == 2
    assert [line.split(" (")[0] for line in done.lines] == [f"{name}: cannot be locked" for name in names]
    assert [(here / name).read_bytes() for name in names] == before
