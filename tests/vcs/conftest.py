"""A real repository, by the git of this machine."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Git = Callable[..., bytes]


@pytest.fixture(autouse=True)
def _own_settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("GIT_", "ONNXSIM_CI_")):
            monkeypatch.delenv(name)
    settings = tmp_path_factory.mktemp("git") / "config"
    settings.write_text("[user]\nname = t\nemail = t@example.invalid\n[init]\ndefaultBranch = main\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


@pytest.fixture
def run_git(repository: Path) -> Git:
    """Runs git in the repository; returns what it prints."""

    def call(*arguments: str, stdin: bytes = b"") -> bytes:
        return subprocess.run(
            ["git", *arguments], cwd=repository, check=True, input=stdin, capture_output=True
        ).stdout

    return call
