"""Makers of random models for the rules that move elements: Split, Gather, Slice, Transpose, Reduce.

Touch: `patterns.py` lists them by rule.
"""

from __future__ import annotations

import numpy as np
from sketch import BOOL, DOUBLE, FLOAT, FLOATS, HALF, INT32, INT64, INTEGERS, Dims, Made, Sketch

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


SLICE_ENDS = (9223372036854775807, 2147483647, 1000)


def _sliced(s: Sketch, x: Made, axis: int, bounds: tuple[int, int], step: int = 1) -> Made:
    start, end = bounds
    operands = [x, s.ints(start), s.ints(end), s.ints(axis - (x.rank if s.maybe() else 0))]
    if step != 1 or s.maybe(4):
        operands.append(s.ints(step))
    dims = (*x.dims[:axis], None, *x.dims[axis + 1 :])
    return s.node("Slice", operands, x.dtype, dims)


def merge_slices(s: Sketch) -> None:
    x = s.source(s.choose(EVERY), s.shape((1, 2, 2)))
    first = s.choose(range(x.rank))
    for _ in range(s.choose((2, 2, 3))):
        axis = first if s.maybe() else s.choose(range(x.rank))
        start, end = s.choose((0, 0, 1, 2, -1, -2)), s.choose((*SLICE_ENDS, 1, 3, 4, -1, -2))
        step = s.choose((1, 1, 1, 2, 3))
        if s.maybe(9):
            start, end, step = -1, -1000, -1
        x = _sliced(s, x, axis, (start, end), step)
        if s.maybe(6):
            s.inner(x)
    s.result(x)


def _shared_out(s: Sketch, x: Made, axis: int, sizes: list[int]) -> list[Made]:
    """Blocks of an axis by Slices and Gathers, now and then one place beside where they should start."""
    parts, place, length = [], 0, sum(sizes)
    for size in sizes:
        start = place + (1 if s.maybe(12) else 0)
        end = start + size
        place = end
        dims = (*x.dims[:axis], size, *x.dims[axis + 1 :])
        if s.maybe(4) and end <= length:
            parts.append(s.node("Gather", (x, s.ints(*range(start, end))), x.dtype, dims, axis=axis))
            continue
        is_last = end >= length
        start -= length if s.maybe(3) else 0
        end = (
            s.choose(SLICE_ENDS)
            if is_last and s.maybe()
            else end - (length if s.maybe(3) and not is_last else 0)
        )
        parts.append(_sliced(s, x, axis, (start, end)))
    return parts


def merge_slices_into_split(s: Sketch) -> None:
    front, behind = s.shape((0, 1)), s.shape((0, 1))
    sizes = [s.choose((1, 2, 3)) for _ in range(s.choose((2, 2, 3)))]
    x = s.source(s.choose(EVERY), (*front, sum(sizes), *behind))
    for part in _shared_out(s, x, len(front), sizes):
        s.inner(part)
        s.result(part)


def merge_parts_into_gather(s: Sketch) -> None:
    front, behind = s.shape((0, 1)), s.shape((0, 1))
    sizes = [s.choose((1, 2, 3)) for _ in range(s.choose((2, 2, 3)))]
    x = s.source(s.choose(EVERY), (*front, sum(sizes), *behind))
    axis = len(front)
    parts = _shared_out(s, x, axis, sizes) if s.maybe() else _parts(s, x, axis, sizes)
    if s.maybe(6):
        s.inner(parts[0])
    parts = [s.choose(parts) for _ in parts] if s.maybe(3) else parts[::-1]
    joined = axis if not s.maybe(6) else s.choose(range(x.rank))
    s.result(s.node("Concat", parts, x.dtype, (*front, None, *behind), axis=joined))


def merge_slice_squeeze(s: Sketch) -> None:
    front, behind = s.shape((0, 1, 2)), s.shape((0, 1))
    axis = len(front)
    x = s.source(s.choose(EVERY), (*front, s.choose((1, 2, 3, "K")), *behind))
    dims = (*front, *behind)
    if s.maybe(3) and isinstance(x.dims[axis], int) and x.dims[axis] != 1:
        for part in _parts(s, x, axis, [1] * int(x.dims[axis] or 0)):
            s.result(s.node("Squeeze", (part, s.ints(axis)), x.dtype, dims))
        return
    if s.maybe(3):
        row = s.node("Gather", (x, s.ints(s.choose((0, -1)))), x.dtype, (*front, 1, *behind), axis=axis)
    else:
        start, end = s.choose(((0, 1), (0, 1), (-1, 1000), (-1, SLICE_ENDS[0]), (-2, -1), (1, 2), (0, 1000)))
        row = _sliced(s, x, axis, (start, end))
    if s.maybe(6):
        s.inner(row)
    s.result(s.node("Squeeze", (row, s.ints(axis - (x.rank if s.maybe() else 0))), x.dtype, dims))


