"""Run git with arguments as a list, and say in one sentence what it refused.

House: vcs. Standard library, errors.
Touch: nothing else starts git.
"""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from onnxsim_ci.errors import GitFailed


def command(root: Path, arguments: Sequence[str]) -> list[str]:
    """The command line of git in the work tree `root`; it takes no lock that a person might wait for."""
    return ["git", "--no-optional-locks", "--literal-pathspecs", "-C", os.fspath(root), *arguments]


def git(root: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    """What git prints.

    Raises:
        GitFailed: Git is not installed, or ended with an error.
    """
    try:
        done = subprocess.run(  # noqa: S603 - git, with arguments that no shell reads
            command(root, arguments), input=stdin, capture_output=True, check=False
        )
    except FileNotFoundError:
        raise GitFailed("git is not installed", where=str(root)) from None
    if done.returncode:
        said = done.stderr.decode(errors="backslashreplace").strip().splitlines()
        raise GitFailed(
            f"git {arguments[0]} failed: {said[-1] if said else f'exit code {done.returncode}'}",
            where=str(root),
        )
    return done.stdout
