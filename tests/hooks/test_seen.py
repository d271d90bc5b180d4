"""An answer holds only while everything it rests on is as it was."""

import os
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from onnxsim_ci.hooks.seen import (
    MAX_ENTRIES,
    RACY_NS,
    Entry,
    Files,
    Noted,
    SeenTable,
    context_of,
    holds,
    now,
)

CONTEXT = "c" * 64


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    for name in ("m.onnx", "m.data", "policy.toml"):
        (root / name).write_bytes(name.encode())
    return root


@pytest.fixture
def table(tmp_path: Path) -> SeenTable:
    return SeenTable(tmp_path / "git" / "onnxsim-ci", CONTEXT)


def entry_of(root: Path, later: int = 10**12) -> Entry:
    files = Files(root, trusts_stat=False)
    others = tuple(files.note(name) for name in ("m.data", "policy.toml", "gone.toml"))
    return Entry(model=files.note("m.onnx"), others=others, noted=now() + later, code=0, line="said")


def fresh(root: Path, *, trusts_stat: bool = True) -> Files:
    return Files(root, trusts_stat=trusts_stat)


def test_what_was_remembered_is_answered(root: Path, table: SeenTable) -> None:
    entry = entry_of(root)
    table.remember([entry])
    assert table.answers(["m.onnx", "other.onnx"], fresh(root)) == {"m.onnx": entry}


@pytest.mark.parametrize("name", ["m.onnx", "m.data", "policy.toml"])
@pytest.mark.parametrize("trusts_stat", [True, False])
def test_other_bytes_are_a_miss(root: Path, table: SeenTable, name: str, trusts_stat: bool) -> None:
    table.remember([entry_of(root)])
    (root / name).write_bytes(name.upper().encode())
    assert not table.answers(["m.onnx"], fresh(root, trusts_stat=trusts_stat))


def test_a_file_that_appears_or_goes_is_a_miss(root: Path, table: SeenTable) -> None:
    table.remember([entry_of(root)])
    (root / "gone.toml").write_bytes(b"")
    assert not table.answers(["m.onnx"], fresh(root))
    (root / "gone.toml").unlink()
    assert table.answers(["m.onnx"], fresh(root))
    (root / "m.data").unlink()
    assert not table.answers(["m.onnx"], fresh(root))


def test_equal_times_save_reading_and_ci_reads_all_the_same(root: Path) -> None:
    entry = entry_of(root)
    forged = replace(entry, model=replace(entry.model, sha256="0" * 64))
    assert holds(forged, fresh(root))
    assert not holds(forged, fresh(root, trusts_stat=False))


def test_a_file_that_may_have_changed_within_a_tick_is_read(root: Path) -> None:
    entry = entry_of(root)
    status = os.stat(root / "m.onnx")
    changed = max(status.st_mtime_ns, status.st_ctime_ns)
    forged = replace(entry, model=replace(entry.model, sha256="0" * 64))
    assert not holds(replace(forged, noted=changed + RACY_NS), fresh(root))
    assert holds(replace(forged, others=(), noted=changed + RACY_NS + 1), fresh(root))


def test_another_inode_with_the_same_bytes_still_holds_and_is_quick_from_then_on(
    root: Path, table: SeenTable
) -> None:
    table.remember([entry_of(root)])
    (root / "copy").write_bytes(b"m.onnx")
    os.replace(root / "copy", root / "m.onnx")
    assert table.answers(["m.onnx"], fresh(root))
    (again,) = table.answers(["m.onnx"], fresh(root)).values()
    assert again.model.stat == fresh(root).stat("m.onnx")


def test_several_contents_of_a_path_are_kept(root: Path, table: SeenTable) -> None:
    one = entry_of(root)
    table.remember([one])
    (root / "m.onnx").write_bytes(b"two")
    table.remember([replace(entry_of(root), line="two")])
    assert table.answers(["m.onnx"], fresh(root))["m.onnx"].line == "two"
    (root / "m.onnx").write_bytes(b"m.onnx")
    assert table.answers(["m.onnx"], fresh(root))["m.onnx"].line == "said"


def test_another_context_is_a_miss(root: Path, tmp_path: Path, table: SeenTable) -> None:
    table.remember([entry_of(root)])
    other = SeenTable(tmp_path / "git" / "onnxsim-ci", "d" * 64)
    assert not other.answers(["m.onnx"], fresh(root))


def test_the_context_is_tool_versions_variables_and_arguments() -> None:
    base = context_of(("check", None), {"PATH": "/bin", "ONNXSIM_CI_CACHE": "x"}, "1")
    assert context_of(("check", None), {"PATH": "/usr", "ONNXSIM_CI_CACHE": "y"}, "1") == base
    for changed in (
        context_of(("rewrite", None), {}, "1"),
        context_of(("check", None), {}, "2"),
        context_of(("check", None), {"ONNXSIM_CI_VERIFY__SEED": "1"}, "1"),
        context_of(("check", None), {"ONNXSIM_CI_POLICY": "p"}, "1"),
    ):
        assert changed != base


def test_other_versions_of_what_computes_are_another_context(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import metadata

    before = context_of((), {}, "1")
    real = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "9.9" if name == "numpy" else real(name))
    assert context_of((), {}, "1") != before


@pytest.mark.parametrize("broken", [b"", b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_broken_table_is_a_miss_and_is_made_anew(
    root: Path, tmp_path: Path, table: SeenTable, broken: bytes
) -> None:
    place = tmp_path / "git" / "onnxsim-ci" / "seen.sqlite"
    place.parent.mkdir(parents=True)
    place.write_bytes(broken)
    assert table.answers(["m.onnx"], fresh(root)) == {}
    table.remember([entry_of(root)])
    assert table.answers(["m.onnx"], fresh(root))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"model": 3}', '{"model": {"path": "m.onnx"}}'])
def test_an_entry_of_another_form_is_a_miss(root: Path, tmp_path: Path, table: SeenTable, text: str) -> None:
    table.remember([entry_of(root)])
    with sqlite3.connect(tmp_path / "git" / "onnxsim-ci" / "seen.sqlite") as base:
        base.execute("UPDATE seen SET entry = ?", (text,))
    assert table.answers(["m.onnx"], fresh(root)) == {}


def test_a_folder_that_cannot_be_written_is_no_error(root: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    table = SeenTable(tmp_path / "file" / "onnxsim-ci", CONTEXT)
    table.remember([entry_of(root)])
    assert table.answers(["m.onnx"], fresh(root)) == {}
    assert SeenTable(None, CONTEXT).answers(["m.onnx"], fresh(root)) == {}


def test_the_table_does_not_grow_for_ever(root: Path, tmp_path: Path, table: SeenTable) -> None:
    entry = entry_of(root)
    many = [replace(entry, model=Noted(f"{i}.onnx", "0" * 64), noted=i) for i in range(MAX_ENTRIES + 50)]
    table.remember(many)
    with sqlite3.connect(tmp_path / "git" / "onnxsim-ci" / "seen.sqlite") as base:
        assert base.execute("SELECT count(*), min(noted) FROM seen").fetchone() == (MAX_ENTRIES, 50)


def test_names_that_are_no_utf8_are_kept(root: Path, table: SeenTable) -> None:
    name = os.fsdecode(b"latin\xe9.onnx")
    (root / name).write_bytes(b"x")
    files = Files(root, trusts_stat=False)
    table.remember([Entry(model=files.note(name), others=(), noted=now(), code=0, line="")])
    assert table.answers([name], fresh(root))