def merge_rows_into_reshape(s: Sketch) -> None:
    count, dims = s.choose((2, 2, 3)), s.shape((1, 2, 3), named=s.maybe())
    axis = s.choose(range(len(dims) + 1))
    x = s.source(s.choose(EVERY), (*dims[:axis], count if not s.maybe(6) else count + 1, *dims[axis:]))
    places = range(count) if not s.maybe(9) else range(count)[::-1]
    rows = []
    for place in places:
        index = s.constant(np.array(place - (count if s.maybe(4) else 0)))
        rows.append(s.node("Gather", (x, index), x.dtype, dims, axis=axis))
        if s.maybe(9):
            s.inner(rows[-1])
    joined = s.choose(range(len(dims)))
    result = (*dims[:joined], None, *dims[joined + 1 :])
    s.result(s.node("Concat", rows, x.dtype, result, axis=joined - (len(dims) if s.maybe() else 0)))


def merge_transpose_reshape(s: Sketch) -> None:
    dims = list(s.shape((1, 2, 3), named=s.maybe()))
    for _ in range(s.choose((1, 1, 2))):
        dims.insert(s.choose(range(len(dims) + 1)), 1)
    x = s.source(s.choose(EVERY), tuple(dims))
    steps = ["Transpose", s.choose(("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Unsqueeze"))]
    for step in steps if s.maybe() else steps[::-1]:
        if step == "Transpose":
            perm = permutation(s, x.rank)
            if s.maybe():
                ones = [a for a in range(x.rank) if x.dims[a] == 1]
                order = [a for a in range(x.rank) if a not in ones]
                for one in ones:
                    order.insert(s.choose(range(len(order) + 1)), one)
                perm = tuple(order)
            x = transposed(s, x, perm)
        elif step == "Reshape":
            target = [d if isinstance(d, int) else s.choose((0, -1)) for d in x.dims]
            if s.maybe():
                target = [-1, *[d for d in target[1:] if d > 0]]
            x = s.node("Reshape", (x, s.ints(*target)), x.dtype, (None,) * len(target))
        elif step == "Flatten":
            x = s.node("Flatten", (x,), x.dtype, (None, None), axis=s.choose(range(x.rank + 1)))
        elif step == "Squeeze":
            axes = [a for a in range(x.rank) if x.dims[a] == 1][: s.choose((1, 2))]
            left = tuple(d for a, d in enumerate(x.dims) if a not in axes)
            x = s.node("Squeeze", (x, s.ints(*axes)), x.dtype, left)
        else:
            axis = s.choose(range(x.rank + 1))
            x = s.node("Unsqueeze", (x, s.ints(axis)), x.dtype, (*x.dims[:axis], 1, *x.dims[axis:]))
        s.inner(x)
    s.result(x)


def _reduced(s: Sketch, x: Made, axes: list[int], keepdims: int) -> Made:
    op_type = s.choose(("ReduceMax", "ReduceMin", "ReduceMean", "ReduceSum", "ReduceL1"))
    dims = tuple(1 if a in axes else d for a, d in enumerate(x.dims) if keepdims or a not in axes)
    return s.node(op_type, (x, s.ints(*axes)), x.dtype, dims, keepdims=keepdims)


def _some_axes(s: Sketch, rank: int) -> list[int]:
    return sorted({s.choose(range(rank)) for _ in range(s.choose((1, 2)))})


def eliminate_transpose_before_reduce(s: Sketch) -> None:
    x = s.source(s.choose((FLOAT, DOUBLE, INT32)), s.shape((2, 3, 4), named=s.maybe()))
    axes = _some_axes(s, x.rank)
    left = [a for a in range(x.rank) if a not in axes]
    perm = permutation(s, x.rank)
    if s.maybe():
        order = list(left)
        for axis in axes:
            order.insert(s.choose(range(len(order) + 1)), axis)
        perm = tuple(order)
    t = transposed(s, x, perm)
    if s.maybe(6):
        s.inner(t)
    s.result(_reduced(s, t, sorted(perm.index(a) for a in axes), s.choose((0, 0, 1))))


