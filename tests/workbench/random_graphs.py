"""Random small models of many operators, for all rules together with folding and merging.

Touch: `sketch.py`; operators that rules look at belong into `STEPS`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import ModelProto, ValueInfoProto, helper
from patterns import PATTERNS
from sketch import BOOL, DOUBLE, FLOAT, INT32, INT64, Dims, Made, Sketch

SEQUENCE = 20
KINDS = (FLOAT, FLOAT, FLOAT, DOUBLE, INT32, INT64)
"""No half precision: where the runtime has no kernel for it, it computes in float32 and leaves pairs of casts
out, so that the bits of a value depend on its readers."""


def make(seed: int) -> ModelProto | None:
    """The model of a seed; None for a seed whose shapes do not fit together."""
    rng = np.random.default_rng(seed)
    s = Sketch(lambda options: options[int(rng.integers(len(options)))], tails=("Neg", "Relu"))
    first = s.choose(KINDS)
    dims = tuple(s.choose(("N", "M", 1, 2, 3, 4)) for _ in range(s.choose((1, 2, 3, 4))))
    pool = [s.input(first, dims), s.input(s.choose(KINDS), s.shape())]
    for _ in range(s.choose(range(3, SEQUENCE))):
        step = s.choose(STEPS)
        value = step(s, s.choose(pool[-4:]))
        if value is not None:
            pool.append(value)
    if s.maybe(3):
        s.choose(list(PATTERNS.values()))(s)
    for value in pool[-2:]:
        s.result(value)
    if s.maybe(4):
        s.results.append(s.choose(pool))
    return s.model()


def _unary(s: Sketch, x: Made) -> Made | None:
    if x.dtype == BOOL:
        return s.node("Not", (x,), BOOL, x.dims)
    op_types = ("Neg", "Abs", "Identity", "Sign")
    if x.dtype in (FLOAT, DOUBLE):
        op_types = (*op_types, "Relu", "Floor", "Ceil", "Sigmoid", "Tanh", "Dropout")
    return s.node(s.choose(op_types), (x,), x.dtype, x.dims)


def _with_constant(s: Sketch, x: Made) -> Made | None:
    if x.dtype == BOOL:
        return s.node(
            s.choose(("And", "Or")), (x, s.constant(np.array(s.choose((True, False))))), BOOL, x.dims
        )
    shape = s.choose(((), (), (1,), x.dims[-1:] if x.dims and isinstance(x.dims[-1], int) else ()))
    number = s.constant(np.full(shape, s.choose((0.0, -0.0, 1.0, 1.0, 2.0, 3.0))), x.dtype)
    op_types = ("Add", "Sub", "Mul", "Max", "Min")
    operands = s.choose(((x, number), (x, number), (number, x)))
    rank = max(x.rank, number.rank)
    return s.node(s.choose(op_types), operands, x.dtype, x.dims if rank == x.rank else (None,) * rank)


def _with_itself(s: Sketch, x: Made) -> Made | None:
    if x.dtype == BOOL:
        return s.node("Xor", (x, x), BOOL, x.dims)
    other = s.node("Abs", (x,), x.dtype, x.dims)
    return s.node(s.choose(("Add", "Mul", "Sub")), (x, other), x.dtype, x.dims)


def _transpose(s: Sketch, x: Made) -> Made | None:
    left = list(range(x.rank))
    perm = tuple(left.pop(s.choose(range(len(left)))) for _ in range(x.rank))
    return s.node("Transpose", (x,), x.dtype, tuple(x.dims[a] for a in perm), perm=perm) if x.rank else None


def _reshape(s: Sketch, x: Made) -> Made | None:
    target: tuple[int, ...] = s.choose(
        ((-1,), (0,) * x.rank, (*(0,) * max(x.rank - 1, 0), -1), (1, -1), (-1, 1))
    )
    dims: Dims = tuple(1 if d == 1 else x.dims[a] if d == 0 else None for a, d in enumerate(target))
    return s.node("Reshape", (x, s.ints(*target)), x.dtype, dims)


def _reshape_by_shape(s: Sketch, x: Made) -> Made | None:
    if x.rank < 2:
        return None
    shape = s.node("Shape", (x,), INT64, (x.rank,))
    i = s.constant(np.int64(s.choose(range(x.rank))))
    scalar = s.node("Gather", (shape, i), INT64, ())
    part = s.node("Unsqueeze", (scalar, s.ints(0)), INT64, (1,))
    target = s.node("Concat", (part, s.ints(-1)), INT64, (2,), axis=0)
    return s.node("Reshape", (x, target), x.dtype, (None, None))


def _unsqueeze(s: Sketch, x: Made) -> Made | None:
    axis = s.choose(range(-x.rank - 1, x.rank + 1))
    place = axis % (x.rank + 1)
    return (
        s.node("Unsqueeze", (x, s.ints(axis)), x.dtype, (*x.dims[:place], 1, *x.dims[place:]))
        if x.rank < 5
        else None
    )


def _squeeze(s: Sketch, x: Made) -> Made | None:
    ones = [a for a, d in enumerate(x.dims) if d == 1]
    if not ones:
        return None
    axis = s.choose(ones)
    return s.node("Squeeze", (x, s.ints(axis)), x.dtype, (*x.dims[:axis], *x.dims[axis + 1 :]))


def _slice(s: Sketch, x: Made) -> Made | None:
    if not x.rank:
        return None
    axis = s.choose(range(x.rank))
    numbers = (s.choose((0, 0, 1, -2)), s.choose((2**31, 2**63 - 1, 3, -1)), axis, s.choose((1, 1, 2)))
    return s.node(
        "Slice", (x, *(s.ints(n) for n in numbers)), x.dtype, (*x.dims[:axis], None, *x.dims[axis + 1 :])
    )


def _concat(s: Sketch, x: Made) -> Made | None:
    if not x.rank:
        return None
    axis = s.choose(range(x.rank))
    operands = s.choose(((x,), (x, x), (x, _unary(s, x) or x)))
    return s.node("Concat", operands, x.dtype, (*x.dims[:axis], None, *x.dims[axis + 1 :]), axis=axis)


def _reduce(s: Sketch, x: Made) -> Made | None:
    if not x.rank or x.dtype not in (FLOAT, DOUBLE, INT32, INT64):
        return None
    axis = s.choose(range(x.rank))
    op_type = s.choose(("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd"))
    dims = (*x.dims[:axis], 1, *x.dims[axis + 1 :])
    return s.node(op_type, (x, s.ints(axis)), x.dtype, dims, keepdims=1)


def _cast(s: Sketch, x: Made) -> Made | None:
    to = s.choose((FLOAT, FLOAT, DOUBLE, INT64, INT32))
    return s.node("Cast", (x,), to, x.dims, to=to)


def _compare(s: Sketch, x: Made) -> Made | None:
    return None if x.dtype == BOOL else s.node("Greater", (x, s.constant(0, x.dtype)), BOOL, x.dims)


def _where(s: Sketch, x: Made) -> Made | None:
    if x.dtype == BOOL:
        return None
    truth = s.constant(np.array(True)) if s.maybe() else s.node("Equal", (x, x), BOOL, x.dims)
    return s.node("Where", (truth, x, s.constant(1, x.dtype)), x.dtype, x.dims)


def _expand(s: Sketch, x: Made) -> Made | None:
    target = s.node("Shape", (x,), INT64, (x.rank,)) if s.maybe() else s.ints(*[1] * x.rank)
    return s.node("Expand", (x, target), x.dtype, x.dims)


def _matmul(s: Sketch, x: Made) -> Made | None:
    size = x.dims[-1] if x.rank >= 2 else None
    if x.dtype not in (FLOAT, DOUBLE) or not isinstance(size, int):
        return None
    rng = np.random.default_rng(size)
    a = s.node("MatMul", (x, s.constant(rng.standard_normal((size, 3)), x.dtype)), x.dtype, (*x.dims[:-1], 3))
    return s.node("Add", (a, s.constant(rng.standard_normal(3), x.dtype)), x.dtype, a.dims)


def _conv(s: Sketch, x: Made) -> Made | None:
    channels = x.dims[1] if x.rank == 3 else None
    if x.dtype != FLOAT or not isinstance(channels, int):
        return None
    rng = np.random.default_rng(channels)
    a = s.node(
        "Conv",
        (x, s.constant(rng.standard_normal((2, channels, 1)), FLOAT)),
        FLOAT,
        (x.dims[0], 2, x.dims[2]),
    )
    if s.maybe():
        return s.node("Mul", (a, s.constant(rng.standard_normal((2, 1)), FLOAT)), FLOAT, a.dims)
    arrays = [rng.standard_normal(2) for _ in range(3)] + [rng.random(2) + 0.1]
    return s.node("BatchNormalization", (a, *(s.constant(n, FLOAT) for n in arrays)), FLOAT, a.dims)


def _if(s: Sketch, x: Made) -> Made | None:
    condition = s.constant(np.array(s.choose((True, False)))) if s.maybe() else s.input(BOOL, ())
    branches = {}
    for name in ("then_branch", "else_branch"):
        inner = Sketch(s.choose, s.opset, s.tails)
        inner.count = s.count
        value = x
        for _ in range(s.choose((1, 2, 3))):
            value = _unary(inner, value) or value
        s.count = inner.count
        outputs = [ValueInfoProto(name=value.name)]
        branches[name] = helper.make_graph(inner.nodes, name, [], outputs, inner.initializers)
    return s.node("If", (condition,), x.dtype, x.dims, **branches)


def _loop(s: Sketch, x: Made) -> Made | None:
    body = Sketch(s.choose, s.opset, s.tails)
    body.count = s.count
    names = [body.name("i"), body.name("k"), body.name("w")]
    carried = Made(names[2], x.dtype, x.dims)
    go = body.node("Identity", (Made(names[1], BOOL, ()),), BOOL, ())
    value = _unary(body, carried) or carried
    value = body.node("Identity", (_with_constant(body, value) or value,), x.dtype, x.dims)
    s.count = body.count
    inputs = [
        helper.make_tensor_value_info(names[0], INT64, []),
        helper.make_tensor_value_info(names[1], BOOL, []),
        helper.make_tensor_value_info(names[2], x.dtype, [None] * x.rank),
    ]
    outputs = [
        ValueInfoProto(name=go.name),
        helper.make_tensor_value_info(value.name, x.dtype, [None] * x.rank),
    ]
    outputs[0].CopyFrom(helper.make_tensor_value_info(go.name, BOOL, []))
    graph = helper.make_graph(body.nodes, "body", inputs, outputs, body.initializers)
    count, start = s.constant(np.int64(2)), s.constant(np.array(True))
    return s.node("Loop", (count, start, x), x.dtype, x.dims, body=graph)


STEPS: tuple[Callable[[Sketch, Made], Made | None], ...] = (
    _unary,
    _unary,
    _with_constant,
    _with_constant,
    _with_itself,
    _transpose,
    _transpose,
    _reshape,
    _reshape,
    _reshape_by_shape,
    _unsqueeze,
    _squeeze,
    _slice,
    _concat,
    _reduce,
    _cast,
    _compare,
    _where,
    _expand,
    _matmul,
    _conv,
    _if,
    _loop,
)
