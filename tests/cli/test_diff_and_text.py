"""diff of two models; text as git's textconv in a real repository."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from small_models import BLOATED, SIMPLE, save

OTHER = SIMPLE.replace("float[N,3] x", "float[2,3] x").replace('"" : 17', '"" : 18').replace("Relu", "Abs")


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "a.onnx", BLOATED)
    save(tmp_path / "b.onnx", SIMPLE)
    save(tmp_path / "c.onnx", OTHER)
    return tmp_path


def test_diff_shows_figures_operators_and_the_verdict(two: Path, call: Any) -> None:
    done = call("diff", "a.onnx", "b.onnx")
    assert done.code == 0
    for words in ("Identity", "nodes", "size", "equivalent", "latency   not measured"):
        assert words in done.out
    assert "input" not in done.out


def test_diff_names_changes_of_the_interface_and_exits_1(two: Path, call: Any) -> None:
    done = call("diff", "b.onnx", "c.onnx")
    assert done.code == 1
    assert "input     x: float [N, 3] -> float [2, 3]" in done.out
    assert "opset     ai.onnx: 17 -> 18" in done.out
    assert "differs" in done.out


def test_diff_as_json_is_a_report(two: Path, call: Any) -> None:
    done = call("diff", "a.onnx", "b.onnx", "--json")
    (entry,) = json.loads(done.out)["models"]
    assert (entry["relation"], entry["latency"], entry["latency_reason"]) == ("pair", None, "not measured")
    assert entry["source"]["nodes"] - entry["result"]["nodes"] == 2
    assert entry["verdict"]["verdict"] == "equivalent"
    assert call("diff", "a.onnx", "gone.onnx").code == 2


def git(here: Path, *arguments: str) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", *arguments],
        cwd=here, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_git_shows_models_as_text_whatever_they_are_called(two: Path, call: Any) -> None:
    assert call("text", "--setup-git").code == 0
    (two / ".gitattributes").write_text("*.onnx diff=onnx\n")
    save(two / "-dash.onnx", BLOATED)
    save(two / "--help.onnx", BLOATED)
    (two / "broken.onnx").write_bytes(b"\x08\x07")
    (two / "pointer.onnx").write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 1\n"
    )
    git(two, "add", "-A")
    git(two, "commit", "-qm", "one")
    for name in ("a.onnx", "-dash.onnx", "--help.onnx"):
        save(two / name, SIMPLE)
    (two / "broken.onnx").write_bytes(b"\x08\x07\x00")
    (two / "pointer.onnx").write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:" + "b" * 64 + "\nsize 1\n"
    )
    shown = git(two, "diff")
    assert shown.count("Identity(") == 3
    assert "-no model: " in shown
    assert "+oid sha256:" + "b" * 64 in shown
    assert "Binary files" not in shown
    git(two, "commit", "-qam", "two")
    assert "Identity(" in git(two, "log", "-p", "--", "a.onnx")


def test_text_alone_is_strict(
    two: Path, call: Any, tmp_path_factory: pytest.TempPathFactory, monkeypatch: Any
) -> None:
    (two / "broken.onnx").write_bytes(b"\x08\x07")
    assert call("text", "broken.onnx").code == 2
    assert call("text").code == 2
    done = call("text", "--textconv", "broken.onnx")
    assert (done.code, done.out.count("\n")) == (0, 2)
    monkeypatch.chdir(tmp_path_factory.mktemp("plain"))
    done = call("text", "--setup-git")
    assert (done.code, done.err.count("\n")) == (2, 1)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_speaks_each_shell(shell: str) -> None:
    script = Path(sys.executable).with_name("onnxsim-ci")
    asked = {"_ONNXSIM_CI_COMPLETE": f"source_{shell}"}
    done = subprocess.run([script], env={**os.environ, **asked}, capture_output=True, text=True, check=False)
    assert "_ONNXSIM_CI_COMPLETE" in done.stdout
    words = {"COMP_WORDS": "onnxsim-ci po", "COMP_CWORD": "1", "_TYPER_COMPLETE_ARGS": "onnxsim-ci po"}
    words["_TYPER_COMPLETE_FISH_ACTION"] = "get-args"
    asked = {"_ONNXSIM_CI_COMPLETE": f"complete_{shell}", **words}
    done = subprocess.run([script], env={**os.environ, **asked}, capture_output=True, text=True, check=False)
    assert "policy" in done.stdout, done
