"""A repository with policies, for the tests of this folder."""

from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[[str, str], Path]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository; the environment holds nothing of ours."""
    import os

    for name in list(os.environ):
        if name.startswith("ONNXSIM_CI_"):
            monkeypatch.delenv(name)
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    (root / "models" / "vad").mkdir(parents=True)
    return root


@pytest.fixture
def write(repository: Path) -> Write:
    """Writes a file of the repository."""

    def put(name: str, text: str) -> Path:
        path = repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return put
