"""Numbers for one input: distributions of floats, integers inside their range, masks, strings.

House: feeds; imports numpy and onnx.
Touch: `PROFILES` is the order in which samples use the distributions; a new one needs a case in tests/feeds.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx

from onnxsim_ci.feeds.meaning import Meaning
from onnxsim_ci.feeds.specs import InputSpec

PROFILES = ("smooth", "normal", "unit", "sparse", "wide", "image")
"""Smooth first: white noise saturates real detectors (a sigmoid that peaks at 7e-5 hides every error)."""

FLOATS = frozenset(
    {onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16}
)
_WORDS = ("", "a", "b", "unknown", "é", "monday", "7")
_DEFAULT_HIGH = 128


@functools.cache
def dtype_of(element: int) -> np.dtype[Any]:
    """The numpy (or ml_dtypes) dtype of a TensorProto element type; strings are objects."""
    if element == onnx.TensorProto.STRING:
        return np.dtype(object)
    return onnx.numpy_helper.to_array(onnx.TensorProto(data_type=element, dims=[0], raw_data=b"")).dtype


def smooth(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Four low-frequency waves clipped to flat regions with sharp edges: nearer to photographs than noise."""
    axes = [axis for axis in range(len(shape)) if axis >= (2 if len(shape) >= 3 else 1)] or list(
        range(len(shape))
    )
    total: np.ndarray = np.zeros(shape, np.float32)
    for _ in range(4):
        wave: Any = np.float32(1)
        for axis in axes:
            position = np.arange(shape[axis]) / max(shape[axis], 1)
            values = np.cos(2 * np.pi * (rng.uniform(0, 6) * position + rng.random()))
            wave = wave * values.astype(np.float32).reshape(
                [-1 if axis == k else 1 for k in range(len(shape))]
            )
        amplitude = rng.standard_normal([1 if axis in axes else size for axis, size in enumerate(shape)])
        total = total + amplitude.astype(np.float32) * wave
    return np.where(total > 1, np.float32(2), np.where(total < -1, np.float32(-2), total))


_FLOATS: Mapping[str, Callable[[np.random.Generator, tuple[int, ...]], Any]] = {
    "smooth": smooth,
    "normal": lambda rng, shape: rng.standard_normal(shape, np.float32),
    "unit": lambda rng, shape: rng.random(shape, np.float32),
    "sparse": lambda rng, shape: (
        rng.standard_normal(shape, np.float32) * (rng.random(shape, np.float32) < 0.3)
    ),
    "wide": lambda rng, shape: rng.standard_normal(shape, np.float32) * 8,
    "image": lambda rng, shape: rng.integers(0, 256, shape).astype(np.float32),
}


class Draw:
    """What makes two samples of one plan different."""

    __slots__ = ("default_high", "profile", "rng", "sizes")

    def __init__(
        self,
        rng: np.random.Generator,
        profile: str,
        sizes: Mapping[str, int],
        default_high: int = _DEFAULT_HIGH,
    ) -> None:
        """Keep the generator; `default_high` limits integers of which nothing is known."""
        self.rng = rng
        self.profile = profile
        self.sizes = sizes
        self.default_high = default_high


def tensor(
    spec: InputSpec, shape: tuple[int, ...], meaning: Meaning, hint: Mapping[str, Any], draw: Draw
) -> np.ndarray:
    """One tensor.

    Args:
        spec: Element type and name; the name decides about masks and lengths.
        shape: Concrete sizes.
        meaning: Limits found in the graph.
        hint: What the user said: value, low, high, kind ("ones", "arange"), scale.
        draw: Generator, profile, and the fallback range of integers.
    """
    dtype = dtype_of(spec.element)
    if "value" in hint:
        return np.full(shape, hint["value"], dtype)
    if hint.get("kind") == "ones":
        return np.ones(shape, dtype)
    if hint.get("kind") == "arange":
        return np.broadcast_to(np.arange(shape[-1] if shape else 1), shape).astype(dtype)
    if spec.element == onnx.TensorProto.STRING:
        return np.array(draw.rng.choice(_WORDS, size=shape), dtype=object).reshape(shape)
    if spec.element in FLOATS and meaning.high is None and not meaning.size_of:
        return np.asarray(_float(shape, hint, draw)).astype(dtype)
    if "low" not in hint and (meaning.mask or "mask" in spec.name.lower()):
        return mask(draw.rng, shape).astype(dtype)
    if spec.element == onnx.TensorProto.BOOL:
        return np.asarray(draw.rng.random(shape) < 0.75)
    return np.asarray(_integer(spec, shape, meaning, hint, draw)).astype(dtype)


def mask(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Ones, padded with zeros at the right end of the last axis, never all zero; a vector is all ones."""
    result = np.ones(shape, np.int64)
    if len(shape) < 2 or shape[-1] < 3:
        return result
    for row in result.reshape(-1, shape[-1]) if result.size else ():
        row[rng.integers(2, shape[-1] + 1) :] = 0
    return result


def _float(shape: tuple[int, ...], hint: Mapping[str, Any], draw: Draw) -> Any:
    if "low" in hint and "high" in hint:
        unit: np.ndarray = draw.rng.random(shape, np.float32)
        if draw.profile == "smooth":
            unit = (smooth(draw.rng, shape) + 2) / 4
        return hint["low"] + unit * (hint["high"] - hint["low"])
    return _FLOATS[draw.profile](draw.rng, shape) * hint.get("scale", 1)


def _integer(
    spec: InputSpec, shape: tuple[int, ...], meaning: Meaning, hint: Mapping[str, Any], draw: Draw
) -> np.ndarray:
    low, high = meaning.low, meaning.high
    for size in meaning.size_of:
        known = size if isinstance(size, int) else draw.sizes.get(size)
        if known:
            high = known if high is None else min(high, known)
    if "high" in hint:
        low, high = int(hint.get("low", 0)), int(hint["high"])
    elif meaning.compared and high is None:
        near = [number + step for number in meaning.compared for step in (-1, 0, 1)]
        return draw.rng.choice(np.array([n for n in near if n >= low] or [low]), size=shape)
    if high is None:
        high = 256 if spec.element == onnx.TensorProto.UINT8 and len(shape) > 2 else draw.default_high
    high = min(high, _highest(spec.element))
    return draw.rng.integers(min(low, high - 1), max(high, 1), size=shape)


def _highest(element: int) -> int:
    dtype = dtype_of(element)
    return int(np.iinfo(dtype).max) + 1 if dtype.kind in "iu" and dtype.itemsize < 8 else 2**53
