"""Join constants of a chain: (x * a) * b, (x + a) + b, (x * a + b) * c, (x + a) * b + c and (x * a) ** k * b.

The same real function with one operation less; the joined constants are computed in float64 and rounded once.
Declined when a factor or a product of factors leaves 2 ** -64 to 2 ** 64, when one shrinks what another
enlarged, when terms cancel or their sum is no number of the type, when a constant widens the result or the
joined one is larger than both, when a large constant is shared, when an inner value has another reader, in
longer chains, whose roundings add up, and before operators that compare or round to whole numbers.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/arithmetic/merge_constants_of_chain.md; then `make docs`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import (
    Declined,
    Edit,
    Level,
    Lowers,
    NodeSpec,
    Operand,
    ResultClass,
    Rule,
    replace,
)
from onnxsim_ci.rewrite.element_types import DOUBLE, FLOAT
from onnxsim_ci.rewrite.linear import Array, is_in_range
from onnxsim_ci.rewrite.plan import FOLD_SLACK_BYTES
from onnxsim_ci.rewrite.scaling import LARGEST, SMALLEST, Factor, factor_of, term_of

CANCELLED = 0.25
"""Least size of a sum of terms against the larger one: below it digits would be lost."""
LARGEST_POWER, LARGEST_BASE = 4, 16.0
LARGEST_TERM = 256.0
"""A larger term in front of a factor is often a mean that is taken off: digits of x would be lost."""
FACTORS, TERMS = ("Mul", "Div"), ("Add", "Sub")
LINKS = (*FACTORS, *TERMS, "Pow")
COMPARISONS = ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal", "ArgMax", "ArgMin", "TopK")
DISCRETE = frozenset({"Floor", "Ceil", "Round", "Sign", "Cast", "Mod", *COMPARISONS})
"""Readers for which a number just below a border is another one than just above it."""
DTYPES: dict[int, np.dtype[Any]] = {FLOAT: np.dtype(np.float32), DOUBLE: np.dtype(np.float64)}
Steps: TypeAlias = "tuple[Value, tuple[tuple[str, Array | Value | None], ...]]"
"""What a chain starts from, and its operations with their second operands; None for one that may not be."""


def propose(node: Node, facts: Facts) -> Edit | Declined:
    if not any(v is not None and v.is_constant for v in node.inputs):
        return Declined("no operand is a constant")
    is_chain = any(v is not None and _producer(v, node, LINKS) is not None for v in node.inputs)
    outer = _step(node, facts) if is_chain else None
    inner = None if outer is None else _producer(outer.kept, node, LINKS)
    if any(reader.op_type in DISCRETE for value in node.outputs if value for reader in value.uses):
        return Declined("a reader of the result makes it discrete, where the last bit decides")
    if outer is None or inner is None:
        return Declined("it is no step with a constant behind another one that only it reads")
    if _is_long(node, inner):
        return Declined("the chain around {0!r} goes on, and its roundings add up", outer.kept)
    joined = (
        _power(node, outer, inner, facts) if inner.op_type == "Pow" else _joined(node, outer, inner, facts)
    )
    if joined is None:
        return Declined("the chain before {0!r} is too short or too different to join constants", outer.kept)
    x, steps = joined
    dtype = DTYPES[facts.dtype(outer.constant)]
    operand: Operand = x
    for op_type, other in steps:
        if other is None or not (isinstance(other, Value) or is_in_range(other, dtype)):
            return Declined("a joined constant behind {0!r} would lose digits, or be larger than both", x)
        second = other if isinstance(other, Value) else np.asarray(other, dtype)
        operand = NodeSpec(op_type, (operand, second))
    return replace(node, operand, "constants of a chain join into one")


def _joined(node: Node, outer: Factor, inner_node: Node, facts: Facts) -> Steps | None:
    """The chain with one operation less."""
    inner = _step(inner_node, facts)
    if inner is None:
        return None
    is_factor = node.op_type in FACTORS
    if is_factor == (inner_node.op_type in FACTORS):
        if is_factor:
            return inner.kept, (("Mul", _product(inner.numbers, outer.numbers)),)
        return inner.kept, (("Add", _sum_that_fits(inner.numbers, outer, facts)),)
    first_node = _producer(inner.kept, node, FACTORS if is_factor else TERMS)
    first = None if first_node is None else _step(first_node, facts)
    if first is None:
        return None
    if is_factor:
        factor, term = _product(first.numbers, outer.numbers), _times(inner.numbers, outer.numbers)
    else:
        factor, term = inner.numbers, _sum(_times(first.numbers, inner.numbers), outer.numbers)
        if np.abs(first.numbers).max(initial=0.0) > LARGEST_TERM:
            return None
    return first.kept, (("Mul", factor), ("Add", term))


def _is_long(node: Node, inner: Node) -> bool:
    """True when more steps of the chain follow: those of the same kind also when they come before."""
    kinds = FACTORS if node.op_type in FACTORS else TERMS
    is_pair = inner.op_type in kinds
    above = next((v.producer for v in inner.inputs if v is not None and not v.is_constant), None)
    before = above if is_pair else None
    after = [reader for value in node.outputs if value for reader in value.uses]
    wanted = kinds if is_pair else (*FACTORS, *TERMS)
    return (before is not None and _has_constant(before, kinds)) or any(
        _has_constant(n, wanted) for n in after
    )


def _has_constant(node: Node, op_types: tuple[str, ...]) -> bool:
    return node.op_type in op_types and any(v is not None and v.is_constant for v in node.inputs)


def _power(node: Node, outer: Factor, power: Node, facts: Facts) -> Steps | None:
    """(x * a) ** k * b as x ** k * (a ** k * b), for a small whole k."""
    base, exponent = power.inputs
    if node.op_type not in FACTORS or base is None or exponent is None or facts.rank(exponent) != 0:
        return None
    count = facts.scalar(exponent)
    inner_node = _producer(base, node, FACTORS)
    inner = None if inner_node is None else _step(inner_node, facts)
    if inner is None or count not in range(2, LARGEST_POWER + 1):
        return None
    sizes = np.abs(inner.numbers)
    if not ((sizes >= 1 / LARGEST_BASE) & (sizes <= LARGEST_BASE)).all():
        return None
    return inner.kept, (("Pow", exponent), ("Mul", _product(np.asarray(inner.numbers**count), outer.numbers)))


def _step(node: Node, facts: Facts) -> Factor | None:
    """The constant of one operation, unless it is large and would have to stay for others."""
    found = factor_of(node, facts) if node.op_type in FACTORS else term_of(node, facts)
    if found is None or (found.numbers.nbytes > FOLD_SLACK_BYTES and not found.constant.single_reader):
        return None
    return found


def _producer(value: Value, reader: Node, op_types: tuple[str, ...]) -> Node | None:
    """The node of one of these operators, in the reader's scope, whose result has one reader."""
    node = value.producer
    if node is None or node.domain or node.operator is None or not value.single_reader:
        return None
    return node if node.scope is reader.scope and node.op_type in op_types else None


