"""`check --all`: a whole repository, as a required job of CI sees it."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from small_models import BLOATED, SIMPLE, save

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 12345\n"


def git(here: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=here, check=True, capture_output=True)


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    git(tmp_path, "init", "-q")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_tracked_models_are_grouped_by_what_came_of_them(empty: Path, call: Any) -> None:
    save(empty / "a.onnx", BLOATED)
    save(empty / "deep" / "b.onnx", BLOATED)
    save(empty / "fine.onnx", SIMPLE)
    (empty / "broken.onnx").write_bytes(b"\x08\x07no")
    (empty / "pointer.onnx").write_text(POINTER)
    (empty / "link.onnx").symlink_to("fine.onnx")
    git(empty, "add", "-A")
    save(empty / "untracked.onnx", BLOATED)
    done = call("check", "--all")
    assert done.code == 2
    lines = done.out.splitlines()
    heads = [line for line in lines if line.endswith(")") and not line.startswith(" ")]
    assert heads == ["failed (1)", "would be simplified (2)", "skipped (1)", "fine (1)"]
    assert "  a.onnx       3 -> 1 nodes, 109 B -> 73 B" in lines
    assert "untracked" not in done.out
    assert "link.onnx" not in done.out
    assert "fine.onnx" not in done.out
    summary = next(line for line in lines if line.startswith("5 models: "))
    for part in ("1 failed", "2 would be simplified", "1 skipped", "1 unchanged"):
        assert part in summary
    assert call("check", "--all", "--verbose").out.count("fine.onnx") == 1
    report = json.loads(call("check", "--all", "--json").out)
    assert sorted(entry["path"] for entry in report["models"]) == [
        "a.onnx", "broken.onnx", "deep/b.onnx", "fine.onnx", "pointer.onnx",
    ]  # fmt: skip


def test_each_folder_has_its_nearest_policy(empty: Path, call: Any) -> None:
    for name in ("a.onnx", "third/b.onnx", "off/c.onnx", "weights/d.pb", "UP.ONNX"):
        save(empty / name, BLOATED)
    (empty / "onnxsim-ci.toml").write_text('exclude = ["third/**"]\n')
    (empty / "off" / ".onnxsim-ci.toml").parent.mkdir(exist_ok=True)
    (empty / "off" / ".onnxsim-ci.toml").write_text('simplify.level = "off"\n')
    (empty / "weights" / "pyproject.toml").write_text('[tool.onnxsim-ci]\ninclude = ["*.pb"]\n')
    git(empty, "add", "-A")
    done = call("check", "--all", "--json")
    found = {entry["path"]: entry["outcome"] for entry in json.loads(done.out)["models"]}
    assert found == {
        "a.onnx": "simplified",
        "UP.ONNX": "simplified",
        "off/c.onnx": "unchanged",
        "weights/d.pb": "simplified",
    }
    (empty / "off" / ".onnxsim-ci.toml").write_text("simplify.levl = 1\n")
    (empty / "weights" / "pyproject.toml").write_text("[tool.onnxsim-ci]\nincluded = []\n")
    done = call("check", "--all")
    assert (done.code, done.out) == (2, "")
    assert done.err.count("error[bad-policy]") == 2


def test_from_a_folder_below_the_whole_repository_is_looked_at(
    empty: Path, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(empty / "a.onnx", BLOATED)
    save(empty / "deep" / "b.onnx", SIMPLE)
    git(empty, "add", "-A")
    monkeypatch.chdir(empty / "deep")
    done = call("check", "--all")
    assert done.code == 1
    assert "../a.onnx" in done.out


def test_pointers_count_and_damaged_ones_fail(empty: Path, call: Any) -> None:
    (empty / "p.onnx").write_text(POINTER)
    git(empty, "add", "-A")
    done = call("check", "--all")
    assert done.code == 0
    assert call("check", "--all", "--require-content").code == 2
    (empty / "p.onnx").write_text("<<<<<<< HEAD\n" + POINTER)
    done = call("check", "--all")
    assert done.code == 2
    assert "damaged git-LFS pointer: it has conflict markers" in done.err + done.out


def test_a_repository_without_models_is_fine_and_no_repository_is_not(
    empty: Path, call: Any, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    done = call("check", "--all")
    assert (done.code, done.out) == (0, "no model of the repository is included\n")
    monkeypatch.chdir(tmp_path_factory.mktemp("plain"))
    assert call("check", "--all").code == 2
    assert call("check", "--all", "a.onnx").code == 2
    assert call("check").code == 2


def test_since_looks_for_newer_rules_only(empty: Path, call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from onnxsim_ci.policy import rule_history

    save(empty / "a.onnx", BLOATED)
    git(empty, "add", "-A")
    assert call("check", "--all", "--since", "0.0.1").code == 1
    assert call("check", "--all", "--since", "0.1.0").code == 0
    monkeypatch.setitem(rule_history.INTRODUCED, "eliminate-identity", "0.2.0")
    assert call("check", "--all", "--since", "0.1.0").code == 1
    assert call("check", "--all", "--since", "0.2.0").code == 0
    assert call("check", "--all", "--since", "new").code == 2
    assert call("check", "a.onnx", "--since", "0.1.0", "--set", "simplify.level=off").code == 0


def test_the_history_names_rules_that_exist() -> None:
    from packaging.version import Version

    from onnxsim_ci.policy.rule_history import FIRST_RELEASE, INTRODUCED, rules_of
    from onnxsim_ci.rewrite import RULES

    assert set(INTRODUCED) <= {rule.id for rule in RULES}
    assert all(Version(version) > Version(FIRST_RELEASE) for version in INTRODUCED.values())
    assert set(rules_of("999")) > {rule.id for rule in RULES}
