"""How the hook prints: one stream, names that cannot disturb a terminal, commands that can be pasted.

House: hooks, fast path. Standard library, errors.
Touch: nothing else.
"""

import re
import shlex
import sys
from collections.abc import Iterable

from onnxsim_ci.errors import ExitCode, shown
from onnxsim_ci.hooks.seen import Entry

_PATHSPEC = re.compile(r"^:|[*?\[\\]")
"""What git reads as a pattern even behind a shell's quotes."""


def pasted(name: str) -> str:
    """The name as a word of a shell command."""
    name = f"./{name}" if name.startswith("-") else name
    if shown(name) == name:
        return shlex.quote(name)
    raw = name.encode("utf-8", errors="surrogateescape")
    return "$'" + "".join(chr(b) if 32 < b < 127 and b not in b"'\\" else f"\\x{b:02x}" for b in raw) + "'"


def git_command(verb: str, names: Iterable[str]) -> str:
    """A command of git on exactly these files."""
    words = list(names)
    literal = "--literal-pathspecs " if any(_PATHSPEC.search(name) for name in words) else ""
    return f"git {literal}{verb} {' '.join(pasted(name) for name in words)}"


def say(line: str) -> None:
    """One line on stdout, at once; what the stream cannot encode becomes an escape."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(line.encode(encoding, errors="backslashreplace").decode(encoding) + "\n")
    sys.stdout.flush()


def said_again(entries: Iterable[Entry]) -> list[ExitCode]:
    """Say earlier answers once more; their exit codes."""
    found = list(entries)
    for entry in found:
        if entry.line:
            say(entry.line)
    return [ExitCode(entry.code) for entry in found]
