"""Makers of random models for the rules that move elements: Split, Gather, Slice, Transpose, Reduce.

Touch: `patterns.py` lists them by rule.
"""

from __future__ import annotations

import numpy as np
from sketch import BOOL, FLOATS, INTEGERS, Dims, Made, Sketch

EVERY = (*FLOATS, *INTEGERS, BOOL)


def permutation(s: Sketch, rank: int) -> tuple[int, ...]:
    """A random order of the axes."""
    left = list(range(rank))
    return tuple(left.pop(s.choose(range(len(left)))) for _ in range(rank))


def transposed(s: Sketch, x: Made, perm: tuple[int, ...]) -> Made:
    """A Transpose of x."""
    return s.node("Transpose", (x,), x.dtype, tuple(x.dims[a] for a in perm), perm=perm)


def _parts(s: Sketch, x: Made, axis: int, sizes: list[int]) -> list[Made]:
    kinds = [(x.dtype, (*x.dims[:axis], n, *x.dims[axis + 1 :])) for n in sizes]
    if len(set(sizes)) == 1 and s.maybe():
        return s.nodes_of(
            "Split", (x,), kinds, axis=axis - (x.rank if s.maybe() else 0), num_outputs=len(sizes)
        )
    return s.nodes_of("Split", (x, s.ints(*sizes)), kinds, axis=axis)


def merge_split_reshapes(s: Sketch) -> None:
    inner = s.choose(((2,), (2,), (3, 1), (1,)))
    counts = [s.choose((1, 1, 2)) for _ in range(s.choose((2, 3)))]
    size = int(np.prod(inner))
    front, behind = s.shape((0, 1, 2)), s.shape((0, 0, 1), named=s.maybe(4))
    x = s.source(s.choose(EVERY), (*front, size * sum(counts), *behind))
    for part, count in zip(_parts(s, x, len(front), [size * c for c in counts]), counts, strict=True):
        if s.maybe(6):
            s.inner(part)
        if s.maybe(9):
            s.result(part)
            continue
        cut: Dims = (count, *inner)
        target = [0] * len(front) + [n for n in cut if isinstance(n, int)]
        if behind and all(isinstance(d, int) for d in (*front, *behind)):
            target = [d for d in (*front, *cut, *behind) if isinstance(d, int)]
        elif behind:
            target.append(-1)
        s.result(s.node("Reshape", (part, s.ints(*target)), x.dtype, (*front, *cut, *behind)))


def merge_split_transposes(s: Sketch) -> None:
    x = s.shape((1, 2, 3))
    axis = s.choose(range(len(x) + 1))
    sizes = [s.choose((1, 2, 2)) for _ in range(s.choose((2, 2, 3)))]
    x = s.source(s.choose(EVERY), (*x[:axis], sum(sizes), *x[axis:]))
    perm = permutation(s, x.rank)
    for part in _parts(s, x, axis, sizes):
        if s.maybe(6):
            s.inner(part)
        s.result(transposed(s, part, permutation(s, x.rank) if s.maybe(3) else perm))


def merge_rows_into_split(s: Sketch) -> None:
    count, block = s.choose((2, 3, 3)), s.choose((1, 2, 3, "M"))
    front, behind = s.shape((0, 1, 2)), s.shape((0, 0, 1), named=s.maybe(3))
    x = s.source(s.choose(EVERY), (*front, count, block, *behind))
    axis = len(front)
    if s.maybe():
        perm = permutation(s, x.rank)
        x, axis = transposed(s, x, perm), perm.index(axis)
    if s.maybe(6):
        s.inner(x)
    dims = (*x.dims[:axis], *x.dims[axis + 1 :])
    if s.maybe():
        for part in _parts(s, x, axis, [1] * count):
            s.result(s.node("Squeeze", (part, s.ints(axis)), x.dtype, dims))
        return
    for index in range(count):
        if s.maybe(9):
            continue
        place = s.constant(np.array(index - (count if s.maybe() else 0)))
        s.result(s.node("Gather", (x, place), x.dtype, dims, axis=axis))


MOVES = (merge_rows_into_split, merge_split_reshapes, merge_split_transposes)
