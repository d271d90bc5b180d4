"""For each rule a maker of random models around the pattern that it looks for, with near misses among them.

Touch: `onnxsim_ci/rewrite/catalogue.py`: a test fails for a rule without a pattern.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from fused_patterns import FUSED_PATTERNS
from move_patterns import MOVES
from onnx import ValueInfoProto, helper
from sketch import BOOL, DOUBLE, FLOAT, FLOATS, HALF, INT8, INT32, INT64, INTEGERS, UINT8, Dims, Made, Sketch

FULL = (FLOAT, FLOAT, DOUBLE)
"""Floats of a pattern with several computations: in half precision the runtime rounds only here and there."""
NUMBERS = (*FLOATS, *INTEGERS)
EVERY = (*NUMBERS, BOOL)


def _permutation(s: Sketch, rank: int) -> tuple[int, ...]:
    left = list(range(rank))
    return tuple(left.pop(s.choose(range(len(left)))) for _ in range(rank))


def _transposed(s: Sketch, x: Made, *, perm: tuple[int, ...] | None = None) -> Made:
    if perm is None and s.maybe(4):
        return s.node("Transpose", (x,), x.dtype, x.dims[::-1])
    perm = perm if perm is not None else _permutation(s, x.rank)
    return s.node("Transpose", (x,), x.dtype, tuple(x.dims[a] for a in perm), perm=perm)


def merge_transposes(s: Sketch) -> None:
    a = _transposed(s, s.source(s.choose(EVERY), s.shape()))
    s.inner(a)
    s.result(_transposed(s, a))


def eliminate_transpose(s: Sketch) -> None:
    x = s.source(s.choose(EVERY), s.shape())
    s.result(_transposed(s, x, perm=tuple(range(x.rank)) if s.maybe() else None))


def eliminate_if(s: Sketch) -> None:
    x = s.source(s.choose((*FULL, *INTEGERS)), s.shape())
    condition = s.constant(np.array(s.choose((True, False)))) if not s.maybe(4) else s.input(BOOL, ())
    branches = []
    for name in ("then_branch", "else_branch"):
        inner = Sketch(s.choose, s.opset)
        inner.count = s.count + 100 * len(branches)
        value = x
        for _ in range(s.choose((1, 2, 3))):
            value = inner.node(s.choose(("Neg", "Abs", "Identity")), (value,), x.dtype, x.dims)
        if s.maybe():
            value = inner.node("Mul", (value, inner.constant(3, x.dtype)), x.dtype, x.dims)
        elif s.maybe() and x.dtype in (FLOAT, DOUBLE):
            value = inner.node("Sub", (value, x), x.dtype, x.dims)
        outputs = [ValueInfoProto(name=value.name)]
        graph = helper.make_graph(inner.nodes, name, [], outputs, inner.initializers)
        branches.append((name, graph))
        s.count = inner.count
    s.result(s.node("If", (condition,), x.dtype, x.dims, **dict(branches)))


def eliminate_cast(s: Sketch) -> None:
    dtype = s.choose((FLOAT, DOUBLE, HALF, INT32, INT64, INT8, UINT8, BOOL))
    x = s.source(dtype, s.shape())
    to = (
        s.choose((dtype, dtype, dtype, FLOAT, INT64, BOOL))
        if dtype == BOOL
        else s.choose((dtype, dtype, FLOAT))
    )
    s.result(s.node("Cast", (x,), to, x.dims, to=to))


def merge_casts(s: Sketch) -> None:
    kinds = (FLOAT, DOUBLE, HALF, INT32, INT64, INT8, UINT8, BOOL)
    first = s.choose(kinds)
    narrow = {FLOAT: (DOUBLE,), HALF: (FLOAT, DOUBLE), INT8: (INT32, INT64, FLOAT), INT32: (INT64, DOUBLE)}
    middle = s.choose((*narrow.get(first, kinds), s.choose(kinds)))
    last = s.choose((first, s.choose(kinds)))
    x = s.source(first, s.shape())
    a = s.node("Cast", (x,), middle, x.dims, to=middle)
    s.inner(a)
    s.result(s.node("Cast", (a,), last, x.dims, to=last))


def convert_castlike_to_cast(s: Sketch) -> None:
    x = s.source(s.choose(NUMBERS), s.shape())
    like = s.input(s.choose((x.dtype, BOOL)), s.shape())
    s.result(s.node("CastLike", (x, like), like.dtype, x.dims))


def eliminate_dropout(s: Sketch) -> None:
    x = s.source(s.choose(FLOATS), s.shape())
    operands: list[Made | None] = [x]
    if s.maybe():
        operands.append(s.constant(np.float32(0.7)) if s.maybe() else None)
        operands.append(s.constant(np.array(bool(s.maybe(4)))))
    s.result(s.node("Dropout", operands, x.dtype, x.dims, seed=5))


def eliminate_identity(s: Sketch) -> None:
    x = s.source(s.choose(EVERY), s.shape())
    for _ in range(s.choose((1, 2, 3))):
        x = s.node("Identity", (x,), x.dtype, x.dims)
        s.inner(x)
    s.result(x)


def eliminate_involution(s: Sketch) -> None:
    dtype = s.choose((*NUMBERS, INT8, BOOL, BOOL))
    x = s.source(dtype, s.shape())
    for _ in range(s.choose((2, 2, 3))):
        op_type = "Not" if dtype == BOOL else s.choose(("Neg", "Neg", "Neg", "Abs"))
        x = s.node(op_type, (x,), dtype, x.dims)
        s.inner(x)
    s.result(x)


def _neutral(
    s: Sketch, op_types: tuple[str, ...], numbers: tuple[float, ...], kinds: tuple[int, ...]
) -> None:
    x = s.source(s.choose(kinds), s.shape((0, 1, 2, 3)))
    shape: tuple[int, ...] = s.choose(((), (), (1,), (1, 1), (3,), (2, 3), (0,)))
    array = np.full(shape, s.choose(numbers))
    if array.size and s.maybe(5):
        array.flat[0] = s.choose(numbers)
    if x.dtype in INTEGERS:
        array = np.where(np.isfinite(array), array, 0)
    constant = s.constant(array, x.dtype)
    operands = (x, constant) if not s.maybe(3) else (constant, x)
    dims = _broadcast(x.dims, shape)
    s.result(s.node(s.choose(op_types), operands, x.dtype, dims))


def _broadcast(dims: Dims, shape: tuple[int, ...]) -> Dims:
    rank = max(len(dims), len(shape))
    a = (1,) * (rank - len(dims)) + dims
    b = (1,) * (rank - len(shape)) + shape
    return tuple(one if other == 1 else other for one, other in zip(a, b, strict=True))


def eliminate_neutral_add(s: Sketch) -> None:
    _neutral(s, ("Add", "Sub", "Sub"), (0.0, 0.0, -0.0, 1e-9, np.nan), NUMBERS)


def eliminate_positive_zero_add(s: Sketch) -> None:
    _neutral(s, ("Add", "Sub"), (0.0, 0.0, -0.0, 1e-9), FLOATS)


def eliminate_neutral_mul(s: Sketch) -> None:
    _neutral(s, ("Mul", "Div"), (1.0, 1.0, 1.0, 2.0, -1.0), NUMBERS)


def eliminate_neutral_logic(s: Sketch) -> None:
    _neutral(s, ("And", "Or"), (0.0, 1.0), (BOOL,))


def eliminate_pow_one(s: Sketch) -> None:
    _neutral(s, ("Pow",), (1.0, 1.0, 2.0), (FLOAT, DOUBLE))


def eliminate_single_operand(s: Sketch) -> None:
    x = s.source(s.choose(FLOATS), s.shape())
    op_type = s.choose(("Concat", "Sum", "Max", "Min", "Mean"))
    more = {"axis": s.choose(range(-x.rank, x.rank))} if op_type == "Concat" else {}
    operands = (x,) if not s.maybe(4) else (x, x)
    s.result(s.node(op_type, operands, x.dtype, (None,) * x.rank, **more))


def eliminate_where(s: Sketch) -> None:
    dtype = s.choose(EVERY)
    x, z = s.source(dtype, s.shape()), s.source(dtype, s.shape())
    shape: tuple[int, ...] = s.choose(((), (), (1,), (3,), (2, 1), (0,)))
    truth = np.full(shape, s.choose((True, False)))
    if truth.size and s.maybe(5):
        truth.flat[0] = s.choose((True, False))
    rank = max(x.rank, z.rank, len(shape))
    s.result(s.node("Where", (s.constant(truth), x, z), dtype, (None,) * rank))


def merge_idempotent(s: Sketch) -> None:
    op_type = s.choose(("Relu", "Abs", "Ceil", "Floor", "Round", "Sign"))
    x = s.source(s.choose(FULL), s.shape())
    for _ in range(s.choose((2, 2, 3))):
        x = s.node(op_type if not s.maybe(5) else "Neg", (x,), x.dtype, x.dims)
        s.inner(x)
    s.result(x)


def eliminate_expand(s: Sketch) -> None:
    x = s.source(s.choose(EVERY), s.shape())
    if s.maybe(3):
        target = s.node("Shape", (s.choose((x, s.input(FLOAT, x.dims))),), INT64, (x.rank,))
    else:
        target = s.ints(*(d if isinstance(d, int) and s.maybe() else 1 for d in x.dims), *([1] * s.maybe(5)))
    s.result(s.node("Expand", (x, target), x.dtype, (None,) * max(x.rank, _length(target))))


def _length(vector: Made) -> int:
    return vector.dims[0] if isinstance(vector.dims[0], int) else 0


def eliminate_expand_before_broadcast(s: Sketch) -> None:
    dtype = s.choose(NUMBERS)
    other = s.source(dtype, s.shape())
    small = tuple(d if s.maybe() else 1 for d in other.dims)[s.choose((0, 0, 1)) :]
    x = s.source(dtype, small)
    target = s.node("Shape", (s.choose((other, other, s.input(FLOAT, other.dims))),), INT64, (other.rank,))
    a = s.node("Expand", (x, target), dtype, other.dims)
    s.inner(a)
    op_type = s.choose(("Add", "Sub", "Mul", "Less", "Equal"))
    operands = (a, other) if s.maybe() else (other, a)
    s.result(s.node(op_type, operands, BOOL if op_type in ("Less", "Equal") else dtype, other.dims))


def eliminate_pad(s: Sketch) -> None:
    x = s.source(s.choose(FLOATS), s.shape())
    pads = [0] * (2 * x.rank)
    if s.maybe(3):
        pads[s.choose(range(len(pads)))] = s.choose((1, -1))
    s.result(
        s.node("Pad", (x, s.ints(*pads)), x.dtype, (None,) * x.rank, mode=s.choose(("constant", "edge")))
    )


def _reshaped(s: Sketch, x: Made) -> Made:
    """Some node that keeps the elements in order."""
    known = [d for d in x.dims if isinstance(d, int)]
    count = int(np.prod(known)) if len(known) == x.rank else 0
    kind = s.choose(("Reshape", "Reshape", "Reshape", "Flatten", "Unsqueeze", "Squeeze"))
    if kind == "Flatten":
        return s.node("Flatten", (x,), x.dtype, (None, None), axis=s.choose(range(-x.rank, x.rank + 1)))
    if kind == "Unsqueeze":
        axis = s.choose(range(-x.rank - 1, x.rank + 1))
        place = axis % (x.rank + 1)
        return s.node("Unsqueeze", (x, s.ints(axis)), x.dtype, (*x.dims[:place], 1, *x.dims[place:]))
    ones = [a for a, d in enumerate(x.dims) if d == 1]
    if kind == "Squeeze" and ones:
        axis = s.choose(ones)
        dims = (*x.dims[:axis], *x.dims[axis + 1 :])
        return s.node("Squeeze", (x, s.ints(s.choose((axis, axis - x.rank)))), x.dtype, dims)
    targets: list[tuple[int, ...]] = [
        (0,) * x.rank,
        (-1,),
        (0, -1),
        (-1, 1),
        (1, -1),
        (*((0,) * (x.rank - 1)), -1),
    ]
    targets += [(count,), (1, count), (count, 1)] * (count > 0) + [(count // 2, 2)] * (
        count % 2 == 0 and count > 0
    )
    target = s.choose(targets)
    return s.node("Reshape", (x, s.ints(*target)), x.dtype, (None,) * len(target))


def eliminate_reshape(s: Sketch) -> None:
    x = s.source(s.choose(EVERY), s.shape())
    s.result(_reshaped(s, x))


def merge_reshapes(s: Sketch) -> None:
    a = _reshaped(s, s.source(s.choose(EVERY), s.shape()))
    s.inner(a)
    if a.rank:
        a = _reshaped(s, a)
    s.result(a)


def eliminate_slice(s: Sketch) -> None:
    x = s.source(s.choose(EVERY), s.shape())
    axis = s.choose(range(x.rank))
    size = x.dims[axis]
    ends = (2**63 - 1, 2**31 - 1, 7, 3, -1, *((size,) if isinstance(size, int) else ()))
    numbers = (
        s.choose((0, 0, 0, -9, 1)),
        s.choose(ends),
        s.choose((axis, axis - x.rank)),
        s.choose((1, 1, 1, 2)),
    )
    if s.maybe(6):
        numbers = (-1, -(2**31), axis, -1)
    operands = (x, *(s.ints(n) for n in numbers))
    s.result(s.node("Slice", operands, x.dtype, (*x.dims[:axis], None, *x.dims[axis + 1 :])))


def eliminate_split_concat(s: Sketch) -> None:
    dims = (*s.shape((0, 1)), s.choose((4, 6)), *s.shape((0, 1)))
    x = s.source(s.choose(EVERY), dims)
    axis = next(a for a, d in enumerate(dims) if d in (4, 6))
    size = dims[axis]
    assert isinstance(size, int)
    part = (*dims[:axis], None, *dims[axis + 1 :])
    cut = s.choose(range(1, size))
    if s.maybe():
        parts = s.nodes_of("Split", (x, s.ints(cut, size - cut)), [(x.dtype, part)] * 2, axis=axis)
    else:
        second = s.choose((cut, cut, cut, cut - 1))
        places = ((0, cut), (second, s.choose((size, 99))))
        parts = [s.node("Slice", (x, s.ints(a), s.ints(b), s.ints(axis)), x.dtype, part) for a, b in places]
    if s.maybe(5):
        parts.reverse()
    s.inner(parts[0])
    s.result(s.node("Concat", parts, x.dtype, part, axis=s.choose((axis, axis - x.rank))))


def _axes_of(s: Sketch, rank: int, count: int) -> tuple[int, ...]:
    axes = _permutation(s, rank)[:count]
    return tuple(s.choose((a, a - rank)) for a in axes)


def _unsqueezed(s: Sketch, x: Made) -> Made:
    count = s.choose((1, 1, 2))
    axes = _axes_of(s, x.rank + count, count)
    return s.node("Unsqueeze", (x, s.ints(*axes)), x.dtype, _inserted(x.dims, axes))


def _inserted(dims: Dims, axes: tuple[int, ...]) -> Dims:
    rank = len(dims) + len(axes)
    places = {a % rank for a in axes}
    rest = iter(dims)
    return tuple(1 if a in places else next(rest) for a in range(rank))


def _squeezed(s: Sketch, x: Made) -> Made:
    ones = [a for a, d in enumerate(x.dims) if d == 1]
    axes = tuple(a for a in ones if s.maybe()) or tuple(ones[:1])
    dims = tuple(d for a, d in enumerate(x.dims) if a not in axes)
    if not axes:
        return x
    return s.node("Squeeze", (x, s.ints(*(s.choose((a, a - x.rank)) for a in axes))), x.dtype, dims)


def eliminate_squeeze_unsqueeze(s: Sketch) -> None:
    x = s.source(s.choose(EVERY), s.shape())
    a = _unsqueezed(s, x) if s.maybe() or 1 not in x.dims else _squeezed(s, x)
    s.inner(a)
    s.result(_squeezed(s, a) if a.rank > x.rank else _unsqueezed(s, a))


def merge_squeezes(s: Sketch) -> None:
    if s.maybe():
        x = s.source(s.choose(EVERY), s.shape((0, 1, 2)))
        a = _unsqueezed(s, x)
        s.inner(a)
        s.result(_unsqueezed(s, a))
        return
    x = s.source(s.choose(EVERY), tuple(s.choose((1, 1, 2, "N")) for _ in range(4)))
    a = _squeezed(s, x)
    s.inner(a)
    s.result(_squeezed(s, a))


def eliminate_tile(s: Sketch) -> None:
    x = s.source(s.choose(EVERY), s.shape())
    repeats = [1] * x.rank
    if s.maybe(3):
        repeats[s.choose(range(x.rank))] = s.choose((0, 2))
    s.result(s.node("Tile", (x, s.ints(*repeats)), x.dtype, (None,) * x.rank))


def convert_reshape_target(s: Sketch) -> None:
    x = s.source(
        s.choose(EVERY), (*(s.choose(("N", "M", 2, 3)) for _ in range(s.choose((1, 2)))), s.choose((4, 6)))
    )
    last = x.dims[-1]
    assert isinstance(last, int)
    shape = s.node("Shape", (x,), INT64, (x.rank,))
    parts: list[Made] = []
    for axis in range(x.rank - 1):
        i = s.constant(np.int64(axis))
        scalar = s.node("Gather", (shape, i), INT64, ())
        parts.append(s.node("Unsqueeze", (scalar, s.ints(0)), INT64, (1,)))
    if s.maybe(5):
        parts.reverse()
    tail = s.choose(((last,), (2, last // 2), (-1,), (last // 2, 2)))
    if s.maybe(4) and len(parts) == 1:
        parts = [s.node("Mul", (parts[0], s.ints(last // 2)), INT64, (1,))]
        tail = (2,)
    target = s.node("Concat", (*parts, s.ints(*tail)), INT64, (len(parts) + len(tail),), axis=0)
    s.inner(target)
    s.result(s.node("Reshape", (x, target), x.dtype, (None,) * (len(parts) + len(tail))))


def merge_concats(s: Sketch) -> None:
    dtype, rank = s.choose(EVERY), s.choose((1, 2, 3))
    dims = tuple(s.choose((1, 2, 3, "N")) for _ in range(rank))
    x = [s.source(dtype, dims) for _ in range(3)]
    axis = s.choose(range(rank))
    other = axis if not s.maybe(5) else s.choose(range(rank))
    a = s.node("Concat", x[:2], dtype, (None,) * rank, axis=s.choose((axis, axis - rank)))
    s.inner(a)
    operands = s.choose(([a, x[2]], [x[2], a], [a, x[2], a], [a, a]))
    s.result(s.node("Concat", operands, dtype, (None,) * rank, axis=s.choose((other, other - rank))))


def merge_gather_unsqueeze(s: Sketch) -> None:
    x = s.source(s.choose(EVERY), tuple(s.choose((2, 3, 5)) for _ in range(s.choose((1, 2, 3)))))
    axis = s.choose(range(x.rank))
    index = s.constant(np.array(s.choose((0, 1, -1, -2)), s.choose((np.int64, np.int32))))
    dims = (*x.dims[:axis], *x.dims[axis + 1 :])
    a = s.node("Gather", (x, index), x.dtype, dims, axis=s.choose((axis, axis - x.rank)))
    s.inner(a)
    place = axis if not s.maybe(4) else s.choose(range(x.rank))
    s.result(s.node("Unsqueeze", (a, s.ints(s.choose((place, place - x.rank)))), x.dtype, (None,) * x.rank))


def eliminate_reduce(s: Sketch) -> None:
    op_type = s.choose(("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"))
    x = s.source(s.choose((FLOAT, FLOAT, DOUBLE, INT32)), tuple(s.choose((1, 1, 2, "N")) for _ in range(3)))
    attributes = {"keepdims": s.choose((1, 1, 1, 0)), "noop_with_empty_axes": s.choose((0, 1))}
    axes = [a for a in range(x.rank) if x.dims[a] == 1 or s.maybe(6)]
    operands = (x, s.ints(*(s.choose((a, a - x.rank)) for a in axes))) if not s.maybe(4) else (x,)
    s.result(s.node(op_type, operands, x.dtype, (None,) * x.rank, **attributes))


# ---- rules that may round


def _conv(s: Sketch) -> tuple[Made, int]:
    group, channels = s.choose((1, 1, 2)), s.choose((2, 3))
    x = s.source(FLOAT, (s.choose((1, 2, "N")), 2 * group, 5))
    transposed = s.maybe(3)
    shape = (2 * group, channels, 3) if transposed else (channels * group, 2, 3)
    rng = np.random.default_rng(s.choose(range(50)))
    operands = [x, s.constant(rng.standard_normal(shape), FLOAT)]
    if s.maybe():
        operands.append(s.constant(rng.standard_normal(channels * group), FLOAT))
    op_type = "ConvTranspose" if transposed else "Conv"
    pads = s.choose(((0, 0), (1, 1)))
    return s.node(
        op_type, operands, FLOAT, (x.dims[0], channels * group, None), group=group, pads=pads
    ), channels * group


def fuse_batchnorm_into_conv(s: Sketch) -> None:
    a, channels = _conv(s)
    s.inner(a)
    s.result(_normalized(s, a, channels))


def _normalized(s: Sketch, x: Made, channels: int) -> Made:
    rng = np.random.default_rng(s.choose(range(50)))
    arrays = [rng.standard_normal(channels) for _ in range(3)] + [rng.random(channels) + 0.1]
    return s.node("BatchNormalization", (x, *(s.constant(a, FLOAT) for a in arrays)), FLOAT, x.dims)


def _by_channel(s: Sketch, op_types: tuple[str, ...]) -> None:
    a, channels = _conv(s)
    s.inner(a)
    shape = s.choose(((), (channels, 1), (1, channels, 1), (1, 1)))
    number = np.random.default_rng(s.choose(range(50))).standard_normal(shape)
    s.result(s.node(s.choose(op_types), (a, s.constant(number, FLOAT)), FLOAT, a.dims))


def fuse_add_into_conv(s: Sketch) -> None:
    _by_channel(s, ("Add", "Sub"))


def fuse_mul_into_conv(s: Sketch) -> None:
    _by_channel(s, ("Mul", "Div"))


def fuse_pad_into_conv(s: Sketch) -> None:
    x = s.source(FLOAT, (s.choose((1, "N")), 2, s.choose((5, "W"))))
    pads = (0, 0, s.choose((0, 1, 2)), 0, 0, s.choose((0, 1, 2, -1)))
    a = s.node("Pad", (x, s.ints(*pads)), FLOAT, (x.dims[0], 2, None))
    s.inner(a)
    weight = np.random.default_rng(s.choose(range(50))).standard_normal((3, 2, 3))
    s.result(
        s.node(
            "Conv",
            (a, s.constant(weight, FLOAT)),
            FLOAT,
            (x.dims[0], 3, None),
            pads=s.choose(((0, 0), (1, 2))),
        )
    )


def fuse_batchnorm_into_gemm(s: Sketch) -> None:
    rng = np.random.default_rng(s.choose(range(50)))
    x = s.source(FLOAT, (s.choose((2, "N")), 3))
    by_row = s.choose((0, 1))
    operands = [x, s.constant(rng.standard_normal((2, 3) if by_row else (3, 2)), FLOAT)]
    if s.maybe():
        operands.append(s.constant(rng.standard_normal(s.choose(((2,), (1, 2), (), (1,)))), FLOAT))
    a = s.node(
        "Gemm",
        operands,
        FLOAT,
        (x.dims[0], 2),
        transB=by_row,
        alpha=s.choose((1.0, 0.3)),
        beta=s.choose((1.0, 0.7)),
    )
    s.inner(a)
    s.result(_normalized(s, a, 2))


def fuse_matmul_add_into_gemm(s: Sketch) -> None:
    dtype = s.choose((FLOAT, FLOAT, DOUBLE, INT32))
    x, z = s.source(dtype, (s.choose((2, "N")), 3)), s.source(dtype, (3, s.choose((5, "M"))))
    a = s.node("MatMul", (x, z), dtype, (x.dims[0], z.dims[1]))
    s.inner(a)
    term = s.source(dtype, s.choose(((5,), (1,), (2, 1), (1, 5), (), (1, 1, 5))))
    operands = (a, term) if s.maybe() else (term, a)
    s.result(s.node("Add", operands, dtype, (None,) * max(2, term.rank)))


def fuse_transpose_into_gemm(s: Sketch) -> None:
    x, z = s.source(FLOAT, (3, s.choose((2, "N")))), s.source(FLOAT, (3, s.choose((5, "M"))))
    a = s.node("Transpose", (x,), FLOAT, (x.dims[1], 3), perm=(1, 0))
    s.inner(a)
    s.result(s.node("Gemm", (a, z), FLOAT, (x.dims[1], z.dims[1])))


def eliminate_float_where(s: Sketch) -> None:
    x, z = s.source(FLOAT, s.shape()), s.source(FLOAT, s.shape((1, 2)))
    truth = np.full(s.choose(((), (), (1,), (3,))), s.choose((True, True, True, False)))
    s.result(s.node("Where", (s.constant(truth), x, z), FLOAT, (None,) * max(x.rank, z.rank)))


PATTERNS: dict[str, Callable[[Sketch], None]] = {
    function.__name__.replace("_", "-"): function
    for function in (
        convert_castlike_to_cast,
        convert_reshape_target,
        eliminate_cast,
        eliminate_dropout,
        eliminate_expand,
        eliminate_expand_before_broadcast,
        eliminate_float_where,
        eliminate_identity,
        eliminate_if,
        eliminate_involution,
        eliminate_neutral_add,
        eliminate_neutral_logic,
        eliminate_neutral_mul,
        eliminate_pad,
        eliminate_positive_zero_add,
        eliminate_pow_one,
        eliminate_reduce,
        eliminate_reshape,
        eliminate_single_operand,
        eliminate_slice,
        eliminate_split_concat,
        eliminate_squeeze_unsqueeze,
        eliminate_tile,
        eliminate_transpose,
        eliminate_where,
        fuse_add_into_conv,
        fuse_batchnorm_into_conv,
        fuse_batchnorm_into_gemm,
        fuse_matmul_add_into_gemm,
        fuse_mul_into_conv,
        fuse_pad_into_conv,
        fuse_transpose_into_gemm,
        merge_casts,
        merge_concats,
        merge_gather_unsqueeze,
        merge_idempotent,
        merge_reshapes,
        merge_squeezes,
        merge_transposes,
        *MOVES,
    )
} | FUSED_PATTERNS
