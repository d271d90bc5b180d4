"""A real repository with small models, and the hook in this process."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from onnxsim_ci.hooks.door import run


@dataclass(frozen=True)
class Done:
    """What the hook said, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


Hook = Callable[..., Done]


@pytest.fixture(autouse=True)
def _own_settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("GIT_", "ONNXSIM_CI_")):
            monkeypatch.delenv(name)
    folder = tmp_path_factory.mktemp("own")
    (folder / "config").write_text("[user]\nname = t\nemail = t@example.invalid\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(folder / "config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("ONNXSIM_CI_CACHE", str(folder / "cache"))
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("ONNXSIM_CI_NO_CACHE", "")  # the hook sets it for its children; undone after the test


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository, the current folder."""
    root = tmp_path / "repository"
    root.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def hook(here: Path, capfd: pytest.CaptureFixture[str]) -> Hook:
    """Runs the hook in the repository."""

    def call(*arguments: str) -> Done:
        capfd.readouterr()
        code = run(arguments)
        captured = capfd.readouterr()
        return Done(code, captured.out, captured.err)

    return call


@pytest.fixture
def script(here: Path) -> Hook:
    """Runs the console script `onnxsim-ci hook` in the repository."""
    place = shutil.which("onnxsim-ci", path=str(Path(sys.executable).parent))
    assert place is not None, "the package is not installed"

    def call(*arguments: str) -> Done:
        done = subprocess.run([place, "hook", *arguments], cwd=here, capture_output=True, check=False)
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call
