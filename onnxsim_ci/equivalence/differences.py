"""How far two values of one output are apart.

House: equivalence; numpy.
Touch: the thresholds in judging.py are calibrated on these definitions (decision 0003).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

_FLOAT32_EPS = float(np.finfo(np.float32).eps)
_HUGE = 1e140


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One output of one sample, source against another run."""

    structure: str | None = None
    """Why no number can be given: other shape, dtype, NaN positions, infinities; None: comparable."""
    bits_equal: bool
    """Equal bit for bit, any NaN equal to any NaN."""
    l2: float = 0.0
    """L2 norm of the difference over elements that are finite in both."""
    norm: float = 0.0
    """L2 norm of the source's finite elements."""
    max_abs: float = 0.0
    unequal: int = 0
    """Unequal integers, booleans, strings."""
    count: int = 0
    """Elements compared; 0 for empty tensors."""
    floats: bool = False
    eps: float = _FLOAT32_EPS
    """Machine epsilon of the output's dtype."""

    @property
    def relative_l2(self) -> float:
        """Difference over the source's norm; 0.0 when equal, 1.0 when the source is all zero."""
        if self.l2 == 0.0:
            return 0.0
        return self.l2 / self.norm if self.norm else 1.0


def difference(source: Any, other: Any) -> Difference:
    """Compare two outputs: tensors, sequences (element by element), maps (by key), empty optionals."""
    if source is None or other is None:
        return _plain(equal=source is other, reason="an optional is empty on one side only")
    if isinstance(source, list) or isinstance(other, list):
        return _sequences(source, other)
    if isinstance(source, dict) or isinstance(other, dict):
        return _maps(source, other)
    return _tensors(np.asarray(source), np.asarray(other))


def same_bits(source: Any, other: Any) -> bool:
    """True when nothing can be told apart; a NaN equals every NaN, -0.0 does not equal 0.0."""
    return difference(source, other).bits_equal


def _plain(*, equal: bool, reason: str) -> Difference:
    return Difference(bits_equal=equal, structure=None if equal else reason)


def _sequences(source: Any, other: Any) -> Difference:
    if not isinstance(source, list) or not isinstance(other, list) or len(source) != len(other):
        return _plain(equal=False, reason="sequences of different lengths")
    return _joined([difference(a, b) for a, b in zip(source, other, strict=True)])


def _maps(source: Any, other: Any) -> Difference:
    if not isinstance(source, dict) or not isinstance(other, dict) or list(source) != list(other):
        return _plain(equal=False, reason="maps with different keys")
    return _joined([difference(np.asarray(source[key]), np.asarray(other[key])) for key in source])


def _joined(parts: list[Difference]) -> Difference:
    """The parts of a sequence or map as one value."""
    return Difference(
        structure=next((part.structure for part in parts if part.structure), None),
        bits_equal=all(part.bits_equal for part in parts),
        l2=float(np.hypot.reduce([part.l2 for part in parts] or [0.0])),
        norm=float(np.hypot.reduce([part.norm for part in parts] or [0.0])),
        max_abs=max((part.max_abs for part in parts), default=0.0),
        unequal=sum(part.unequal for part in parts),
        count=sum(part.count for part in parts),
        floats=any(part.floats for part in parts),
        eps=max((part.eps for part in parts if part.floats), default=_FLOAT32_EPS),
    )


def _tensors(a: np.ndarray, b: np.ndarray) -> Difference:
    if a.dtype != b.dtype and not (a.dtype.kind in "OUS" and b.dtype.kind in "OUS"):
        return _plain(equal=False, reason=f"dtype {b.dtype} instead of {a.dtype}")
    if a.shape != b.shape:
        return _plain(equal=False, reason=f"shape {list(b.shape)} instead of {list(a.shape)}")
    if a.dtype.kind in "fV":
        return _floats(a, b)
    if a.dtype.kind == "c":
        return _floats(a.view(a.real.dtype), b.view(b.real.dtype))
    unequal = int(np.count_nonzero(a != b))
    return Difference(bits_equal=unequal == 0, unequal=unequal, count=int(a.size))


def _floats(a: np.ndarray, b: np.ndarray) -> Difference:
    eps = _eps(a.dtype)
    if np.array_equal(_bits(a), _bits(b)):
        norm = _norm(np.where(np.isfinite(a), a, 0)) if a.size else 0.0
        return Difference(bits_equal=True, floats=True, count=int(a.size), norm=norm, eps=eps)
    nan_a, nan_b = np.isnan(a), np.isnan(b)
    equal = np.array_equal(np.where(nan_a, 0, _bits(a)), np.where(nan_b, 0, _bits(b)))
    if not np.array_equal(nan_a, nan_b):
        return Difference(bits_equal=False, structure="NaN at other places", floats=True, eps=eps)
    x, y = a.astype(np.float64), b.astype(np.float64)
    finite = np.isfinite(x)
    if not np.array_equal(x[~finite & ~nan_a], y[~finite & ~nan_a]) or not np.isfinite(y[finite]).all():
        return Difference(bits_equal=False, structure="infinities at other places", floats=True, eps=eps)
    delta = y[finite] - x[finite]
    return Difference(
        bits_equal=equal and not np.any(nan_a != nan_b),
        l2=_norm(delta),
        norm=_norm(x[finite]),
        max_abs=float(np.abs(delta).max(initial=0.0)),
        count=int(a.size),
        floats=True,
        eps=eps,
    )


def _bits(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(array.shape).view(np.dtype(f"u{array.dtype.itemsize}"))


def _norm(array: np.ndarray) -> float:
    """L2 norm in float64, scaled where squares would overflow."""
    flat = array.astype(np.float64, copy=False).ravel()
    peak = float(np.abs(flat).max(initial=0.0))
    scale = peak if peak > _HUGE else 1.0
    return float(np.linalg.norm(flat / scale) * scale) if scale != 1.0 else float(np.linalg.norm(flat))


def _eps(dtype: np.dtype[Any]) -> float:
    if dtype.kind == "f":
        return float(np.finfo(dtype).eps)
    import ml_dtypes

    return float(ml_dtypes.finfo(dtype).eps)  # type: ignore[no-untyped-call]
