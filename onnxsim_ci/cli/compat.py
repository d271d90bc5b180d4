"""Command lines written for onnxsim: options with several values, and `IN OUT [CHECK_N]`.

onnxsim's options take any number of values after one name; ours take one value a name. The arguments are
rewritten before they are parsed, and only where a value cannot be anything else.

House: cli. Standard library only.
Touch: tests/cli/test_compat.py shows each form.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

_SHAPE = re.compile(r"(?:.*:)?-?\d+(?:,-?\d+)*")
_SIZE = re.compile(r"\d+(?:\.\d+)?(?:[KMG]i?)?B?")
_RULE = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")


def _is_shape(word: str) -> bool:
    return _SHAPE.fullmatch(word) is not None


def _is_rule(word: str) -> bool:
    return _RULE.fullmatch(word) is not None and not Path(word).exists()


def _is_name(word: str) -> bool:
    return not word.endswith(".onnx") and not word.isdigit() and not Path(word).exists()


def _is_data(word: str) -> bool:
    return ":" in word and not word.endswith(".onnx")


MANY: dict[str, Callable[[str], bool]] = {
    "--overwrite-input-shape": _is_shape,
    "--input-shape": _is_shape,
    "--test-input-shape": _is_shape,
    "--unused-output": _is_name,
    "--input-data-path": _is_data,
    "--skip-optimization": _is_rule,
    "--skip-optimizers": _is_rule,
    "--skip-optimizer": _is_rule,
    "--enable-optimization": _is_rule,
}
"""Options with several values, and what a further value looks like."""

ALONE = {
    "--skip-optimization": "all",
    "--skip-optimizers": "all",
    "--skip-optimizer": "all",
    "--no-large-tensor": "1KB",
}
"""Options that may stand without a value, and the value that this means."""


def spelled_out(arguments: Sequence[str]) -> list[str]:
    """The arguments with one value a name; `--a x y` becomes `--a x --a y`."""
    words = [word.replace("--keep_io_names", "--keep-io-names") for word in arguments]
    result: list[str] = []
    at = 0
    while at < len(words):
        name = words[at]
        at += 1
        if name == "--":
            return [*result, name, *words[at:]]
        if name == "--no-large-tensor":
            is_given = at < len(words) and _SIZE.fullmatch(words[at]) is not None
            result += [name, words[at] if is_given else ALONE[name]]
            at += is_given
        elif name in MANY:
            values, at = _values(words, at, MANY[name], is_optional=name in ALONE)
            known = values or ([ALONE[name]] if name in ALONE else [])
            result += [part for value in known for part in (name, value)] or [name]
        else:
            result.append(name)
    return result


def _values(
    words: Sequence[str], at: int, fits: Callable[[str], bool], *, is_optional: bool
) -> tuple[list[str], int]:
    """Values from position `at` on, and the position after them; a required first one is taken as it is."""
    values = []
    if not is_optional and at < len(words):
        values.append(words[at])
        at += 1
    while at < len(words) and not words[at].startswith("-") and fits(words[at]):
        values.append(words[at])
        at += 1
    return values, at
