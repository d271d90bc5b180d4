"""Dims against concrete evaluation: every operation, bounds, quotients, claims.

The strategy builds the same expression twice, as a Dim and as a function of concrete sizes; whatever
canonical form the Dim took, both must agree for all sizes.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnxsim_ci.analysis import (
    Dim,
    Symbolic,
    bounds,
    broadcast_dim,
    broadcast_shapes,
    ceildiv,
    claimed,
    evaluate,
    exact_quotient,
    floordiv,
    is_divisible,
    is_nonnegative,
    is_positive,
    maximum,
    minimum,
    modulo,
    or_copied,
    product,
    symbol,
    symbols,
    truncdiv,
)
from onnxsim_ci.analysis.dim import AXIS_LIMIT
from onnxsim_ci.analysis.opaque import OPERATIONS

Sizes = dict[str, int]
Expression = tuple[Dim, Callable[[Sizes], int]]

NAMES = ("a", "b", "c")
SIZES = st.fixed_dictionaries({name: st.integers(0, 9) for name in NAMES})
a, b, c = (symbol(name) for name in NAMES)


def _truncated(x: int, y: int) -> int:
    return int(x / y)


def _leaf() -> st.SearchStrategy[Expression]:
    names = st.sampled_from(NAMES).map(lambda n: (symbol(n), lambda s: s[n]))
    numbers = st.integers(-6, 9).map(lambda k: (k, lambda s: k))
    return names | numbers


def _grown(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    def binary(
        make: Callable[[Dim, Dim], Dim], compute: Callable[[int, int], int]
    ) -> st.SearchStrategy[Expression]:
        return st.tuples(inner, inner).map(
            lambda p: (make(p[0][0], p[1][0]), lambda s: compute(p[0][1](s), p[1][1](s)))
        )

    def by_number(
        make: Callable[[Dim, int], Dim], compute: Callable[[int, int], int]
    ) -> st.SearchStrategy[Expression]:
        return st.tuples(inner, st.integers(1, 6)).map(
            lambda p: (make(p[0][0], p[1]), lambda s: compute(p[0][1](s), p[1]))
        )

    return st.one_of(
        binary(lambda x, y: x + y, lambda x, y: x + y),
        binary(lambda x, y: x - y, lambda x, y: x - y),
        binary(lambda x, y: x * y, lambda x, y: x * y),
        binary(maximum, max),
        binary(minimum, min),
        by_number(floordiv, lambda x, k: x // k),
        by_number(ceildiv, lambda x, k: -(-x // k)),
        by_number(truncdiv, _truncated),
        by_number(modulo, lambda x, k: x % k),
    )


EXPRESSIONS = st.recursive(_leaf(), _grown, max_leaves=8)


@pytest.mark.property
@given(EXPRESSIONS, SIZES)
def test_expression_keeps_its_value(expression: Expression, sizes: Sizes) -> None:
    dim, compute = expression
    assert evaluate(dim, sizes) == compute(sizes)


@pytest.mark.property
@given(EXPRESSIONS, SIZES)
def test_bounds_hold(expression: Expression, sizes: Sizes) -> None:
    dim, _ = expression
    value = evaluate(dim, sizes)
    least, most = bounds(dim)
    assert least is None or least <= value
    assert most is None or value <= most
    assert value >= 0 or not is_nonnegative(dim)
    assert value >= 1 or not is_positive(dim)
    for number in (2, 3, 4):
        assert value % number == 0 or not is_divisible(dim, number)


@pytest.mark.property
@given(EXPRESSIONS, EXPRESSIONS, SIZES)
def test_exact_quotient_multiplies_back(x: Expression, y: Expression, sizes: Sizes) -> None:
    quotient = exact_quotient(x[0], y[0])
    if quotient is not None:
        assert evaluate(quotient, sizes) * y[1](sizes) == x[1](sizes)


@pytest.mark.property
@given(EXPRESSIONS, EXPRESSIONS)
def test_product_divides_exactly(x: Expression, y: Expression) -> None:
    if y[0] != 0:
        assert exact_quotient(x[0] * y[0], y[0]) in (x[0], None)


@pytest.mark.property
@given(EXPRESSIONS, EXPRESSIONS, SIZES)
def test_equal_forms_are_equal_values(x: Expression, y: Expression, sizes: Sizes) -> None:
    if x[0] == y[0]:
        assert hash(x[0]) == hash(y[0])
        assert x[1](sizes) == y[1](sizes)


@pytest.mark.property
@given(EXPRESSIONS, EXPRESSIONS, SIZES)
def test_broadcast_of_sizes_that_fit(x: Expression, y: Expression, sizes: Sizes) -> None:
    p, q = x[1](sizes), y[1](sizes)
    if min(p, q) >= 0 and (p == q or 1 in (p, q)):
        result = broadcast_dim(x[0], y[0])
        assert result is not None
        assert evaluate(result, sizes) == (q if p == 1 else p)


@pytest.mark.property
@given(EXPRESSIONS, EXPRESSIONS, SIZES)
def test_or_copied(x: Expression, y: Expression, sizes: Sizes) -> None:
    if x[1](sizes) >= 0:
        assert evaluate(or_copied(x[0], y[0]), sizes) == (x[1](sizes) or y[1](sizes))


def test_every_operation_computes() -> None:
    made: dict[str, Dim | None] = {
        "floordiv": floordiv(a, 2),
        "truncdiv": truncdiv(a - b, 3),
        "modulo": modulo(a, 3),
        "maximum": maximum(a, b),
        "minimum": minimum(a, b),
        "broadcast": broadcast_dim(a, b),
        "or_copied": or_copied(a, b),
        "plus": _sum_of_many(),
        "times": product([a] * 13),
    }
    assert set(made) == set(OPERATIONS)
    for operation, dim in made.items():
        assert isinstance(dim, Symbolic)
        assert any(s.operation == operation for _, m in dim.terms for s in m), operation
        assert evaluate(dim, {**{f"s{i}": i for i in range(60)}, "a": 5, "b": 5}) >= 0


def _sum_of_many() -> Dim:
    total: Dim = 0
    for i in range(60):
        total = total + symbol(f"s{i}")
    assert evaluate(total, {f"s{i}": i for i in range(60)}) == sum(range(60))
    return total


def test_canonical_forms() -> None:
    assert a + b == b + a
    assert (a + 1) * (a - 1) == a * a - 1
    assert a - a == 0
    assert floordiv(a * 6 + 4, 2) == a * 3 + 2
    assert floordiv(floordiv(a, 2), 3) == floordiv(a, 6)
    assert floordiv(floordiv(a - 1, 2) + 1 - 1, 2) + 1 == floordiv(a - 1, 4) + 1
    assert floordiv(a + 4, 2) == floordiv(a, 2) + 2
    assert ceildiv(a, 2) == floordiv(a + 1, 2)
    assert modulo(a * 8, 4) == 0
    assert maximum(a, 0) == a
    assert maximum(a, maximum(b, c)) == maximum(maximum(c, a), b)
    assert minimum(a, AXIS_LIMIT) == a
    assert exact_quotient((a + 1) * (b + 2), b + 2) == a + 1
    assert exact_quotient(a, b) is None
    assert exact_quotient(a, 0) is None
    assert symbols(floordiv(a + b, 2) * c) == {"a", "b", "c"}


def test_broadcast_rules() -> None:
    assert broadcast_dim(1, a) == a
    assert broadcast_dim(a, 4) == 4
    assert broadcast_dim(a, 0) == 0
    assert broadcast_dim(a * 2 + 2, b) == a * 2 + 2
    assert broadcast_dim(3, 4) is None
    assert broadcast_dim(a, b) == broadcast_dim(b, a)
    assert broadcast_shapes((3, 1, a), (b, 1)) == (3, b, a)
    assert broadcast_shapes((3, 4), (3,)) is None


def test_claims_replace_names_and_take_no_size_for_zero() -> None:
    x, y = symbol("x[0]", claim="N"), symbol("y[0]", claim="N")
    assert x != y
    assert claimed(x) == claimed(y)
    assert claimed(floordiv(x + 1, 2)) == claimed(floordiv(y + 1, 2))
    both = broadcast_dim(x, y)
    assert both is not None
    assert claimed(both) == claimed(x)
    assert claimed(or_copied(x, b)) == claimed(y)
    assert claimed(a) == a


def test_copied_size_is_exact_beside_what_it_depends_on() -> None:
    size = or_copied(b * c, b, a)
    assert size != b * c
    assert a * size == a * b * c
    assert a * a * size * size == a * a * b * c * b * c


@pytest.mark.parametrize(
    "step",
    [
        lambda d: d * d + 1,
        lambda d: maximum(d * 2, b) + d,
        lambda d: floordiv(d * d, 7),
        lambda d: minimum(d + b, c) * d,
    ],
)
def test_expressions_stay_small(step: Callable[[Dim], Dim]) -> None:
    dim: Dim = a
    for _ in range(300):
        dim = step(dim)
    assert len(str(dim)) < 100_000
    assert claimed(dim) is not None
