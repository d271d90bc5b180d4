"""The command line: every command in one file, found through one table.

Belongs here: arguments, what is printed, exit codes. Does not: anything that a door or Python caller needs.

House: cli; typer and rich live here. Only the command that was asked for is imported, so that help and
version load neither onnx nor numpy nor onnxruntime.
Touch: `COMMANDS` for a new command; CONTRIBUTING recipe 7; docs/cli.md (`make docs`).
"""

from onnxsim_ci.cli.app import COMMANDS, run

__all__ = ["COMMANDS", "run"]
