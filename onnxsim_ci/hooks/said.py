"""How the hook prints: one stream, names that cannot disturb a terminal, commands that can be pasted.

House: hooks, fast path. Standard library only.
Touch: nothing else.
"""

import re
import shlex
import sys

_HIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


def shown(name: str) -> str:
    """The name, its control, direction and undecodable characters as escapes."""
    return _HIDDEN.sub(_escape, name)


def pasted(name: str) -> str:
    """The name as a word of a shell command."""
    if not _HIDDEN.search(name):
        quoted = shlex.quote(name)
        return f"./{quoted}" if name.startswith("-") else quoted
    raw = name.encode("utf-8", errors="surrogateescape")
    return "$'" + "".join(chr(b) if 32 < b < 127 and b not in b"'\\" else f"\\x{b:02x}" for b in raw) + "'"


def say(line: str) -> None:
    """One line on stdout, at once; what the stream cannot encode becomes an escape."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(line.encode(encoding, errors="backslashreplace").decode(encoding) + "\n")
    sys.stdout.flush()


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