def merge_reduce_reshape(s: Sketch) -> None:
    x = s.source(s.choose((FLOAT, DOUBLE, INT32)), s.shape((2, 3, 4), named=s.maybe()))
    axes = _some_axes(s, x.rank)
    keepdims = s.choose((0, 1))
    r = _reduced(s, x, axes, keepdims)
    if s.maybe(6):
        s.inner(r)
    shift = 1 if s.maybe(9) else 0
    places = [min(a + shift, x.rank - 1) for a in axes]
    if keepdims and s.maybe():
        s.result(s.node("Flatten", (r,), x.dtype, (None, None), axis=s.choose((0, 1))))
    else:
        s.result(s.node("Squeeze" if keepdims else "Unsqueeze", (r, s.ints(*places)), x.dtype, (None,)))


def eliminate_empty_operand(s: Sketch) -> None:
    front, behind = s.shape((0, 1)), s.shape((0, 1))
    axis, dtype = len(front), s.choose(EVERY)
    sizes = [s.choose((1, 2, "K", "L")) for _ in range(s.choose((1, 2)))]
    operands = [s.source(dtype, (*front, size, *behind)) for size in sizes]
    empty = s.source(dtype, (*front, s.choose((2, 3, "K")), *behind))
    if not s.maybe(4):
        place = s.choose((0, 1, -1))
        empty = _sliced(s, empty, axis, (place, place))
    s.inner(empty)
    operands.insert(s.choose(range(len(operands) + 1)), empty)
    joined = axis - (axis + 1 + len(behind) if s.maybe() else 0)
    s.result(s.node("Concat", operands, dtype, (*front, None, *behind), axis=joined))


