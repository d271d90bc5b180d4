"""Sizes of axes as integers or polynomials over symbols, equal when their canonical forms are equal.

A `Symbolic` is a sum of (coefficient, monomial) terms with integer coefficients. What is no polynomial
(quotients, remainders, extremes, broadcasts: `opaque.py`) is a symbol of its own whose name is made from
its canonical operands, so equal expressions get equal names. Every answer is a proof from signs, bounds and
common divisors; "no" means "not proven".

House: analysis. Imports nothing of the package.
Touch: `opaque.py`; tests/analysis/test_dim.py compares every operation with concrete numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import TypeAlias

AXIS_LIMIT = 2**31 - 1
"""Longest axis that is taken for possible, so that Cast to int32 keeps a size exact."""
_TERM_LIMIT, _DEGREE_LIMIT, _NAME_LIMIT, _DEPTH_LIMIT = 48, 12, 240, 24
_BOUND_LIMIT = 2**64
"""Beyond these an expression becomes one symbol named by a digest, so that no model makes dims explode."""


class Symbol(str):
    """A name for an integer, with what is known about it; equal when the names are equal.

    Attributes:
        operation: Empty for a size, else the key of `opaque.OPERATIONS` that computes it from the operands.
        operands: Dims that it is computed from; empty when it is nested too deeply to be taken apart.
        least, most: Bounds, both ends included; None when there is none.
        claim: Name that the model gives to this size; other sizes of that name are claimed to be equal.
        instead, beside: In a product with all symbols of `beside` it equals `instead`; None for no such dim.
        is_vague: It stands for a size that later facts may resolve.
    """

    __slots__ = ("beside", "claim", "depth", "instead", "is_vague", "least", "most", "operands", "operation")
    operation: str
    operands: tuple[Dim, ...]
    least: int | None
    most: int | None
    claim: str
    instead: Dim | None
    beside: frozenset[str]
    is_vague: bool
    depth: int


class Symbolic:
    """A polynomial that is no integer; immutable and hashable, supports + - * with itself and int."""

    __slots__ = ("_hash", "is_vague", "terms")

    def __init__(self, terms: tuple[tuple[int, tuple[Symbol, ...]], ...]) -> None:
        self.terms = terms
        self._hash = hash(terms)
        self.is_vague = any(s.is_vague for _, m in terms for s in m)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Symbolic) and self.terms == other.terms)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return " + ".join(_term_text(c, m) for c, m in reversed(self.terms))

    def __add__(self, other: Dim) -> Dim:
        sums = {m: c for c, m in self.terms}
        for coefficient, monomial in terms_of(other):
            sums[monomial] = sums.get(monomial, 0) + coefficient
        return _kept_small(polynomial(sums), "plus", (self, other))

    __radd__ = __add__

    def __mul__(self, other: Dim) -> Dim:
        if other == 1:
            return self
        sums: dict[tuple[Symbol, ...], int] = {}
        for c, m in self.terms:
            for d, n in terms_of(other):
                key = tuple(sorted(m + n)) if m and n else m or n
                sums[key] = sums.get(key, 0) + c * d
        if any(s.instead is not None for m in sums for s in m):
            return _kept_small(_resolved(sums), "times", (self, other))
        return _kept_small(polynomial(sums), "times", (self, other))

    __rmul__ = __mul__

    def __neg__(self) -> Dim:
        return Symbolic(tuple((-c, m) for c, m in self.terms))

    def __sub__(self, other: Dim) -> Dim:
        return self + -other

    def __rsub__(self, other: Dim) -> Dim:
        return -self + other


Dim: TypeAlias = int | Symbolic
Shape: TypeAlias = tuple[Dim, ...]
Bounds: TypeAlias = tuple[int | None, int | None]


def symbol(name: str, *, claim: str = "", is_vague: bool = False) -> Symbolic:
    """The size of an axis, from 0 to AXIS_LIMIT; callers see to it that `name` means one axis only."""
    made = Symbol(name)
    made.operation, made.operands, made.depth = "", (), 0
    made.least, made.most = 0, AXIS_LIMIT
    made.claim, made.is_vague = claim, is_vague
    made.instead, made.beside = None, frozenset()
    return Symbolic(((1, (made,)),))


def opaque(operation: str, operands: tuple[Dim, ...], limits: Bounds) -> Symbolic:
    """The symbol that stands for `operation` on canonical operands; `limits` are its proven bounds."""
    inner = [s for o in operands for _, m in terms_of(o) for s in m]
    name = f"{operation}({', '.join(map(str, operands))})"
    if len(name) > _NAME_LIMIT:
        name = f"{operation}(#{blake2b(name.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()})"
    made = Symbol(name)
    made.operation, made.claim = operation, ""
    made.instead, made.beside = None, frozenset()
    made.depth = 1 + max((s.depth for s in inner), default=0)
    made.operands = operands if made.depth <= _DEPTH_LIMIT else ()
    least, most = limits
    made.least = None if least is None or least < -_BOUND_LIMIT else min(least, _BOUND_LIMIT)
    made.most = None if most is None or most > _BOUND_LIMIT else max(most, -_BOUND_LIMIT)
    made.is_vague = any(s.is_vague for s in inner)
    return Symbolic(((1, (made,)),))


def terms_of(dim: Dim) -> tuple[tuple[int, tuple[Symbol, ...]], ...]:
    """Terms of any dim, by degree and then by name; none for 0."""
    if isinstance(dim, Symbolic):
        return dim.terms
    return ((dim, ()),) if dim else ()


def polynomial(sums: dict[tuple[Symbol, ...], int]) -> Dim:
    """The dim with these coefficients by monomial."""
    kept = [(c, m) for m, c in sums.items() if c]
    if not kept:
        return 0
    if len(kept) == 1 and not kept[0][1]:
        return kept[0][0]
    kept.sort(key=_term_order)
    return Symbolic(tuple(kept))


def _resolved(sums: dict[tuple[Symbol, ...], int]) -> Dim:
    """The polynomial, with symbols replaced that stand beside what makes them equal to another dim."""
    result: Dim = 0
    for monomial, coefficient in sums.items():
        found = next((s for s in monomial if s.instead is not None and s.beside.issubset(monomial)), None)
        if found is None or found.instead is None:
            result = result + polynomial({monomial: coefficient})
        else:
            rest = list(monomial)
            rest.remove(found)
            result = result + found.instead * polynomial({tuple(rest): coefficient})
    return result


def _term_order(term: tuple[int, tuple[Symbol, ...]]) -> tuple[int, tuple[Symbol, ...]]:
    return len(term[1]), term[1]


def _kept_small(dim: Dim, operation: str, operands: tuple[Dim, Dim]) -> Dim:
    """The dim itself, or one symbol for it when it has grown beyond the limits."""
    terms = terms_of(dim)
    if len(terms) <= _TERM_LIMIT and (not terms or len(terms[-1][1]) <= _DEGREE_LIMIT):
        return dim
    return opaque(operation, tuple(sorted(operands, key=str)), bounds(dim))


def bounds(dim: Dim) -> Bounds:
    """Least and greatest possible value as far as proven; None for no bound."""
    least: int | None = 0
    most: int | None = 0
    for coefficient, monomial in terms_of(dim):
        low, high = _monomial_bounds(monomial)
        if coefficient < 0:
            low, high = high, low
        least = None if least is None or low is None else least + coefficient * low
        most = None if most is None or high is None else most + coefficient * high
    return least, most


def _monomial_bounds(monomial: tuple[Symbol, ...]) -> Bounds:
    """Bounds of a product; only factors that are not negative are multiplied."""
    if len(monomial) == 1:
        return monomial[0].least, monomial[0].most
    low: int | None = 1
    high: int | None = 1
    for s in monomial:
        if s.least is None or s.least < 0 or low is None:
            return None, None
        low *= s.least
        high = None if high is None or s.most is None else high * s.most
    return low, high


def is_nonnegative(dim: Dim) -> bool:
    """True when `dim` is proven to be at least 0."""
    return is_at_least(dim, 0)


def is_positive(dim: Dim) -> bool:
    """True when `dim` is proven to be at least 1."""
    return is_at_least(dim, 1)


def is_at_least(dim: Dim, number: int) -> bool:
    """True when `dim` is proven to be at least `number`."""
    least = bounds(dim)[0]
    return least is not None and least >= number


def is_divisible(dim: Dim, number: int) -> bool:
    """True when every coefficient of `dim` is a multiple of `number`; False for 0."""
    return number != 0 and all(c % number == 0 for c, _ in terms_of(dim))


def is_vague(dim: Dim) -> bool:
    """True when `dim` holds a symbol that later facts may resolve."""
    return isinstance(dim, Symbolic) and dim.is_vague


def is_settled(shape: Shape | None) -> bool:
    """True when nothing is left to learn about a shape."""
    if shape is None:
        return False
    for dim in shape:  # noqa: SIM110 - twice as fast as all(), and called for every node
        if dim.__class__ is not int and dim.is_vague:  # type: ignore[union-attr]  # no int here
            return False
    return True


def difference(a: Dim, b: Dim) -> Dim:
    """The difference a - b."""
    return a - b


def product(dims: Iterable[Dim]) -> Dim:
    """Product of all; 1 for none."""
    result: Dim = 1
    for dim in dims:
        result = result * dim
    return result


def exact_quotient(a: Dim, b: Dim) -> Dim | None:
    """The q for which a = q * b holds as polynomials, or None; says nothing about b = 0 at run time."""
    if isinstance(b, int):
        return polynomial({m: c // b for c, m in terms_of(a)}) if is_divisible(a, b) else None
    quotient: Dim = 0
    c, m = b.terms[-1]
    while a != 0:
        coefficient, monomial = terms_of(a)[-1]
        rest = _monomial_quotient(monomial, m)
        if coefficient % c or rest is None or len(terms_of(quotient)) > _TERM_LIMIT:
            return None
        step = polynomial({rest: coefficient // c})
        quotient, a = quotient + step, a - b * step
    return quotient


def _monomial_quotient(
    monomial: tuple[Symbol, ...], divisor: tuple[Symbol, ...]
) -> tuple[Symbol, ...] | None:
    rest = list(monomial)
    for s in divisor:
        if s not in rest:
            return None
        rest.remove(s)
    return tuple(rest)


def _term_text(coefficient: int, monomial: tuple[Symbol, ...]) -> str:
    names = "*".join(monomial)
    return (
        names if coefficient == 1 and monomial else f"{coefficient}*{names}" if monomial else str(coefficient)
    )