def _is_no_larger(a: Array, b: Array) -> bool:
    """True when both together take no more elements than the larger of them."""
    return a.size <= 1 or b.size <= 1 or np.broadcast_shapes(a.shape, b.shape) in (a.shape, b.shape)


def _times(a: Array, b: Array) -> Array | None:
    """Elementwise product, no larger than the larger of both."""
    return np.asarray(a * b) if _is_no_larger(a, b) else None


def _product(a: Array, b: Array) -> Array | None:
    """Product of factors, in their range; none shrinks what another enlarged, so overflows stay."""
    result = _times(a, b)
    sizes = np.abs(a), np.abs(b)
    if result is None or not ((np.minimum(*sizes) >= 1) | (np.maximum(*sizes) <= 1)).all():
        return None
    if not ((np.abs(result) >= SMALLEST) & (np.abs(result) <= LARGEST)).all():
        return None
    return result


def _sum(a: Array | None, b: Array) -> Array | None:
    """Elementwise sum without cancellation."""
    if a is None or not _is_no_larger(a, b) or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return None
    result = np.asarray(a + b)
    kept = np.abs(result) >= CANCELLED * np.maximum(np.abs(a), np.abs(b))
    return result if kept.all() else None


def _sum_that_fits(a: Array, outer: Factor, facts: Facts) -> Array | None:
    """The sum of two terms, when their type holds it: x may be near -a, and then every digit counts."""
    result = _sum(a, outer.numbers)
    dtype = DTYPES[facts.dtype(outer.constant)]
    return result if result is not None and np.array_equal(result.astype(dtype), result) else None


RULE = Rule(
    id="merge-constants-of-chain",
    family="arithmetic",
    roots=("Mul", "Div", "Add", "Sub"),
    since_opset=7,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"large"}),
    propose=propose,
    looks_far=True,
)
