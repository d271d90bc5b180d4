"""Docs say what is: generated pages are current, links lead somewhere, commands of the README exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from onnxsim_ci.cli import COMMANDS
from onnxsim_ci.errors import ExitCode

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def test_generated_pages_and_schemas_are_current() -> None:
    done = subprocess.run(
        [sys.executable, "tools/docs.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def test_every_command_is_documented() -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f"## onnxsim-ci {name}\n" in text


def test_every_exit_code_is_in_the_readme() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for code in ExitCode:
        assert f"| {int(code)} |" in text


def test_commands_and_words_of_the_readme_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in re.findall(r"^onnxsim-ci ([a-z]+)", text, re.MULTILINE):
        assert name in COMMANDS
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in ("README.md", "CONTRIBUTING.md"):
        for word in re.findall(
            r"(?:`|^)make ([a-z-]+)", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE
        ):
            assert re.search(rf"^{word}:", makefile, re.MULTILINE), word


def test_files_named_in_contributing_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:onnxsim_ci|tests|tools|docs|changelog\.d)/[\w./-]+)`", text):
        assert (ROOT / name).exists(), name
