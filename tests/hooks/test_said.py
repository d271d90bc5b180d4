"""Names on a terminal and in commands to paste: they do nothing there."""

import subprocess
from pathlib import Path

import pytest

from onnxsim_ci.errors import shown
from onnxsim_ci.hooks.said import git_command


@pytest.mark.parametrize(
    "hidden", ["\x1b", "\n", "\x9b", "\xad", "\u061c", "\u200e", "\u202e", "\u2060", "\u2069", "\U000e0041"]
)
def test_what_hides_or_turns_text_is_an_escape(hidden: str) -> None:
    assert shown(f"a{hidden}b").isascii()
    assert shown(f"a{hidden}b").isprintable()
    assert hidden not in git_command("add", [f"a{hidden}b"])


@pytest.mark.parametrize("name", ["*.data", "-\n.data", ":(top)x", ":!x", "a[b].data", "-x y.data", "a\\b"])
def test_a_pasted_command_means_exactly_the_named_file(here: Path, name: str) -> None:
    for other in (name, "other.data", "ab.data", "x"):
        (here / other).write_text(other)
    subprocess.run(["bash", "-c", git_command("add", [name])], cwd=here, check=True)
    listed = ["git", "ls-files", "-z"]
    assert subprocess.run(listed, cwd=here, capture_output=True, check=True).stdout == f"{name}\0".encode()
    subprocess.run(["bash", "-c", git_command("rm -qf", [name])], cwd=here, check=True)
    assert {path.name for path in here.iterdir()} == {".git", "other.data", "ab.data", "x"}
