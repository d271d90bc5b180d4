"""Models on disk and a command line that runs in this process."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import onnx
import onnx.parser
import pytest

from onnxsim_ci.cli import run

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N,3,8,8] x) => (float[N,3,8,8] y) <float[3] unused = {1.0,2.0,3.0}>
{ a = Identity(x)  b = Relu(a)  y = Relu(b) }"""

SIMPLE = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N,3,8,8] x) => (float[N,3,8,8] y) { y = Relu(x) }"""

OTHER = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N,3,8,8] x) => (float[N,3,8,8] y) { y = Sigmoid(x) }"""


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str


Call = Callable[..., Done]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("ONNXSIM_CI_", "GIT_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ONNXSIM_CI_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setenv("COLUMNS", "110")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with models, and the current folder."""
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "models" / "sub").mkdir(parents=True)
    save(tmp_path / "models" / "a.onnx", TEXT)
    save(tmp_path / "models" / "sub" / "b.onnx", TEXT)
    save(tmp_path / "simple.onnx", SIMPLE)
    save(tmp_path / "other.onnx", OTHER)
    subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def save(path: Path, text: str) -> None:
    onnx.save(onnx.parser.parse_model(text), path)


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Call:
    """Runs a command line; returns its exit code, stdout and stderr."""

    def command(*arguments: object) -> Done:
        capfd.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return Done(code, captured.out, captured.err)

    return command
