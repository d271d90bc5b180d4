"""The table of commands, and the way from arguments to an exit code.

House: cli. May import typer and errors.
Touch: `COMMANDS` for a new command; tests/cli/test_app.py checks that each has help.
"""

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from onnxsim_ci import __version__
from onnxsim_ci.cli.compat import spelled_out
from onnxsim_ci.errors import ExitCode, OnnxsimCiError
from onnxsim_ci.report.trouble import print_error, print_fault

COMMANDS = {
    "simplify": "onnxsim_ci.cli.simplify:simplify",
    "check": "onnxsim_ci.cli.check:check",
    "verify": "onnxsim_ci.cli.verify:verify",
    "diff": "onnxsim_ci.cli.diff:diff",
    "inspect": "onnxsim_ci.cli.inspect:inspect",
    "explain": "onnxsim_ci.cli.explain:explain",
    "rules": "onnxsim_ci.cli.rules:rules",
    "rule": "onnxsim_ci.cli.rule:rule",
    "text": "onnxsim_ci.cli.text:text",
    "hook": "onnxsim_ci.cli.hook:hook",
    "policy": "onnxsim_ci.cli.policy:app",
    "cache": "onnxsim_ci.cli.cache:app",
}
"""Command or group of commands by name, in the order of the help page."""


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code; nothing but the exit code comes out."""
    words = spelled_out(arguments)
    try:
        command = typer.main.get_command(make_app(words))
        command.main(args=words, prog_name="onnxsim-ci")
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else int(ExitCode.FINE)
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)
    except OnnxsimCiError as error:
        print_error(error)
        return int(error.exit_code)
    except Exception as error:  # the last place where a fault of ours can be told from bad input
        print_fault(error)
        return int(ExitCode.INTERNAL)
    return int(ExitCode.FINE)


def make_app(words: Sequence[str] = ()) -> typer.Typer:
    """The application; with only the command that `words` begin with, if they do, to start quickly."""
    app = typer.Typer(
        name="onnxsim-ci",
        help="Keep the ONNX models of a repository simple, proven and measured.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_main)
    asked = next(iter(words), "")
    is_completion = any(name.endswith("_COMPLETE") for name in os.environ)
    names = [asked] if asked in COMMANDS and not is_completion else list(COMMANDS)
    for name in names:
        module, _, attribute = COMMANDS[name].partition(":")
        found = getattr(importlib.import_module(module), attribute)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            app.command(name=name)(found)
    return app


def _show_version(is_asked: bool) -> None:
    if is_asked:
        sys.stdout.write(f"onnxsim-ci {__version__}\n")
        raise typer.Exit


def _main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and stop."),
    ] = False,
) -> None:
    """Keep the ONNX models of a repository simple, proven and measured."""
