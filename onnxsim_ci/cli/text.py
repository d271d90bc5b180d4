"""`onnxsim-ci text`: a model as canonical text, for people and for git's textconv.

House: cli. May import model.
Touch: README.md shows the git configuration.
"""

import hashlib
import subprocess
import sys
from typing import Annotated

import typer

from onnxsim_ci.errors import BadInput

GIT_COMMANDS = (
    ("git", "config", "diff.onnx.textconv", "onnxsim-ci text --textconv --"),
    ("git", "config", "diff.onnx.cachetextconv", "true"),
)


def text(
    model: Annotated[
        str | None, typer.Argument(help="A model; - is standard input.", show_default=False)
    ] = None,
    setup_git: Annotated[
        bool, typer.Option("--setup-git", help="Let git show models as text in this repository.")
    ] = False,
    textconv: Annotated[
        bool,
        typer.Option("--textconv", help="As git calls it: what is no model is told in one line, exit 0."),
    ] = False,
) -> None:
    """Print MODEL as canonical text; large tensors as type, shape and digest."""
    if setup_git:
        _setup_git()
        return
    if model is None:
        raise BadInput("no model was named")
    from onnxsim_ci.model import canonical_text

    try:
        shown = canonical_text(sys.stdin.buffer.read() if model == "-" else model)
    except BadInput as error:
        if not textconv:
            raise
        shown = f"no model: {str(error).removeprefix(f'{model}: ')}\nsha256 {_digest(model)}\n"
    sys.stdout.write(shown)


def _setup_git() -> None:
    """Configure this repository's git.

    Raises:
        BadInput: There is no repository here, or no git.
    """
    for command in GIT_COMMANDS:
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - literal
        except FileNotFoundError:
            raise BadInput("git is not installed") from None
        if done.returncode:
            raise BadInput(f"git refused: {done.stderr.strip()}")
    sys.stdout.write("add this line to .gitattributes and commit it:\n*.onnx diff=onnx\n")


def _digest(path: str) -> str:
    """So that git shows a difference between two files that are no models."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return "unknown"
