"""Options that several commands share, and what they mean together.

House: cli. May import typer and policy.
Touch: docs/cli.md is generated from the help texts (`make docs`).
"""

import os
import sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from onnxsim_ci.errors import BadInput

if TYPE_CHECKING:
    from rich.console import Console

    from onnxsim_ci.policy import Resolved, Setting


class Color(Enum):
    """When to colour."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


_SHARED = "Common options"

Models = Annotated[
    list[str], typer.Argument(help="Model files or folders; - is standard input.", show_default=False)
]
PolicyFile = Annotated[
    Path | None, typer.Option("--policy", help="Policy file, instead of searching.", rich_help_panel=_SHARED)
]
Sets = Annotated[
    list[str],
    typer.Option(
        "--set", metavar="SECTION.KEY=VALUE", help="Set one value of the policy.", rich_help_panel=_SHARED
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print the report as JSON on stdout.", rich_help_panel=_SHARED)
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.", rich_help_panel=_SHARED)]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Print unchanged operators too.", rich_help_panel=_SHARED)
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, help="Models at a time; one a processor.", rich_help_panel=_SHARED),
]
NoCache = Annotated[
    bool,
    typer.Option("--no-cache", help="Neither read nor write the results cache.", rich_help_panel=_SHARED),
]
ColorChoice = Annotated[
    Color, typer.Option("--color", help="When to colour the output.", rich_help_panel=_SHARED)
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """How a command prints: the report on stdout, everything else on stderr; grouped: by what came of it."""

    is_json: bool = False
    is_quiet: bool = False
    is_verbose: bool = False
    is_grouped: bool = False
    color: Color = Color.AUTO

    def console(self, *, is_stderr: bool = False) -> "Console":
        """A console for people."""
        from onnxsim_ci.cli.terminal import PlainConsole

        plain = self.color is Color.NEVER or (self.color is Color.AUTO and bool(os.environ.get("NO_COLOR")))
        forced = True if self.color is Color.ALWAYS else None
        stream = sys.stderr if is_stderr else sys.stdout
        width = None if stream.isatty() or os.environ.get("COLUMNS") else 110
        return PlainConsole(
            stderr=is_stderr,
            no_color=plain,
            force_terminal=forced,
            highlight=False,
            width=width,
            soft_wrap=False,
        )

    @property
    def shows_progress(self) -> bool:
        """Progress only for people who look at a terminal."""
        return sys.stderr.isatty() and not self.is_quiet and not self.is_json and not os.environ.get("CI")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Where the policy of a model comes from: the named file, and flags above it."""

    file: Path | None
    settings: "tuple[Setting, ...]"

    def resolve(self, model: str) -> "Resolved":
        """The effective policy of `model`."""
        from onnxsim_ci.policy import resolve

        return resolve("stdin.onnx" if model == "-" else model, file=self.file, settings=self.settings)


def choice(file: Path | None, sets: list[str], flags: "tuple[Setting, ...]" = ()) -> Choice:
    """The user's choice: `--set` above the command's own flags.

    Raises:
        BadInput: A `--set` without an equals sign.
    """
    from onnxsim_ci.policy import flag_settings

    try:
        return Choice(file=file, settings=(*flags, *flag_settings(sets)))
    except ValueError as error:
        raise BadInput(f"--set: {error}") from None


def use_cache(*, is_off: bool) -> None:
    """Switch the results cache off for this run and its children."""
    from onnxsim_ci.cache import OFF_VARIABLE

    if is_off:
        os.environ[OFF_VARIABLE] = "1"
