"""The house stands: import contracts, first lines of files, no drawers, line budgets."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "onnxsim_ci"
SOURCES = sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_import_contracts_hold() -> None:
    tool = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([str(tool), "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_every_file_says_what_it_gives_its_house_and_what_to_touch(path: Path) -> None:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    assert text, "no docstring"
    assert "\nHouse:" in text
    assert "\nTouch:" in text


def test_every_package_says_what_belongs_there_and_what_does_not() -> None:
    for path in SOURCES:
        if path.name == "__init__.py" and path.parent.parent == PACKAGE:
            text = path.read_text(encoding="utf-8")
            assert "Belongs here:" in text, name_of(path)
            assert "Does not" in text, name_of(path)


def test_no_file_is_a_drawer() -> None:
    drawers = {"utils", "util", "helpers", "helper", "common", "misc", "base"}
    assert not [name_of(path) for path in PACKAGE.rglob("*") if path.stem in drawers]


def test_line_budgets_hold() -> None:
    done = subprocess.run(
        [sys.executable, "tools/size.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_test_folders_are_no_packages() -> None:
    assert not list((ROOT / "tests").rglob("__init__.py"))


def test_only_console_and_renderers_print() -> None:
    for path in SOURCES:
        if "print(" in path.read_text(encoding="utf-8"):
            calls = [
                node
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
            ]
            assert not calls, name_of(path)
