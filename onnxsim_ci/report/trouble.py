"""Errors on stderr: one sentence for what the user can mend, a paste-ready block for a fault of ours.

House: report. May import errors; the rest of report only to name versions.
Touch: docs/errors.md explains the codes.
"""

import sys
import traceback

from onnxsim_ci.errors import BadPolicy, InternalError, OnnxsimCiError, shown


def print_error(error: OnnxsimCiError) -> None:
    """`error[code]: sentence` on stderr; one line for each problem of a policy."""
    if isinstance(error, BadPolicy) and error.problems:
        lines = [f"error[{error.code}]: {problem}" for problem in error.problems]
    else:
        lines = [f"error[{error.code}]: {error}"]
    sys.stderr.write("\n".join(map(shown, lines)) + "\n")


def print_fault(error: BaseException) -> None:
    """A fault of ours on stderr, ready to be pasted into a report; it holds no data of a model."""
    print_fault_text(f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error)))


def print_fault_text(sentence: str, trace: str) -> None:
    """The same from texts, such as a child process sent them."""
    from onnxsim_ci import __version__
    from onnxsim_ci.report import environment

    here = environment()
    packages = ", ".join(f"{name} {version}" for name, version in here.packages.items())
    sys.stderr.write(
        f"error[{InternalError.code}]: {sentence}\n"
        "This is a fault of onnxsim-ci; the input is unchanged. Please report the lines below.\n"
        f"--- onnxsim-ci {__version__}, Python {here.python}, {here.platform}, {packages}\n"
        f"{trace.rstrip()}\n---\n"
    )
