"""Small new constants, looked up so that equal ones are made once.

House: rewrite. May import model.
Touch: `edits.py` makes constants; `numbering.py` finds equal large ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsim_ci.model import Scope, Value

SHARED_BYTES = 256
"""Larger constants are made anew each time."""


class SharedConstants:
    """The small constants of each scope by type, shape and bytes."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Value] = {}

    def find(self, scope: Scope, array: np.ndarray[Any, Any]) -> Value | None:
        """A live constant of `scope` with these elements; None when there is none, or for large arrays."""
        if array.nbytes > SHARED_BYTES:
            return None
        known = self._known.get(constant_key(scope, array))
        if known is None or not known.is_constant or scope.values.get(known.name) is not known:
            return None
        return known

    def remember(self, value: Value, array: np.ndarray[Any, Any]) -> None:
        """Let later constants with these elements be `value`."""
        if array.nbytes <= SHARED_BYTES:
            self._known[constant_key(value.scope, array)] = value


def constant_key(scope: Scope, array: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    """Equal for constants of one scope with the same type, shape and bytes."""
    content = tuple(array.ravel().tolist()) if array.dtype == object else array.tobytes()
    return (scope, array.dtype.str if array.dtype.kind != "V" else str(array.dtype), array.shape, content)
