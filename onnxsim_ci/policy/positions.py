"""Where each key and list item of a TOML text starts, for messages and provenance.

tomllib gives values without positions. This walk finds them and trusts that tomllib accepted the text. It
checks itself: if any leaf that tomllib found has no position, there are none (a wrong line is worse).

House: policy. Standard library only.
Touch: nothing; tests/policy/test_positions.py compares it with tomllib on random documents.
"""

import tomllib
from collections.abc import Iterator

Path = tuple[str | int, ...]

_BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


def positions(text: str, data: dict[str, object]) -> dict[Path, tuple[int, int]]:
    """Line and column, from 1, by path in `data`; empty if any leaf could not be placed.

    Args:
        text: A TOML document that tomllib accepts.
        data: What tomllib made of it.
    """
    try:
        starts = _Scanner(text).scan()
    except (IndexError, tomllib.TOMLDecodeError):
        return {}
    if not all(path in starts for path in leaves(data)):
        return {}
    return {path: _line_column(text, start) for path, start in starts.items()}


def leaves(node: object, path: Path = ()) -> Iterator[Path]:
    """Paths of all keys and list items below `node`."""
    items: Iterator[tuple[str | int, object]] = iter(())
    if isinstance(node, dict):
        items = iter(node.items())
    elif isinstance(node, list):
        items = iter(enumerate(node))
    for key, value in items:
        yield (*path, key)
        yield from leaves(value, (*path, key))


def _line_column(text: str, start: int) -> tuple[int, int]:
    return text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)


class _Scanner:
    """One pass over the text; `starts` maps a path to the offset of its key or item."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.starts: dict[Path, int] = {}
        self.table_counts: dict[Path, int] = {}

    def scan(self) -> dict[Path, int]:
        table: Path = ()
        while True:
            self.skip_blank()
            if self.at >= len(self.text):
                return self.starts
            if self.text[self.at] == "[":
                table = self.header()
            else:
                path = self.place(table, self.key())
                self.at += 1  # the equals sign
                self.value(path)

    def header(self) -> Path:
        is_array = self.text.startswith("[[", self.at)
        self.at += 2 if is_array else 1
        parts = self.key()
        if is_array:
            table = (*self.resolve(parts[:-1]), parts[-1][0])
            number = self.table_counts.get(table, 0)
            self.table_counts[table] = number + 1
            self.starts.setdefault(table, parts[-1][1])
            table = (*table, number)
            self.starts.setdefault(table, parts[-1][1])
        else:
            table = self.resolve(parts)
        self.at += 2 if is_array else 1
        return table

    def resolve(self, parts: list[tuple[str, int]]) -> Path:
        """Path of a header; the name of an array of tables means its latest element."""
        path: Path = ()
        for name, start in parts:
            path = (*path, name)
            self.starts.setdefault(path, start)
            if path in self.table_counts:
                path = (*path, self.table_counts[path] - 1)
        return path

    def place(self, base: Path, parts: list[tuple[str, int]]) -> Path:
        for name, start in parts:
            base = (*base, name)
            self.starts.setdefault(base, start)
        return base

    def skip_blank(self, blank: str = " \t\r\n") -> None:
        while self.at < len(self.text):
            if self.text[self.at] in blank:
                self.at += 1
            elif self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                return

    def key(self) -> list[tuple[str, int]]:
        """Parts of a dotted key with their offsets; stops at what follows the key."""
        parts = []
        while True:
            self.skip_blank(" \t")
            start = self.at
            if self.text[start] in "\"'":
                self.string()
                parts.append((str(tomllib.loads(f"x = {self.text[start : self.at]}")["x"]), start))
            else:
                while self.at < len(self.text) and self.text[self.at] in _BARE:
                    self.at += 1
                parts.append((self.text[start : self.at], start))
            self.skip_blank(" \t")
            if self.text[self.at : self.at + 1] != ".":
                return parts
            self.at += 1

    def value(self, path: Path) -> None:
        self.skip_blank(" \t")
        char = self.text[self.at]
        if char == "[":
            self.items(path)
        elif char == "{":
            self.inline_table(path)
        elif char in "\"'":
            self.string()
        else:
            while self.at < len(self.text) and self.text[self.at] not in ",]}\r\n#":
                self.at += 1

    def items(self, path: Path) -> None:
        self.at += 1
        index = 0
        while not self.closes("]"):
            self.starts.setdefault((*path, index), self.at)
            self.value((*path, index))
            index += 1

    def inline_table(self, path: Path) -> None:
        self.at += 1
        while not self.closes("}"):
            inner = self.place(path, self.key())
            self.at += 1  # the equals sign
            self.value(inner)

    def closes(self, bracket: str) -> bool:
        """Step over blanks and one comma; true, and past it, at the closing bracket."""
        self.skip_blank()
        if self.text[self.at] == ",":
            self.at += 1
            self.skip_blank()
        if self.text[self.at] == bracket:
            self.at += 1
            return True
        return False

    def string(self) -> None:
        quote = self.text[self.at]
        closing = quote * 3 if self.text.startswith(quote * 3, self.at) else quote
        end = self.at + len(closing)
        while not self.text.startswith(closing, end):
            if end >= len(self.text):
                raise IndexError(end)
            end += 2 if quote == '"' and self.text[end] == "\\" else 1
        end += len(closing)
        while len(closing) == 3 and self.text[end : end + 1] == quote:
            end += 1  # up to two quotes may stand before the closing three
        self.at = end