def convert_split_to_sequence(s: Sketch) -> None:
    front, behind = s.shape((0, 1)), s.shape((0, 1))
    sizes = [s.choose((1, 2, 3)) for _ in range(s.choose((2, 3)))]
    x = s.source(s.choose((FLOAT, DOUBLE, INT32)), (*front, sum(sizes), *behind))
    operands: list[Made] = [x]
    count = sum(sizes)
    if s.maybe():
        size = s.choose((1, 2, 3))
        operands.append(s.constant(np.array(size)))
        count = -(-sum(sizes) // size)
    elif s.maybe():
        operands.append(s.ints(*sizes))
        count = len(sizes)
    axis = len(front) - (x.rank if s.maybe() else 0)
    sequence = s.node("SplitToSequence", operands, x.dtype, (), axis=axis)
    left = list(range(count))
    for _ in range(s.choose((1, 2))):
        place = left.pop(s.choose(range(len(left)))) if left else 0
        index = s.constant(np.array(place - (count if s.maybe() else 0)))
        s.result(s.node("SequenceAt", (sequence, index), x.dtype, (*front, None, *behind)))


def _computed(s: Sketch, made: list[Made]) -> Made:
    """Something elementwise, a Softmax or a Concat of the last value and perhaps another one."""
    x = made[-1]
    kind = s.choose(("unary", "unary", "binary", "binary", "constant", "softmax", "concat"))
    if kind == "unary":
        return s.node(s.choose(("Relu", "Neg", "Sigmoid", "Clip")), (x,), FLOAT, x.dims)
    if kind == "softmax":
        return s.node("Softmax", (x,), FLOAT, x.dims, axis=s.choose(range(x.rank)))
    if kind == "concat" and isinstance(x.dims[0], int):
        return s.node("Concat", (x, s.choose(made)), FLOAT, (None, *x.dims[1:]), axis=0)
    if kind == "constant":
        shape = [d if isinstance(d, int) and s.maybe() else 1 for d in x.dims]
        shape = shape[s.choose((0, 1)) if shape[0] == 1 else 0 :]
        c = s.constant(np.arange(1, 1 + np.prod(shape)).reshape(shape), FLOAT)
        return s.node(s.choose(("Add", "Mul")), (x, c) if s.maybe() else (c, x), FLOAT, x.dims)
    return s.node(s.choose(("Add", "Sub", "Mul")), (s.choose(made), x), FLOAT, x.dims)


def sink_transposes(s: Sketch) -> None:
    dims = s.shape((2, 3), named=s.maybe())
    perm = permutation(s, len(dims))
    if perm == tuple(range(len(dims))):
        perm = perm[::-1]
    made = []
    for _ in range(s.choose((1, 2, 2))):
        x = transposed(s, s.source(FLOAT, dims), perm if not s.maybe(9) else permutation(s, len(dims)))
        if s.maybe(6):
            s.inner(x)
        made.append(x)
    for _ in range(s.choose((1, 2, 3))):
        made.append(_computed(s, made))
        if s.maybe(9):
            s.inner(made[-1])
    x = made[-1]
    if s.maybe():
        back = tuple(perm.index(a) for a in range(len(perm)))
        x = transposed(s, x, back if s.maybe() else permutation(s, x.rank))
    s.result(x)


def _patches(s: Sketch, x: Made, axes: tuple[int, ...]) -> list[Made]:
    """Every second place of the axes from each of the first two on, now and then with one of them twice."""
    dims = tuple(d // 2 if a in axes and isinstance(d, int) else d for a, d in enumerate(x.dims))
    firsts = [tuple(p) for p in np.ndindex(*(2,) * len(axes))]
    firsts = [f[::-1] for f in firsts] if s.maybe() else firsts
    if s.maybe(9):
        firsts[s.choose(range(len(firsts)))] = firsts[0]
    patches = []
    for first in firsts:
        ends = [s.choose(SLICE_ENDS) for _ in axes]
        operands = [x, s.ints(*first), s.ints(*ends), s.ints(*axes), s.ints(*(2,) * len(axes))]
        patches.append(s.node("Slice", operands, x.dtype, dims))
    return patches


def merge_patches(s: Sketch) -> None:
    sizes = [s.choose((2, 4)), s.choose((2, 6))]
    dims: list[int | str | None] = [*sizes]
    place = s.choose((0, 1, 2))
    dims.insert(place, s.choose((1, 3)))
    if s.maybe():
        dims.insert(0, s.choose((1, 2, "N")))
        place += 1
    x = s.source(s.choose(EVERY), tuple(dims))
    axes = tuple(a for a in range(x.rank - 3, x.rank) if a != place)
    patches = _patches(s, x, axes)
    if s.maybe(9):
        s.inner(patches[0])
    result = tuple(None if a == place else d for a, d in enumerate(patches[0].dims))
    s.result(s.node("Concat", patches, x.dtype, result, axis=place))


def fuse_patches_into_conv(s: Sketch) -> None:
    channels, out = s.choose((1, 2)), s.choose((1, 3))
    x = s.source(s.choose((FLOAT, FLOAT, DOUBLE)), (s.choose((1, 2, "N")), channels, s.choose((4, 6)), 4))
    patches = _patches(s, x, (2, 3))
    dims = (x.dims[0], channels * 4, *patches[0].dims[2:])
    joined = s.node("Concat", patches, x.dtype, dims, axis=1)
    if s.maybe(6):
        s.inner(joined)
    kernel = (s.choose((1, 2)), s.choose((1, 2)))
    numbers = np.arange(out * channels * 4 * kernel[0] * kernel[1]) % 7 - 3
    operands = [joined, s.constant(numbers.reshape(out, channels * 4, *kernel), x.dtype)]
    if s.maybe():
        operands.append(s.constant(np.arange(out), x.dtype))
    attributes = {"pads": s.choose(([0, 0, 0, 0], [1, 0, 0, 1])), "strides": s.choose(([1, 1], [2, 1]))}
    if s.maybe(9):
        attributes["dilations"] = [1, 2]
    s.result(s.node("Conv", operands, x.dtype, (None, None, None, None), **attributes))


def merge_pool_reshape(s: Sketch) -> None:
    sizes = (2, 3, "K") if s.maybe(6) else (1, 2, 3)
    image = tuple(s.choose(sizes) for _ in range(s.choose((1, 2))))
    x = s.source(s.choose((FLOAT, FLOAT, HALF)), (s.choose((1, 2, "N")), s.choose((1, 3)), *image))
    ones = (*x.dims[:2], *(1 for _ in image))
    p = s.node("GlobalAveragePool", (x,), x.dtype, ones)
    if s.maybe(6):
        s.inner(p)
    kind = s.choose(("Flatten", "Squeeze", "Reshape"))
    if kind == "Flatten":
        s.result(s.node("Flatten", (p,), x.dtype, (None, None), axis=s.choose((1, 1, 2))))
        return
    given = s.ints(0, -1) if kind == "Reshape" else s.ints(*range(2, x.rank))
    s.result(s.node(kind, (p, given), x.dtype, x.dims[:2]))


def fuse_slice_into_conv(s: Sketch) -> None:
    x = s.source(s.choose((FLOAT, FLOAT, DOUBLE)), (s.choose((1, 2, "N")), 1, s.choose((4, 5, "H")), 4))
    pads = [s.choose((1, 1, 2, 0, 3)) for _ in range(4)]
    weight = s.constant((np.arange(9) % 5 - 2).reshape(1, 1, 3, 3), x.dtype)
    attributes = {"pads": pads, "strides": s.choose(([1, 1], [1, 1], [2, 1]))}
    c = s.node("Conv", (x, weight), x.dtype, (x.dims[0], 1, None, None), **attributes)
    if s.maybe(6):
        s.inner(c)
    for axis in (2, 3) if s.maybe() else (s.choose((2, 3)),):
        c = _sliced(s, c, axis, (s.choose((0, 1, 1, 2)), s.choose((-1, -1, 3, SLICE_ENDS[0]))))
    s.result(c)


def merge_stacked(s: Sketch) -> None:
    dims = s.shape((1, 2), named=s.maybe())
    axis = s.choose(range(len(dims) + 1))
    dtype = s.choose(EVERY)
    x = s.source(dtype, dims)
    raised = []
    for _ in range(s.choose((2, 2, 3))):
        if s.maybe(3) and dtype == FLOAT:
            x = s.node("Neg", (x,), dtype, dims)
        elif s.maybe(3):
            x = s.source(dtype, dims)
        size = (*dims[:axis], 1, *dims[axis:])
        place = axis - (len(size) if s.maybe() else 0)
        raised.append(s.node("Unsqueeze", (x, s.ints(place)), dtype, size))
        if s.maybe(9):
            s.inner(raised[-1])
    joined = axis if not s.maybe(9) else s.choose(range(len(dims) + 1))
    s.result(s.node("Concat", raised, dtype, (None,) * (len(dims) + 1), axis=joined))


def merge_repeats(s: Sketch) -> None:
    dims = s.shape((1, 2, 3), named=s.maybe(3))
    new, times = s.choose(range(len(dims) + 1)), s.choose((1, 2, 3))
    x = s.source(s.choose((FLOAT, INT32, BOOL)), dims)
    size = (*dims[:new], 1, *dims[new:])
    u = s.node("Unsqueeze", (x, s.ints(new)), x.dtype, size)
    if s.maybe(9):
        s.inner(u)
    factors = [1] * len(size)
    factors[new] = times
    if s.maybe(9):
        factors[s.choose(range(len(size)))] = 2
    r = s.node("Expand", (u, s.ints(*factors)), x.dtype, (None,) * len(size))
    if s.maybe(9):
        s.inner(r)
    joined = s.choose(range(len(dims)))
    target = [d if isinstance(d, int) else -1 for d in dims]
    target[joined] = -1 if -1 not in target else target[joined]
    s.result(s.node("Reshape", (r, s.ints(*target)), x.dtype, (None,) * len(dims)))


def merge_shape_gather(s: Sketch) -> None:
    x = s.source(FLOAT, s.shape((1, 2, 3)))
    bounds = {"start": s.choose((0, 1, -1))} if s.maybe(4) else {}
    count = len(range(x.rank)[bounds.get("start", 0) :])
    sizes = s.node("Shape", (x,), INT64, (count,), **bounds)
    if s.maybe(9):
        s.inner(sizes)
    for _ in range(s.choose((1, 1, 2))):
        first = s.choose(range(count)) if count else 0
        last = s.choose(range(first, count)) if count else 0
        if s.maybe() and count:
            places = list(range(first, last + 1))[:: -1 if s.maybe(9) else 1]
            s.result(s.node("Gather", (sizes, s.ints(*places)), INT64, (len(places),)))
        else:
            s.result(_sliced(s, sizes, 0, (first, last + 1)))


def merge_shape_pieces(s: Sketch) -> None:
    x = s.source(FLOAT, s.shape((2, 3)))
    pieces, place = [], 0
    while place < x.rank:
        size = x.dims[place]
        if isinstance(size, int) and s.maybe(3):
            pieces.append(s.ints(size if not s.maybe(9) else size + 1))
            place += 1
            continue
        end = s.choose(range(place, x.rank)) + 1
        pieces.append(s.node("Shape", (x,), INT64, (end - place,), start=place, end=end))
        if s.maybe(6):
            s.inner(pieces[-1])
        place = end
    if s.maybe(9):
        pieces = pieces[::-1]
    s.result(s.node("Concat", pieces, INT64, (None,), axis=0))


MOVES = (
    merge_shape_gather,
    merge_shape_pieces,
    merge_repeats,
    merge_stacked,
    fuse_slice_into_conv,
    merge_pool_reshape,
    fuse_patches_into_conv,
    merge_patches,
    sink_transposes,
    convert_split_to_sequence,
    eliminate_empty_operand,
    eliminate_transpose_before_reduce,
    merge_reduce_reshape,
    merge_transpose_reshape,
    merge_parts_into_gather,
    merge_rows_into_reshape,
    merge_rows_into_split,
    merge_slice_squeeze,
    merge_slices,
    merge_slices_into_split,
    merge_split_reshapes,
    merge_split_transposes,
)
