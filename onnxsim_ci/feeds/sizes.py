"""Which sizes are tried for the free dimensions, and in which order.

A candidate list stands for the role of an axis (batch, channel, picture side, signal, sequence); small
sizes first, because a proof needs many runs. Orders come from 37 published models, all of which run with
one of these sizes (research note, measure A.1).

House: feeds; imports nothing heavy.
Touch: search.py walks the assignments; tests/feeds/test_sizes.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import onnx

from onnxsim_ci.feeds.specs import InputSpec, symbols_of
from onnxsim_ci.feeds.values import FLOATS

_BATCH = (2, 1, 3, 8)
_CHANNEL = (3, 1, 4)
_SIDE = (64, 32, 48, 96, 128, 224, 320, 416, 640)
_SIGNAL = (64, 512, 256, 576, 1024, 16000)
_FRAMES = (32, 7, 64, 100, 512, 80)
_STATE = (2, 1, 32, 7, 64, 100, 512)
_SEQUENCE = (8, 5, 16, 1, 32, 64)
_DIVISIBLE = (12, 60, 840)
"""Sizes that whatever splits an axis into equal parts accepts, tried when all others failed."""
_MOST_CANDIDATES = 6
_MOST_SYMBOLS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything about a sample except its random numbers."""

    sizes: Mapping[str, int]
    axes: Mapping[tuple[str, int], int] = field(default_factory=dict)
    """Sizes of single axes that leave their symbol: pinned by the user, or breaking an equality."""
    picks: Mapping[str, int | float | bool] = field(default_factory=dict)
    """Values of inputs that select a branch."""
    note: str = ""


def candidates(specs: tuple[InputSpec, ...]) -> dict[str, tuple[int, ...]]:
    """Sizes to try for each free symbol, best first; a symbol on several axes takes what all of them take."""
    found: dict[str, tuple[int, ...]] = {}
    for spec in specs:
        for axis, dim in enumerate(spec.dims or ()):
            for symbol in symbols_of(dim):
                mine = _candidates(spec, axis, symbol)
                both = tuple(size for size in found.get(symbol, mine) if size in mine)
                found[symbol] = both or found[symbol]
    return found


def _candidates(spec: InputSpec, axis: int, symbol: str) -> tuple[int, ...]:
    rank, name = len(spec.dims or ()), symbol.lower()
    if axis == 0 or "batch" in name:
        return _BATCH if rank > 1 or "batch" in name else _BATCH[:2] + _SEQUENCE
    if "#" in symbol and rank == 3 and axis == 1:  # a nameless middle axis is often the batch of a state
        return _STATE
    if spec.element in FLOATS and rank == 2:
        return _SIGNAL
    if any(word in name for word in ("seq", "past", "token")):
        return _SEQUENCE
    if rank == 4:
        return _CHANNEL if axis == 1 else _SIDE
    if spec.element in FLOATS and rank == 3:
        return _FRAMES
    return _SEQUENCE


def assignments(
    choices: Mapping[str, tuple[int, ...]], pinned: Mapping[str, int]
) -> Iterator[dict[str, int]]:
    """Sizes for all symbols: the sum of the positions in the candidate lists grows.

    With more than five free symbols: all first, then one symbol at a time, then all second, all third, ….
    """
    names = [name for name in choices if name not in pinned]
    lists = [choices[name][:_MOST_CANDIDATES] for name in names]
    for picks in _positions([len(options) for options in lists]):
        chosen = {name: lists[k][picks[k]] for k, name in enumerate(names)}
        yield {**chosen, **pinned}


def divisible(choices: Mapping[str, tuple[int, ...]], pinned: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """The last resort: one size with many divisors for all symbols that are not pinned."""
    for size in _DIVISIBLE if set(choices) - set(pinned) else ():
        yield {**dict.fromkeys(choices, size), **pinned}


def _positions(lengths: list[int]) -> Iterator[tuple[int, ...]]:
    count = len(lengths)
    if count <= _MOST_SYMBOLS:
        everything = itertools.product(*(range(length) for length in lengths))
        yield from sorted(everything, key=lambda picks: (sum(picks), max(picks, default=0)))
        return
    yield (0,) * count
    for changed, length in enumerate(lengths):
        for position in range(1, min(length, 3)):
            yield tuple(position if k == changed else 0 for k in range(count))
    for position in range(1, max(lengths)):
        yield tuple(min(position, length - 1) for length in lengths)


def shared_axes(specs: tuple[InputSpec, ...]) -> dict[str, list[tuple[str, int]]]:
    """Symbols that stand on two or more axes, with those axes in order."""
    places: dict[str, list[tuple[str, int]]] = {}
    for spec in specs:
        for axis, dim in enumerate(spec.dims or ()):
            if isinstance(dim, str) and symbols_of(dim) == (dim,):
                places.setdefault(dim, []).append((spec.name, axis))
    return {symbol: axes for symbol, axes in places.items() if len(axes) > 1}


def smallest(choices: Mapping[str, tuple[int, ...]], pinned: Mapping[str, int]) -> dict[str, int]:
    """The smallest size of every symbol: what is tried when a run is slow."""
    return {**{name: min(options) for name, options in choices.items()}, **pinned}


def bytes_of(shape: tuple[int, ...], element: int) -> int:
    """Memory of a tensor of this shape; strings count 64 bytes an element."""
    count = 1
    for size in shape:
        count *= size
    wide = {onnx.TensorProto.DOUBLE, onnx.TensorProto.INT64, onnx.TensorProto.UINT64}
    return count * (64 if element == onnx.TensorProto.STRING else 8 if element in wide else 4)
