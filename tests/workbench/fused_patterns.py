"""Makers of random models around the patterns of composites, arithmetic, linear and recurrent rules.

Touch: `patterns.py`, whose table takes these in.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import ValueInfoProto, helper
from sketch import BOOL, DOUBLE, FLOAT, INT8, UINT8, Dims, Made, Sketch


def numbers(s: Sketch, shape: tuple[int, ...]) -> np.ndarray:
    """Seeded numbers of order one."""
    return np.random.default_rng(s.choose(range(50))).standard_normal(shape)


def _mean(s: Sketch, x: Made, axes: tuple[int, ...]) -> Made:
    places = {a % x.rank for a in axes}
    dims: Dims = tuple(1 if a in places else d for a, d in enumerate(x.dims))
    return s.node("ReduceMean", (x, s.ints(*axes)), x.dtype, dims)


def fuse_layer_normalization(s: Sketch) -> None:
    dtype = s.choose((FLOAT, FLOAT, FLOAT, FLOAT, DOUBLE))
    x = s.source(dtype, (s.choose((2, "N")), s.choose((2, 3)), 4))
    axes = s.choose(((-1,), (-1,), (2,), (1, 2), (-1, -2), (1,)))
    mean = _mean(s, x, axes)
    d = s.node("Sub", (x, mean), dtype, x.dims)
    square = (d, s.constant(s.choose((2.0, 2.0, 3.0)), dtype))
    p = s.node(*(("Mul", (d, d)) if s.maybe() else ("Pow", square)), dtype, x.dims)
    v = _mean(s, p, axes if not s.maybe(6) else (0,))
    e = s.constant(s.choose(([0.01], 0.5, -100.0 if s.maybe(6) else 0.1)), dtype)
    total = s.node("Add", (v, e) if s.maybe() else (e, v), dtype, v.dims)
    root = s.node("Sqrt", (total,), dtype, v.dims)
    n = s.node("Div", (d, root), dtype, x.dims)
    if s.maybe(4):
        s.inner(s.choose((d, v, n)))
    inner = tuple(d for d in x.dims[2 - len(axes) + 1 :] if isinstance(d, int))
    scale = s.constant(numbers(s, s.choose((inner, inner, inner, (4,), (1,)))), dtype)
    s.result(s.node("Mul", (n, scale) if s.maybe() else (scale, n), dtype, x.dims))


def fuse_add_into_layer_normalization(s: Sketch) -> None:
    x = s.source(FLOAT, (s.choose((2, "N")), s.choose((2, 3)), 4))
    axis = s.choose((-1, -1, 1))
    shape = (4,) if axis == -1 else (int(x.dims[1]), 4)  # type: ignore[arg-type]
    operands = [x, s.constant(numbers(s, shape), FLOAT)]
    if s.maybe(5):
        operands.append(s.constant(numbers(s, shape), FLOAT))
    a = s.node("LayerNormalization", operands, FLOAT, x.dims, axis=axis, epsilon=s.choose((0.01, 0.5)))
    s.inner(a)
    term = s.constant(numbers(s, s.choose((shape, shape, (1,), ()))), FLOAT)
    s.result(s.node("Add", (a, term) if s.maybe() else (term, a), FLOAT, x.dims))


def _linear(s: Sketch, x: Made, columns: int) -> Made:
    """A product of `x` [rows, 3] with a constant matrix, with or without a bias."""
    kind = s.choose(("MatMul", "MatMul", "Gemm"))
    by_row = kind == "Gemm" and s.maybe()
    matrix = s.constant(numbers(s, (columns, 3) if by_row else (3, columns)), x.dtype)
    dims = (x.dims[0], columns)
    if kind == "Gemm":
        operands = [x, matrix, s.constant(numbers(s, (columns,)), x.dtype)][: s.choose((2, 3))]
        return s.node("Gemm", operands, x.dtype, dims, transB=int(by_row), alpha=s.choose((1.0, 0.5)))
    a = s.node("MatMul", (x, matrix), x.dtype, dims)
    if not s.maybe():
        return a
    bias = s.constant(numbers(s, s.choose(((columns,), (columns,), (1,)))), x.dtype)
    return s.node("Add", (a, bias) if s.maybe() else (bias, a), x.dtype, dims)


def _rows(s: Sketch) -> Made:
    return s.source(s.choose((FLOAT, FLOAT, DOUBLE)), (s.choose((2, "N")), 3))


def _scaled(s: Sketch, x: Made, shapes: tuple[tuple[int, ...], ...]) -> Made:
    """`x` times or divided by a constant."""
    number = numbers(s, s.choose(shapes)) if not s.maybe(6) else np.zeros(())
    constant = s.constant(number, x.dtype)
    if s.maybe(4) and number.all():
        return s.node("Div", (x, constant), x.dtype, x.dims)
    return s.node("Mul", (x, constant) if s.maybe() else (constant, x), x.dtype, x.dims)


def hoist_scale_into_weight(s: Sketch) -> None:
    a = _linear(s, _rows(s), 4)
    s.inner(a)
    kind = s.choose(("none", "none", "transpose", "split", "heads"))
    if kind == "heads":
        a = s.node("Reshape", (a, s.ints(0, 2, 2)), a.dtype, (a.dims[0], 2, 2))
        perm, axis = s.choose(((0, 1, 2), (1, 0, 2), (2, 0, 1))), s.choose((0, 1, 2))
        dims = [a.dims[p] for p in perm]
        a = s.node("Transpose", (a,), a.dtype, tuple(dims), perm=perm)
        if dims[axis] == 2:
            dims[axis] = 1
            parts = s.nodes_of("Split", (a, s.ints(1, 1)), [(a.dtype, tuple(dims))] * 2, axis=axis)
            s.result(parts[0])
            a = parts[1]
    elif kind == "split":
        dims = (a.dims[0], 2)
        parts = s.nodes_of("Split", (a, s.ints(2, 2)), [(a.dtype, dims)] * 2, axis=s.choose((1, -1)))
        s.result(parts[0])
        a = parts[1]
    elif kind == "transpose":
        a = s.node("Transpose", (a,), a.dtype, a.dims[::-1], perm=(1, 0))
    s.result(_scaled(s, a, ((), (), (1,), (4,) if kind == "none" else ())))


def hoist_scale_around_product(s: Sketch) -> None:
    s.opset = 17
    x = _linear(s, _rows(s), 3)
    c = s.constant(s.choose((1.5, 0.25, -2.0, 0.0 if s.maybe(4) else 0.7)), x.dtype)
    k = s.node(s.choose(("Mul", "Div")), (x, c), x.dtype, x.dims)
    t = s.node("Tanh", (k,), x.dtype, x.dims)
    m = s.node("Mul", (x, t) if s.maybe() else (t, x), x.dtype, x.dims)
    s.inner(s.choose((x, k, m)))
    if s.maybe(3):
        m = s.node("Mul", (m, s.constant(0.5, x.dtype)), x.dtype, x.dims)
    s.result(_linear(s, m, 4))


def sink_scale_into_weight(s: Sketch) -> None:
    x = _rows(s)
    if s.maybe(3):
        x = s.node("Mul", (s.node("Tanh", (x,), x.dtype, x.dims), _scaled(s, x, ((),))), x.dtype, x.dims)
    else:
        x = _scaled(s, x, ((), (1,), (3,)))
        s.inner(x)
    s.result(_linear(s, x, 4))


def sink_term_into_bias(s: Sketch) -> None:
    convolves = s.maybe(3)
    x = s.source(FLOAT, (s.choose((1, 2, "N")), 3, 5)) if convolves else _rows(s)
    shapes = ((), (3, 1), (1, 3, 1), (5,)) if convolves else ((), (3,), (1, 3), (1,))
    term = s.constant(numbers(s, s.choose(shapes)), x.dtype)
    x = s.node(s.choose(("Add", "Sub")), (x, term), x.dtype, x.dims)
    s.inner(x)
    if not convolves:
        s.result(_linear(s, x, 4))
        return
    operands = [x, s.constant(numbers(s, (3, 1, 2) if (grouped := s.maybe()) else (2, 3, 2)), FLOAT)]
    dims = (x.dims[0], 3 if grouped else 2, None)
    pads = s.choose(((0, 0), (0, 0), (1, 0)))
    s.result(s.node("Conv", operands, FLOAT, dims, group=3 if grouped else 1, pads=pads))


def eliminate_requantize(s: Sketch) -> None:
    dtype = s.choose((UINT8, UINT8, INT8))
    x = s.input(dtype, (s.choose((2, "N")), 3))
    x = s.node("Max", (x, x), dtype, x.dims)
    by_column = s.maybe()
    scale = np.abs(numbers(s, (3,) if by_column else ())) + 0.01
    point = np.full(scale.shape, s.choose((0, 7)))
    first = s.constant(scale, FLOAT)
    second = first if s.maybe() else s.constant(scale * s.choose((1, 1, 1.5)), FLOAT)
    points = [s.constant(point, dtype), s.constant(point + s.choose((0, 0, 1)), dtype)]
    axis = {"axis": 1} if by_column else {}
    d = s.node("DequantizeLinear", (x, first, points[0]), FLOAT, x.dims, **axis)
    s.inner(d)
    s.result(s.node("QuantizeLinear", (d, second, points[s.choose((0, 1))]), dtype, x.dims, **axis))


def eliminate_branch_output(s: Sketch) -> None:
    x = s.source(s.choose((FLOAT, DOUBLE)), s.shape())
    branches = []
    for number, name in enumerate(("then_branch", "else_branch")):
        inner = Sketch(s.choose, s.opset)
        inner.count = s.count + 100 * (number + 1)
        made = [inner.node(s.choose(("Neg", "Abs")), (x,), x.dtype, x.dims)]
        for _ in range(2):
            made.append(inner.node("Neg", (s.choose(made),), x.dtype, x.dims))
        outputs = [ValueInfoProto(name=value.name) for value in made]
        branches.append((name, helper.make_graph(inner.nodes, name, [], outputs)))
    s.count += 400
    parts = s.nodes_of("If", (s.input(BOOL, ()),), [(x.dtype, x.dims)] * 3, **dict(branches))
    for part in s.choose((parts, parts[:1], parts[1:], parts[::2], parts[1:2])):
        s.result(part)


def fuse_rms_normalization(s: Sketch) -> None:
    s.opset = 23
    dtype = s.choose((FLOAT, FLOAT, FLOAT, DOUBLE))
    x = s.source(dtype, (s.choose((2, "N")), 4))
    p = s.node("Mul", (x, x), dtype, x.dims)
    v = _mean(s, p, s.choose(((-1,), (-1,), (1,), (0,))))
    total = s.node("Add", (v, s.constant(s.choose((0.01, 0.5)), dtype)), dtype, v.dims)
    root = s.node("Sqrt", (total,), dtype, v.dims)
    scale = s.constant(numbers(s, s.choose(((4,), (4,), (1,)))), dtype)
    if s.maybe():
        n = s.node("Div", (x, root), dtype, x.dims)
        s.inner(n)
        s.result(s.node("Mul", (n, scale) if s.maybe() else (scale, n), dtype, x.dims))
        return
    n = s.node("Mul", (x, scale) if s.maybe() else (scale, x), dtype, x.dims)
    s.inner(s.choose((n, root)))
    s.result(s.node("Div", (n, root), dtype, x.dims))


def fuse_mish(s: Sketch) -> None:
    x = s.source(s.choose((FLOAT, FLOAT, DOUBLE)), s.shape())
    p = s.node(s.choose(("Softplus", "Softplus", "Exp")), (x,), x.dtype, x.dims)
    t = s.node("Tanh", (p,), x.dtype, x.dims)
    s.inner(s.choose((p, t)))
    s.result(s.node("Mul", (x, t) if s.maybe() else (t, x), x.dtype, x.dims))


def fuse_hard_swish(s: Sketch) -> None:
    x = s.source(s.choose((FLOAT, FLOAT, DOUBLE)), s.shape())
    slope = {"alpha": s.choose((1 / 6, 1 / 6, 0.2)), "beta": s.choose((0.5, 0.5, 0.6))}
    g = s.node("HardSigmoid", (x,), x.dtype, x.dims, **slope)
    s.inner(g)
    s.result(s.node("Mul", (x, g) if s.maybe() else (g, x), x.dtype, x.dims))


def fuse_batchnorm_before_conv(s: Sketch) -> None:
    is_conv = s.maybe()
    x = s.source(FLOAT, (s.choose((1, 2, "N")), 4, 5) if is_conv else (s.choose((2, "N")), 4))
    arrays = [numbers(s, (4,)) for _ in range(3)] + [np.abs(numbers(s, (4,))) + 0.1]
    a = s.node("BatchNormalization", (x, *(s.constant(n, FLOAT) for n in arrays)), FLOAT, x.dims)
    s.inner(a)
    bias = s.constant(numbers(s, (2,)), FLOAT)
    if not is_conv:
        operands = [a, s.constant(numbers(s, (4, 2)), FLOAT), bias][: s.choose((2, 3))]
        s.result(s.node("Gemm", operands, FLOAT, (x.dims[0], 2), alpha=s.choose((1.0, 0.5))))
        return
    group = s.choose((1, 2))
    operands = [a, s.constant(numbers(s, (2, 4 // group, 2)), FLOAT), bias][: s.choose((2, 3))]
    pads = s.choose(((0, 0), (0, 0), (1, 0)))
    s.result(s.node("Conv", operands, FLOAT, (x.dims[0], 2, None), group=group, pads=pads))


def eliminate_zero_bias(s: Sketch) -> None:
    x = _rows(s)
    a = s.node("MatMul", (x, s.constant(numbers(s, (3, 2)), x.dtype)), x.dtype, (x.dims[0], 2))
    s.inner(a)
    zero = np.zeros(s.choose(((2,), (), (1, 2), (1, 1, 1)))) + s.choose((0.0, 0.0, 0.0, 1e-9))
    operands = (a, s.constant(zero, x.dtype))
    s.result(s.node("Add", operands if s.maybe() else operands[::-1], x.dtype, (None,) * max(2, zero.ndim)))


def merge_matmuls(s: Sketch) -> None:
    x = _rows(s)
    gemm, biased = s.maybe(3), s.maybe()
    for columns in s.choose(((2, 1, 3), (2, 2), (1, 2, 2, 1))):
        matrix = s.constant(numbers(s, (3, columns)), x.dtype)
        term = s.constant(numbers(s, (columns,)), x.dtype)
        dims = (x.dims[0], columns)
        if gemm:
            a = s.node("Gemm", (x, matrix, term) if biased else (x, matrix), x.dtype, dims)
        else:
            a = s.node("MatMul", (x, matrix), x.dtype, dims)
            if s.maybe(6):
                s.inner(a)
            if biased:
                a = s.node("Add", (a, term) if s.maybe() else (term, a), x.dtype, dims)
        s.result(a)


def convert_reciprocal_to_div(s: Sketch) -> None:
    x = s.input(s.choose((FLOAT, FLOAT, DOUBLE)), s.shape())
    other = s.source(x.dtype, tuple(s.choose((1, d)) for d in x.dims))
    x = s.node("Exp", (s.node("Tanh", (x,), x.dtype, x.dims),), x.dtype, x.dims)
    one = s.constant(np.full(s.choose(((), (1,), (1, 1))), s.choose((1.0, 1.0, 1.0, 2.0))), x.dtype)
    i = s.node(*(("Reciprocal", (x,)) if s.maybe() else ("Div", (one, x))), x.dtype, (None,) * x.rank)
    s.inner(i)
    s.result(s.node("Mul", (i, other) if s.maybe() else (other, i), x.dtype, (None,) * x.rank))


def fuse_hard_sigmoid(s: Sketch) -> None:
    x = s.source(s.choose((FLOAT, FLOAT, FLOAT, DOUBLE)), s.shape())
    high = s.choose((6.0, 2.0, 1.0))
    term = s.constant(s.choose((3.0, 1.0, -0.5)), x.dtype)
    a = s.node("Add", (x, term) if s.maybe() else (term, x), x.dtype, x.dims)
    bounds = (s.constant(s.choose((0.0, 0.0, 0.0, 0.5)), x.dtype), s.constant(high, x.dtype))
    c = s.node("Clip", (a, *bounds), x.dtype, x.dims)
    s.inner(c)
    if s.maybe():
        c = s.node("Mul", (c, x) if s.maybe() else (x, c), x.dtype, x.dims)
    if s.maybe(3):
        s.result(s.node("Mul", (c, s.constant(1.0 / high, x.dtype)), x.dtype, x.dims))
        return
    divisor = s.constant(np.full(s.choose(((), (), (), (1,))), s.choose((high, high, 3.0))), x.dtype)
    s.result(s.node("Div", (c, divisor), x.dtype, x.dims))


def fuse_gelu(s: Sketch) -> None:
    x = s.source(s.choose((FLOAT, FLOAT, FLOAT, DOUBLE)), s.shape())
    kind, dims = x.dtype, x.dims

    def times(a: Made, number: float) -> Made:
        c = s.constant(number, kind)
        return s.node("Mul", (a, c) if s.maybe() else (c, a), kind, dims)

    if s.maybe():
        root = s.choose((2.0**0.5, 2.0**0.5, 1.5))
        d = times(x, 1 / root) if s.maybe() else s.node("Div", (x, s.constant(root, kind)), kind, dims)
        e = s.node("Erf", (d,), kind, dims)
    else:
        cube = s.node("Pow", (x, s.constant(3.0, kind)), kind, dims)
        total = s.node("Add", (x, times(cube, s.choose((0.044715, 0.044715, 0.05)))), kind, dims)
        e = s.node("Tanh", (times(total, 0.7978845608),), kind, dims)
    a = s.node("Add", (e, s.constant(1.0, kind)), kind, dims)
    s.inner(a)
    grouping = s.choose((0, 1, 2))
    if grouping == 0:
        s.result(times(s.node("Mul", (x, a), kind, dims), 0.5))
    elif grouping == 1:
        s.result(s.node("Mul", (x, times(a, 0.5)), kind, dims))
    else:
        s.result(s.node("Mul", (times(x, 0.5), a), kind, dims))


def merge_constants_of_chain(s: Sketch) -> None:
    x = s.source(s.choose((FLOAT, FLOAT, DOUBLE)), (s.choose((2, "N")), 3))
    for _ in range(s.choose((2, 2, 3, 4))):
        op_type = s.choose(("Mul", "Mul", "Div", "Add", "Sub", "Pow"))
        number: np.ndarray = np.asarray(2.0)
        if op_type != "Pow":
            number = numbers(s, s.choose(((), (), (1,), (3,), (1, 3))))
            number = np.where(np.abs(number) < 0.1, 0.5, number)
        constant = s.constant(number, x.dtype)
        operands = (x, constant) if op_type != "Add" or s.maybe() else (constant, x)
        x = s.node(op_type, operands, x.dtype, x.dims)
        if s.maybe(3):
            s.inner(x)
    s.result(x)


def eliminate_zero_state(s: Sketch) -> None:
    op_type = s.choose(("LSTM", "GRU", "RNN"))
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op_type]
    x = s.source(FLOAT, (3, 1, 2))
    weights = [s.constant(numbers(s, (1, gates * 2, n)), FLOAT) for n in (2, 2)]
    if s.maybe(3):
        filled = s.constant(np.zeros(1), FLOAT) if s.maybe() else s.constant(np.ones(1), FLOAT)
        state = s.node("Expand", (filled, s.ints(1, 1, 2)), FLOAT, (1, 1, 2))
    else:
        state = s.constant(np.full((1, 1, 2), s.choose((0.0, 0.0, 0.0, -0.0, 0.5))), FLOAT)
    other = s.choose((state, s.input(FLOAT, (1, 1, 2))))
    states = (state, other) if op_type == "LSTM" else (state,)
    s.result(s.node(op_type, (x, *weights, None, None, *states), FLOAT, (3, 1, 1, 2), hidden_size=2))


FUSED_PATTERNS: dict[str, Callable[[Sketch], None]] = {
    function.__name__.replace("_", "-"): function
    for function in (
        convert_reciprocal_to_div,
        eliminate_branch_output,
        eliminate_requantize,
        eliminate_zero_bias,
        eliminate_zero_state,
        fuse_add_into_layer_normalization,
        fuse_batchnorm_before_conv,
        fuse_gelu,
        fuse_hard_sigmoid,
        fuse_hard_swish,
        fuse_mish,
        fuse_rms_normalization,
        fuse_layer_normalization,
        hoist_scale_around_product,
        hoist_scale_into_weight,
        merge_constants_of_chain,
        merge_matmuls,
        sink_scale_into_weight,
        sink_term_into_bias,
    )
}
