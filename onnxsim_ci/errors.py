"""Every exception and exit code of onnxsim-ci.

    OnnxsimCiError              internal-error   70
    ├── BadInput                bad-input         2
    │   ├── UnsupportedModel    unsupported-model 2
    │   ├── LfsPointer          lfs-pointer       2
    │   ├── ExternalDataError   external-data     2
    │   ├── GitFailed           git-failed        2
    │   └── LimitExceeded       limit-exceeded    2
    ├── BadPolicy               bad-policy        2
    ├── NotAvailable            not-available     2
    ├── Differs                 differs           1
    ├── NotProven               not-proven        3
    └── InternalError           internal-error   70

A message is one sentence: what, where (file > graph > node or value), the number with its limit. What to do
next stands in `hint`. Problems of one file are collected, not reported one by one (`BadPolicy.problems`).

House: floor base. Imports nothing of the package.
Touch: docs/errors.md is generated from here by `make docs`; the exit codes also stand in README.md.
"""

import re
from collections.abc import Iterable
from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """What a finished command tells its caller."""

    FINE = 0
    """Everything holds."""
    CHANGES = 1
    """Would change, wrote in a hook, over a budget, a gate failed, or the models differ."""
    BAD_INPUT = 2
    """A model, policy or argument cannot be used."""
    NOT_PROVEN = 3
    """A result could not be proven and was left unwritten."""
    INTERNAL = 70
    """A fault of onnxsim-ci itself."""
    INTERRUPTED = 130
    """Stopped by Ctrl-C."""


_WORST_FIRST = (
    ExitCode.INTERRUPTED,
    ExitCode.INTERNAL,
    ExitCode.BAD_INPUT,
    ExitCode.CHANGES,
    ExitCode.NOT_PROVEN,
    ExitCode.FINE,
)


def worst(codes: Iterable[int]) -> ExitCode:
    """The one exit code of several: 130 > 70 > 2 > 1 > 3 > 0; FINE for none, INTERNAL for an unknown code."""
    seen = set(codes)
    if seen - set(_WORST_FIRST):
        seen.add(ExitCode.INTERNAL)
    return next((code for code in _WORST_FIRST if code in seen), ExitCode.FINE)


class OnnxsimCiError(Exception):
    """Anything that onnxsim-ci raises on purpose.

    Args:
        message: One sentence without a final full stop.
        where: File, and if known the graph, node or value, joined by " > "; empty if it is in the message.
        hint: What to do next; empty if nothing sensible can be said.
    """

    code: ClassVar[str] = "internal-error"
    exit_code: ClassVar[ExitCode] = ExitCode.INTERNAL

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        """Keep the parts, so that text and JSON can show them apart."""
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        """`where: message; hint` on one line, leaving out what is empty."""
        head = f"{self.where}: {self.message}" if self.where else self.message
        return f"{head}; {self.hint}" if self.hint else head


class BadInput(OnnxsimCiError):
    """A model, input file or argument cannot be used as it is; nothing was written."""

    code = "bad-input"
    exit_code = ExitCode.BAD_INPUT


class UnsupportedModel(BadInput):
    """The model is whole, but made for a newer IR version or opset than the installed libraries know."""

    code = "unsupported-model"


class LfsPointer(BadInput):
    """The file is a git-LFS pointer, not the model; `git lfs pull` fetches the content."""

    code = "lfs-pointer"


class ExternalDataError(BadInput):
    """External data is missing, too short, or lies outside the model's folder."""

    code = "external-data"


class LimitExceeded(BadInput):
    """The model declares more bytes, nodes or nesting than the policy's `[limits]` allow."""

    code = "limit-exceeded"


class GitFailed(BadInput):
    """Git is missing, refused, or does not have what was asked for."""

    code = "git-failed"


class BadPolicy(OnnxsimCiError):
    """A policy file, environment variable or `--set` is wrong; `problems` holds every mistake found.

    Args:
        message: The sentence shown when there is no list.
        problems: Each as `file:line:col: section.key: what is wrong; did you mean 'x'?`.
        where: As in OnnxsimCiError.
        hint: As in OnnxsimCiError.
    """

    code = "bad-policy"
    exit_code = ExitCode.BAD_INPUT

    def __init__(
        self, message: str, *, problems: tuple[str, ...] = (), where: str = "", hint: str = ""
    ) -> None:
        """Keep the list beside the sentence."""
        super().__init__(message, where=where, hint=hint)
        self.problems = problems

    def __str__(self) -> str:
        """One line a problem; without problems, the sentence."""
        return "\n".join(self.problems) if self.problems else super().__str__()


class NotAvailable(OnnxsimCiError):
    """A part of the design that this version does not have yet was asked for."""

    code = "not-available"
    exit_code = ExitCode.BAD_INPUT


class Differs(OnnxsimCiError):
    """A result computes something else than its source; it was not written."""

    code = "differs"
    exit_code = ExitCode.CHANGES


class NotProven(OnnxsimCiError):
    """A result could not be proven equivalent within the policy's means; it was not written."""

    code = "not-proven"
    exit_code = ExitCode.NOT_PROVEN


class InternalError(OnnxsimCiError):
    """A fault of onnxsim-ci itself; the input is untouched and the message says how to report it."""


_HIDDEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff"
    r"\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def shown(text: str) -> str:
    """The text, its control, direction, invisible and undecodable characters as escapes, for a terminal."""
    return _HIDDEN.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if code < 256:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
