"""Fixtures of rules: Markdown files of cases, read and written.

A case is a heading, an ```onnx block, then either `becomes` and a second block, or `declined: reason` lines.
Text between heading and block is a remark. What stands below the first block is written by `make fixtures`,
never by hand.

Touch: `tools/new_rule.py` writes the first form of such a file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "rules"
_CASE = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^```onnx\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case of a fixture.

    Attributes:
        path: File that it stands in.
        name: Its heading.
        source: Text of the model.
        becomes: Text of the expected result; empty when it is left alone.
        declined: Expected reasons.
    """

    path: Path
    name: str
    source: str
    becomes: str
    declined: tuple[str, ...]

    @property
    def rule_id(self) -> str:
        """Id of the rule that the file belongs to."""
        return rule_id_of(self.path)


def rule_id_of(path: Path) -> str:
    """Id of the rule whose fixture this is."""
    return path.stem.replace("_", "-")


def files() -> list[Path]:
    """Every fixture."""
    return sorted(FOLDER.glob("*/*.md"))


def read(path: Path) -> list[Case]:
    """Cases of one file, in order."""
    found = []
    for match in _CASE.finditer(path.read_text(encoding="utf-8")):
        blocks = _BLOCK.findall(match[2])
        below = _BLOCK.sub("", match[2])
        found.append(
            Case(
                path=path,
                name=match[1],
                source=blocks[0] if blocks else "",
                becomes=blocks[1] if len(blocks) > 1 else "",
                declined=tuple(re.findall(r"^declined: (.*)$", below, re.MULTILINE)),
            )
        )
    return found


def write(case: Case, becomes: str, declined: tuple[str, ...]) -> None:
    """Put today's expectation below the case's first block."""
    text = case.path.read_text(encoding="utf-8")
    expectation = (
        f"becomes\n```onnx\n{becomes}```\n" if becomes else "".join(f"declined: {r}\n" for r in declined)
    )
    for match in _CASE.finditer(text):
        if match[1] == case.name:
            block = _BLOCK.search(match[2])
            assert block is not None
            body = f"{match[2][: block.end()]}{expectation}\n"
            text = f"{text[: match.start(2)]}{body}{text[match.end(2) :]}"
            break
    case.path.write_text(f"{text.rstrip()}\n", encoding="utf-8")
