"""Element types as sets of numbers: which type holds all numbers of another.

House: rewrite. May import nothing of the package.
Touch: nothing else; the numbers are those of TensorProto.DataType.
Source: IEEE 754 (significand bits), ONNX operator Cast.
"""

from __future__ import annotations

FLOAT, UINT8, INT8, UINT16, INT16, INT32, INT64, STRING = 1, 2, 3, 4, 5, 6, 7, 8
BOOL, FLOAT16, DOUBLE, UINT32, UINT64, BFLOAT16 = 9, 10, 11, 12, 13, 16

FLOATS = frozenset({FLOAT, FLOAT16, DOUBLE, BFLOAT16})
"""Floating point types with infinities and subnormals that rules reason about."""

INTEGERS = frozenset({UINT8, INT8, UINT16, INT16, INT32, INT64, UINT32, UINT64})

_BITS = {UINT8: 8, INT8: 8, UINT16: 16, INT16: 16, UINT32: 32, INT32: 32, UINT64: 64, INT64: 64}
_SIGNED = frozenset({INT8, INT16, INT32, INT64})
_SIGNIFICAND = {BFLOAT16: 8, FLOAT16: 11, FLOAT: 24, DOUBLE: 53}
_WIDER = {
    BFLOAT16: frozenset({BFLOAT16, FLOAT, DOUBLE}),
    FLOAT16: frozenset({FLOAT16, FLOAT, DOUBLE}),
    FLOAT: frozenset({FLOAT, DOUBLE}),
    DOUBLE: frozenset({DOUBLE}),
}


def is_number(dtype: int) -> bool:
    """True for bool, integers and floats of 16 bits or more."""
    return dtype == BOOL or dtype in FLOATS or dtype in INTEGERS


def holds_all(wide: int, narrow: int) -> bool:
    """True when every number of `narrow` exists in `wide`; False for what is no number."""
    if narrow == wide:
        return is_number(narrow)
    if narrow == BOOL:
        return is_number(wide)
    if narrow in FLOATS:
        return wide in _WIDER[narrow]
    if narrow not in INTEGERS:
        return False
    if wide in INTEGERS:
        if narrow in _SIGNED:
            return wide in _SIGNED and _BITS[wide] >= _BITS[narrow]
        return _BITS[wide] > _BITS[narrow] or (wide not in _SIGNED and _BITS[wide] == _BITS[narrow])
    magnitude = _BITS[narrow] - (narrow in _SIGNED)
    return wide in FLOATS and _SIGNIFICAND[wide] >= magnitude and (wide != FLOAT16 or magnitude <= 11)
