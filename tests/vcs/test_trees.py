"""Work trees and revisions say the same about the same files."""

import os
from pathlib import Path
from typing import Any

import pytest

from onnxsim_ci.errors import GitFailed
from onnxsim_ci.policy import resolve
from onnxsim_ci.vcs import ReadingTree, RevisionTree, WorkTree, common_folder, repository_root, tracked_files

HOSTILE = (
    "a b.onnx",
    "-dash.onnx",
    "nl\nx.onnx",
    "tab\tx.onnx",
    "q'\"`$(x).onnx",
    "ünï-コ.onnx",
    "a\\b.onnx",
)


@pytest.fixture
def filled(repository: Path, run_git: Any) -> Path:
    for name in HOSTILE:
        (repository / name).write_bytes(f"content of {name}".encode())
    (repository / os.fsdecode(b"latin\xe9.onnx")).write_bytes(b"latin")
    (repository / "deep" / "er").mkdir(parents=True)
    (repository / "deep" / "er" / "m.onnx").write_bytes(b"\0\n\0 binary\n")
    (repository / "empty.onnx").write_bytes(b"")
    (repository / "link.onnx").symlink_to("empty.onnx")
    (repository / "out").symlink_to("/")
    run_git("add", "-A")
    run_git("commit", "-qm", "one")
    return repository


def test_both_trees_hold_the_same_bytes_under_every_name(filled: Path) -> None:
    work = WorkTree(filled)
    with RevisionTree(filled, "HEAD") as revision:
        assert set(work.list()) == {*revision.list(), "link.onnx"}
        for path in revision.list():
            assert revision.read(path) == work.read(path) == (filled / path).read_bytes()


def test_a_revision_is_read_from_its_objects_not_from_the_work_tree(filled: Path, run_git: Any) -> None:
    (filled / "empty.onnx").write_bytes(b"changed, not committed")
    (filled / "deep" / "er" / "m.onnx").unlink()
    with RevisionTree(filled, "HEAD") as revision:
        assert revision.read("empty.onnx") == b""
        assert revision.read("deep/er/m.onnx") == b"\0\n\0 binary\n"
    run_git("commit", "-qam", "two")
    with RevisionTree(filled, "HEAD~1") as before, RevisionTree(filled, "HEAD") as after:
        assert before.read("deep/er/m.onnx") is not None
        assert after.read("deep/er/m.onnx") is None
        assert after.read("empty.onnx") == b"changed, not committed"


def test_links_and_submodules_are_listed_and_never_opened(filled: Path) -> None:
    with RevisionTree(filled, "HEAD") as revision:
        assert revision.entries["link.onnx"].mode == "120000"
        assert not revision.entries["link.onnx"].is_file
        assert revision.read("link.onnx") is None
        assert "link.onnx" not in set(revision.list())


def test_a_work_tree_does_not_follow_links_out_of_it(filled: Path) -> None:
    assert WorkTree(filled).read("out/etc/hostname") is None
    assert WorkTree(filled).read("link.onnx") == b""


def test_an_unknown_revision_and_a_missing_object_are_one_sentence(filled: Path, run_git: Any) -> None:
    with pytest.raises(GitFailed, match="rev-parse failed"):
        RevisionTree(filled, "no-such-branch")
    with pytest.raises(GitFailed, match="rev-parse failed"):
        RevisionTree(filled, "--help")
    blob = run_git("rev-parse", "HEAD:deep/er/m.onnx").decode().strip()
    place = filled / ".git" / "objects" / blob[:2] / blob[2:]
    place.unlink()
    with RevisionTree(filled, "HEAD") as revision, pytest.raises(GitFailed, match=blob):
        revision.read("deep/er/m.onnx")


def test_outside_a_repository_git_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(GitFailed, match="not a git repository"):
        RevisionTree(tmp_path, "HEAD")


def test_the_policy_of_each_path_is_found_in_a_revision(filled: Path, run_git: Any) -> None:
    (filled / "onnxsim-ci.toml").write_text("[verify]\nseed = 1\n")
    (filled / "deep" / "onnxsim-ci.toml").write_text('extends = ["../onnxsim-ci.toml"]\nverify.samples = 2\n')
    run_git("add", "-A")
    run_git("commit", "-qm", "policy")
    (filled / "onnxsim-ci.toml").write_text("[verify]\nseed = 9\n")
    with RevisionTree(filled, "HEAD") as revision:
        top = resolve("empty.onnx", tree=revision, environ={})
        deep = resolve("deep/er/m.onnx", tree=revision, environ={})
        named = resolve("empty.onnx", tree=revision, file="deep/onnxsim-ci.toml", environ={})
    assert (top.policy.verify.seed, top.policy.verify.samples) == (1, 6)
    assert (deep.policy.verify.seed, deep.policy.verify.samples) == (1, 2)
    assert named.policy.verify.samples == 2
    assert deep.origin("verify", "samples") == "deep/onnxsim-ci.toml:2:8"


def test_a_reading_tree_tells_what_was_asked_for(filled: Path) -> None:
    (filled / "deep" / "onnxsim-ci.toml").write_text("[verify]\nseed = 1\n")
    tree = ReadingTree(WorkTree(filled))
    resolve("deep/er/m.onnx", tree=tree, environ={})
    assert list(tree.reads) == [
        "deep/er/onnxsim-ci.toml",
        "deep/er/.onnxsim-ci.toml",
        "deep/er/pyproject.toml",
        "deep/onnxsim-ci.toml",
    ]
    assert [path for path, data in tree.reads.items() if data is not None] == ["deep/onnxsim-ci.toml"]


def test_tracked_files_are_those_of_the_index(filled: Path, run_git: Any) -> None:
    (filled / "untracked.onnx").write_bytes(b"x")
    (filled / "staged.onnx").write_bytes(b"x")
    run_git("add", "staged.onnx")
    found = {file.path: file for file in tracked_files(filled)}
    assert {*HOSTILE, "staged.onnx", "deep/er/m.onnx", os.fsdecode(b"latin\xe9.onnx")} <= set(found)
    assert "untracked.onnx" not in found
    assert not found["link.onnx"].is_file


def test_the_common_folder_is_shared_by_work_trees(filled: Path, tmp_path: Path, run_git: Any) -> None:
    run_git("worktree", "add", "-q", str(tmp_path / "other"))
    assert common_folder(filled) == filled / ".git"
    assert common_folder(tmp_path / "other") == filled / ".git"
    assert repository_root(tmp_path / "other" / "deep" / "er") == tmp_path / "other"
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / ".git").write_text("nonsense")
    assert common_folder(tmp_path / "odd") is None
