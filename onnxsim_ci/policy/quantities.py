"""The small grammars of a policy: sizes, counts, durations, and allowances relative to a source.

House: policy. Standard library only.
Touch: the table of grammars in docs/policy.md is written by tools/docs.py from this docstring's words.
"""

import math
import re
from dataclasses import dataclass
from decimal import Decimal

_BYTES = {
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}
_COUNTS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}
_SECONDS = {"s": 1, "min": 60, "h": 3600}

BYTES_PATTERN = r"^[0-9]+(\.[0-9]+)?(B|KB|MB|GB|KiB|MiB|GiB)$"
COUNT_PATTERN = r"^[0-9]+(\.[0-9]+)?[KMG]?$"
SECONDS_PATTERN = r"^[0-9]+(\.[0-9]+)?(s|min|h)$"
ALLOWANCE_PATTERN = r"^[+-]?[0-9]+(\.[0-9]+)?(%|B|KB|MB|GB|KiB|MiB|GiB)?$"


def parse_bytes(value: object) -> int:
    """Bytes of `"64MiB"`, or of a plain number of bytes; units B KB MB GB KiB MiB GiB.

    Raises:
        ValueError: Neither form; the message says what is accepted.
    """
    return _scaled(
        value, _BYTES, 'a size such as "64MiB" (units B KB MB GB KiB MiB GiB) or a number of bytes'
    )


def parse_count(value: object) -> int:
    """Number of `"10G"` or of a plain number; units K M G are powers of 1000.

    Raises:
        ValueError: Neither form.
    """
    return _scaled(value, _COUNTS, 'a count such as "10G" (units K M G) or a whole number')


def parse_seconds(value: object) -> float:
    """Seconds of `"300s"`, `"5min"` or `"1h"`, or of a plain number of seconds.

    Raises:
        ValueError: Neither form, or not above zero.
    """
    accepted = 'a duration such as "300s" (units s min h) or a number of seconds'
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = float(value)
    else:
        number, unit = _split(value, accepted)
        if unit not in _SECONDS:
            raise ValueError(f"{value!r} is not {accepted}")
        seconds = float(number * _SECONDS[unit])
    if not (math.isfinite(seconds) and seconds > 0):
        raise ValueError(f"{value!r} is not above zero; {accepted} is accepted")
    return seconds


def format_bytes(count: int) -> str:
    """The shortest exact spelling that `parse_bytes` reads back."""
    for unit in ("GiB", "MiB", "KiB", "GB", "MB", "KB"):
        if count and count % _BYTES[unit] == 0:
            return f"{count // _BYTES[unit]}{unit}"
    return f"{count}B"


def format_count(count: int) -> str:
    """The shortest exact spelling that `parse_count` reads back."""
    for unit in ("G", "M", "K"):
        if count and count % _COUNTS[unit] == 0:
            return f"{count // _COUNTS[unit]}{unit}"
    return str(count)


def format_seconds(seconds: float) -> str:
    """Seconds with their unit, as `parse_seconds` reads them."""
    return f"{seconds:g}s"


@dataclass(frozen=True, slots=True)
class Allowance:
    """How much a figure may differ from that of its source; exactly one of the two parts counts.

    Attributes:
        percent: Of the source's figure, or None.
        amount: Added to the source's figure when `percent` is None; bytes or nodes.
        text: As the user wrote it.
    """

    percent: float | None
    amount: int
    text: str

    def limit(self, source: int) -> int:
        """The largest figure allowed beside a source with figure `source`; never below zero."""
        if self.percent is not None:
            return max(0, math.floor(source * (1 + self.percent / 100) + 1e-9))
        return max(0, source + self.amount)

    def __str__(self) -> str:
        return self.text


def parse_allowance(value: object) -> Allowance:
    """Allowance of `"+0"`, `"+5%"`, `"-10%"`, `"+2MiB"`, or of a whole number.

    Raises:
        ValueError: None of these forms.
    """
    accepted = 'an allowance such as "+0", "+5%", "-10%" or "+2MiB"'
    if isinstance(value, Allowance):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Allowance(None, value, f"{value:+d}")
    sign = -1 if isinstance(value, str) and value.startswith("-") else 1
    number, unit = _split(
        value.removeprefix("+").removeprefix("-") if isinstance(value, str) else value, accepted
    )
    if unit == "%":
        return Allowance(float(sign * number), 0, str(value))
    if unit and unit not in _BYTES:
        raise ValueError(f"{value!r} is not {accepted}")
    return Allowance(None, sign * round(number * _BYTES.get(unit, 1)), str(value))


def _scaled(value: object, units: dict[str, int], accepted: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 0:
            raise ValueError(f"{value!r} is below zero; {accepted} is accepted")
        return value
    number, unit = _split(value, accepted)
    if unit not in units and not (unit == "" and number == 0):
        raise ValueError(f"{value!r} is not {accepted}")
    return round(number * units.get(unit, 1))


def _split(value: object, accepted: str) -> tuple[Decimal, str]:
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z%]*)", value) if isinstance(value, str) else None
    if not found:
        raise ValueError(f"{value!r} is not {accepted}")
    return Decimal(found[1]), found[2]
