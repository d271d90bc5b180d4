"""Pointers, damaged pointers, models: told apart; content is checked, not believed."""

import hashlib
import shutil
from pathlib import Path
from typing import Any

import pytest

from onnxsim_ci.vcs import DamagedPointer, Pointer, lfs_paths, mismatch, read_pointer, staged_size

OID = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
WHOLE = f"version https://git-lfs.github.com/spec/v1\noid sha256:{OID}\nsize 12345\n"

DAMAGED = [
    (
        WHOLE.replace("oid", f"<<<<<<< HEAD\noid sha256:{OID}\n=======\noid") + ">>>>>>> b\n",
        "conflict markers",
    ),
    ("<<<<<<< HEAD\n" + WHOLE, "conflict markers"),
    (WHOLE.replace(OID, OID[:-1]), "no oid"),
    (WHOLE.replace(OID, OID.upper()), "no oid"),
    (WHOLE.replace("size 12345\n", ""), "no size"),
    (WHOLE.replace("12345", "-1"), "no size"),
    (WHOLE + "x " + "y" * 1024 + "\n", "more than 1024 bytes"),
    (WHOLE.partition("\n")[2], "first line is not the version"),
    (WHOLE.replace("git-lfs.github.com", "example.com"), "version 'https://example.com/spec/v1' is unknown"),
]
OTHERS = [b"", b"\x08\x07\x12\x04", b"hello\n", b"\x08\x07" + WHOLE.encode(), WHOLE.encode() + b"\0"]


def test_a_pointer_is_read() -> None:
    assert read_pointer(WHOLE.encode()) == Pointer(OID, 12345)
    assert read_pointer(WHOLE.replace("\n", "\r\n").encode()) == Pointer(OID, 12345)
    extended = WHOLE.replace("oid", "ext-0-foo sha256:" + OID + "\noid")
    assert read_pointer(extended.encode()) == Pointer(OID, 12345)


@pytest.mark.parametrize(("text", "reason"), DAMAGED, ids=[reason for _, reason in DAMAGED])
def test_a_damaged_pointer_is_named(text: str, reason: str) -> None:
    found = read_pointer(text.encode())
    assert isinstance(found, DamagedPointer)
    assert reason in found.reason


@pytest.mark.parametrize("data", OTHERS)
def test_everything_else_is_no_pointer(data: bytes) -> None:
    assert read_pointer(data) is None


def test_content_is_checked_by_size_and_digest(tmp_path: Path) -> None:
    content = b"weights" * 100
    pointer = Pointer(hashlib.sha256(content).hexdigest(), len(content))
    file = tmp_path / "m.onnx"
    file.write_bytes(content)
    assert mismatch(pointer, content) is None
    assert mismatch(pointer, file) is None
    assert "has 699 bytes" in (mismatch(pointer, content[:-1]) or "")
    assert "sha256" in (mismatch(pointer, b"W" + content[1:]) or "")
    file.write_bytes(WHOLE.encode())
    assert f"has {len(WHOLE)} bytes" in (mismatch(pointer, file) or "")


def test_attributes_come_from_git(repository: Path) -> None:
    (repository / ".gitattributes").write_text("*.onnx filter=lfs diff=lfs\nsmall/*.onnx -filter\n")
    names = ["a.onnx", "-dash.onnx", "small/b.onnx", "nl\nx.onnx", "c.txt"]
    assert lfs_paths(repository, names) == {"a.onnx", "-dash.onnx", "nl\nx.onnx"}
    assert lfs_paths(repository, []) == frozenset()


@pytest.mark.skipif(shutil.which("git-lfs") is None, reason="git-lfs is not installed")
def test_pointers_that_git_lfs_writes_are_read(repository: Path, run_git: Any) -> None:
    run_git("lfs", "install", "--local")
    run_git("lfs", "track", "*.onnx")
    content = b"\x08\x07" * 4000
    (repository / "m.onnx").write_bytes(content)
    run_git("add", "-A")
    pointer = read_pointer(run_git("show", ":m.onnx"))
    assert isinstance(pointer, Pointer)
    assert mismatch(pointer, repository / "m.onnx") is None
    assert staged_size(repository, "m.onnx") == len(run_git("show", ":m.onnx"))
    assert staged_size(repository, "gone.onnx") is None
