"""`onnxsim-ci text`: a model as canonical text, for people and for git's textconv.

House: cli. May import model.
Touch: README.md shows the git configuration.
"""

import subprocess
import sys
from typing import Annotated

import typer

from onnxsim_ci.errors import BadInput

GIT_COMMANDS = (
    ("git", "config", "diff.onnx.textconv", "onnxsim-ci text"),
    ("git", "config", "diff.onnx.cachetextconv", "true"),
)


def text(
    model: Annotated[
        str | None, typer.Argument(help="A model; - is standard input.", show_default=False)
    ] = None,
    setup_git: Annotated[
        bool, typer.Option("--setup-git", help="Let git show models as text in this repository.")
    ] = False,
) -> None:
    """Print MODEL as canonical text; large tensors as type, shape and digest."""
    if setup_git:
        for command in GIT_COMMANDS:
            subprocess.run(command, check=True)  # noqa: S603 - the literal commands above
        sys.stdout.write("add this line to .gitattributes and commit it:\n*.onnx diff=onnx\n")
        return
    if model is None:
        raise BadInput("no model was named")
    from onnxsim_ci.model import canonical_text

    sys.stdout.write(canonical_text(sys.stdin.buffer.read() if model == "-" else model))
