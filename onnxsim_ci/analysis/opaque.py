"""Integer operations on dims that leave the polynomials: quotients, remainders, extremes, broadcasts.

Each constructor returns a polynomial where the result is one, else an opaque symbol with its bounds.

House: analysis. Imports only `dim`.
Touch: `OPERATIONS` computes every operation on numbers; tests/analysis/test_dim.py covers each of its keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import gcd, prod

from onnxsim_ci.analysis.dim import (
    Dim,
    Shape,
    Symbol,
    Symbolic,
    bounds,
    exact_quotient,
    is_at_least,
    is_nonnegative,
    is_positive,
    opaque,
    polynomial,
    product,
    symbol,
    terms_of,
)


def floordiv(a: Dim, b: Dim) -> Dim:
    """Quotient rounded down; b is not 0 at run time.

    Source: floor((k*q + r) / k) = q + floor(r / k); floor((g*x + c) / (g*k)) = floor((x + floor(c / g)) / k);
    floor((floor(x / j) + c) / k) = floor((x + j*c) / (j*k)), for integers with j, k, g > 0.
    """
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    exact = exact_quotient(a, b)
    if exact is not None:
        return exact
    if not isinstance(b, int) or b < 0:
        signs = (bounds(a)[0], bounds(b)[0])
        nonnegative = all(s is not None and s >= 0 for s in signs)
        return opaque("floordiv", (a, b), (0, bounds(a)[1]) if nonnegative else (None, None))
    whole = polynomial({m: c // b for c, m in terms_of(a)})
    rest = polynomial({m: c % b for c, m in terms_of(a)})
    return whole + _proper_floordiv(rest, b)


def _proper_floordiv(a: Dim, k: int) -> Dim:
    """Floor of a / k for coefficients from 0 to k - 1."""
    if isinstance(a, int):
        return a // k
    g = gcd(k, *(c for c, m in a.terms if m))
    if g > 1:
        return floordiv(polynomial({m: c // g for c, m in a.terms}), k // g)
    constant = a.terms[0][0] if not a.terms[0][1] else 0
    coefficient, monomial = a.terms[-1]
    inner = monomial[0]
    is_nested = len(a.terms) == (2 if constant else 1) and coefficient == 1 and len(monomial) == 1
    if is_nested and inner.operation == "floordiv" and inner.operands and isinstance(inner.operands[1], int):
        j = inner.operands[1]
        return floordiv(inner.operands[0] + j * constant, j * k)
    least, most = bounds(a)
    return opaque("floordiv", (a, k), (_floor(least, k), _floor(most, k)))


def ceildiv(a: Dim, b: int) -> Dim:
    """Quotient rounded up, b > 0."""
    return floordiv(a + (b - 1), b)


def modulo(a: Dim, b: Dim) -> Dim:
    """Remainder with the sign of b (Python's %); b is not 0 at run time."""
    if isinstance(a, int) and isinstance(b, int):
        return a % b
    if exact_quotient(a, b) is not None:
        return 0
    if isinstance(b, int) and b > 0:
        a = polynomial({m: c % b for c, m in terms_of(a)})
        return a if _within(a, 0, b - 1) else opaque("modulo", (a, b), (0, b - 1))
    return opaque("modulo", (a, b), (0, bounds(b)[1]) if is_nonnegative(b) else (None, None))


def truncdiv(a: Dim, b: Dim) -> Dim:
    """Quotient rounded toward zero, as ONNX Div does for integers; b is not 0 at run time."""
    if isinstance(a, int) and isinstance(b, int):
        return _truncate(a, b)
    if (is_nonnegative(a) and is_nonnegative(b)) or exact_quotient(a, b) is not None:
        return floordiv(a, b)
    least, most = bounds(a) if is_positive(b) and isinstance(b, int) else (None, None)
    k = b if isinstance(b, int) else 1
    limits = tuple(None if n is None else _truncate(n, k) for n in (least, most))
    return opaque("truncdiv", (a, b), (limits[0], limits[1]))


def maximum(*dims: Dim) -> Dim:
    """Greatest of at least one dim."""
    kept = _undominated(dims, "maximum", lambda a, b: is_nonnegative(a - b))
    ranges = [bounds(d) for d in kept]
    lows = [low for low, _ in ranges if low is not None]
    highs = [high for _, high in ranges if high is not None]
    most = max(highs) if len(highs) == len(kept) else None
    return kept[0] if len(kept) == 1 else opaque("maximum", kept, (max(lows, default=None), most))


def minimum(*dims: Dim) -> Dim:
    """Least of at least one dim."""
    kept = _undominated(dims, "minimum", lambda a, b: is_nonnegative(b - a))
    ranges = [bounds(d) for d in kept]
    lows = [low for low, _ in ranges if low is not None]
    highs = [high for _, high in ranges if high is not None]
    least = min(lows) if len(lows) == len(kept) else None
    return kept[0] if len(kept) == 1 else opaque("minimum", kept, (least, min(highs, default=None)))


def broadcast_dim(a: Dim, b: Dim) -> Dim | None:
    """Size that axes of sizes a and b broadcast to when the operator runs at all; None when it cannot run.

    Of an integer other than 1 (or a size proven to exceed 1) and a symbol the former is right: the symbol is
    1 or equal, else the operator fails.
    """
    if b in (a, 1):
        return a
    if a == 1:
        return b
    if isinstance(a, int) and isinstance(b, int):
        return None
    for dim in (a, b) if isinstance(a, int) else (b, a):
        if isinstance(dim, int) or is_at_least(dim, 2):
            return dim
    kept = _undominated((a, b), "broadcast", lambda _a, _b: False)
    ranges = [bounds(d) for d in kept]
    highs = [high for _, high in ranges if high is not None]
    most = max(highs) if len(highs) == len(kept) else None
    return opaque("broadcast", kept, (int(all(low is not None and low > 0 for low, _ in ranges)), most))


def broadcast_shapes(a: Shape, b: Shape) -> Shape | None:
    """Shape that operands of shapes a and b broadcast to; None when they do not fit."""
    if a == b:
        return a
    if len(a) < len(b):
        a, b = b, a
    dims = list(a)
    for axis, dim in enumerate(b, len(a) - len(b)):
        if dims[axis] != dim:
            result = broadcast_dim(dims[axis], dim)
            if result is None:
                return None
            dims[axis] = result
    return tuple(dims)


def or_copied(a: Dim, copied: Dim, others: Dim | None = None) -> Dim:
    """a, or `copied` where a is 0: what an element of Reshape's target means without allowzero.

    Args:
        a: The element, at least 0.
        copied: The input's dim on the same axis.
        others: A product that is not 0 only where the result is a; None when there is none.
    """
    if a == copied or is_positive(a) or (others is not None and is_positive(others)):
        return a
    if a == 0:
        return copied
    low, high = bounds(a)
    other_low, other_high = bounds(copied)
    least = None if low is None or other_low is None else min(low, other_low)
    most = None if high is None or other_high is None else max(high, other_high)
    made = opaque("or_copied", (a, copied), (least, most))
    terms = terms_of(others) if others is not None else ()
    if len(terms) != 1:
        return made
    made = opaque("or_copied", (a, copied, polynomial({terms[0][1]: 1})), (least, most))
    only = made.terms[0][1][0]
    only.instead, only.beside = a, frozenset(terms[0][1])
    return made


def claimed(dim: Dim) -> Dim:
    """The dim with every size replaced by the name that the model gives to it, and no size taken for 0."""
    if isinstance(dim, int):
        return dim
    result: Dim = 0
    for coefficient, monomial in dim.terms:
        result = result + product((coefficient, *(_claimed_symbol(s) for s in monomial)))
    return result


def _claimed_symbol(s: Symbol) -> Dim:
    if s.operation == "or_copied" and s.operands:
        return claimed(s.operands[0])
    if s.operands:
        return _rebuilt(s.operation, tuple(claimed(operand) for operand in s.operands))
    return symbol(f"${s.claim}", is_vague=s.is_vague) if s.claim else Symbolic(((1, (s,)),))


def claims_of(dim: Dim) -> frozenset[str]:
    """Names that the model gives to sizes in `dim`."""
    found: set[str] = set()
    for _, monomial in terms_of(dim):
        for s in monomial:
            found |= frozenset().union(*map(claims_of, s.operands)) if s.operands else {s.claim} - {""}
    return frozenset(found)


def evaluate(dim: Dim, sizes: Mapping[str, int]) -> int:
    """Value of `dim` for concrete sizes by symbol name.

    Raises:
        KeyError: A symbol that is no operation has no size.
    """
    total = 0
    for coefficient, monomial in terms_of(dim):
        term = coefficient
        for s in monomial:
            if s not in sizes and s.operands:
                term *= OPERATIONS[s.operation]([evaluate(o, sizes) for o in s.operands])
            else:
                term *= sizes[s]
        total += term
    return total


def symbols(dim: Dim) -> frozenset[str]:
    """Names of the sizes that `dim` is made of."""
    found: set[str] = set()
    for _, monomial in terms_of(dim):
        for s in monomial:
            found |= frozenset().union(*map(symbols, s.operands)) if s.operands else {str(s)}
    return frozenset(found)


def _rebuilt(operation: str, operands: tuple[Dim, ...]) -> Dim:
    """The operation on other operands, brought into canonical form again."""
    if operation == "broadcast":
        result: Dim | None = 1
        for operand in operands:
            result = None if result is None else broadcast_dim(result, operand)
        return opaque(operation, operands, (0, None)) if result is None else result
    return _CONSTRUCTORS[operation](*operands)


def _undominated(
    dims: tuple[Dim, ...], operation: str, dominates: Callable[[Dim, Dim], bool]
) -> tuple[Dim, ...]:
    """Operands of nested uses of `operation`, sorted, each once, without those that another one dominates."""
    flat: dict[Dim, None] = {}
    for dim in dims:
        inner = dim.terms[0][1][0] if isinstance(dim, Symbolic) and dim.terms[0][1] else None
        is_nested = inner is not None and dim == Symbolic(((1, (inner,)),)) and inner.operation == operation
        flat.update(
            dict.fromkeys(inner.operands if inner is not None and is_nested else (dim,)) or {dim: None}
        )
    kept: list[Dim] = []
    for dim in sorted(flat, key=str):
        if not any(dominates(other, dim) for other in kept):
            kept = [other for other in kept if not dominates(dim, other)]
            kept.append(dim)
    return tuple(kept)


def _within(dim: Dim, least: int, most: int) -> bool:
    low, high = bounds(dim)
    return low is not None and low >= least and high is not None and high <= most


def _floor(number: int | None, k: int) -> int | None:
    return None if number is None else number // k


def _truncate(a: int, b: int) -> int:
    return a // b if (a >= 0) == (b > 0) else -(-a // b)


OPERATIONS: Mapping[str, Callable[[list[int]], int]] = {
    "plus": sum,
    "times": prod,
    "floordiv": lambda v: v[0] // v[1],
    "truncdiv": lambda v: _truncate(v[0], v[1]),
    "modulo": lambda v: v[0] % v[1],
    "maximum": max,
    "minimum": min,
    "broadcast": lambda v: next((n for n in v if n != 1), 1),
    "or_copied": lambda v: v[0] or v[1],
}
"""What each operation computes on numbers."""

_CONSTRUCTORS: Mapping[str, Callable[..., Dim]] = {
    "plus": lambda a, b: a + b,
    "times": lambda a, b: a * b,
    "floordiv": floordiv,
    "truncdiv": truncdiv,
    "modulo": modulo,
    "maximum": maximum,
    "minimum": minimum,
}
