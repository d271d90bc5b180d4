"""Move a constant factor up through moves and products into the constants of a linear operator.

A linear operator commutes with a factor: (x @ W + b) * c = x @ (W * c) + b * c, and moves do with one number.
The new constants are elementwise products in float64, rounded once. Declined when a value on the way has
another reader, when a constant is shared, and when a factor is 0 or a new number leaves the normal range.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/matmul/hoist_scale_into_weight.md; then `make docs`.
"""

from __future__ import annotations

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, ResultClass, Rule
from onnxsim_ci.rewrite.linear import Array
from onnxsim_ci.rewrite.scaling import MOVES, Factor, biased_product, factor_of, own_constant, scaled

LONGEST = 12
"""Nodes looked at above a factor."""
Places = list[tuple[Node, int]]


def propose(node: Node, facts: Facts) -> Edit | Declined:
    if not any(v is not None and v.is_constant for v in node.inputs):
        return Declined("no operand is a constant")
    factor = factor_of(node, facts)
    output = node.outputs[0]
    if factor is None or output is None:
        return Declined("the constant widens the result, is no wide float, or holds a zero or an extreme")
    found = _found_above(factor, facts)
    if found is None:
        return Declined("no linear operator with constants of its own stands above {0!r} alone", factor.kept)
    places, numbers = found
    rewires: list[tuple[Node, int, Array]] = []
    for linear, index in places:
        constant = own_constant(linear.inputs[index], facts)
        new = None if constant is None else scaled(constant, _aligned(linear, index, numbers))
        if new is None:
            return Declined("a constant of {0!r} is shared, or would leave the normal range", factor.kept)
        rewires.append((linear, index, new))
    return Edit(
        "a factor behind a linear operator is a factor of its constants",
        replace=((output, factor.kept),),
        rewire=tuple(rewires),
    )


def _found_above(factor: Factor, facts: Facts) -> tuple[Places, Array] | None:
    """Constants to scale instead, all those of one linear operator and of the bias below it, and by what."""
    if not factor.is_scalar:
        places = _direct(factor.kept, facts, factor.numbers)
        return None if places is None else (places, factor.numbers.reshape(-1))
    stack, looked = [factor.kept], 0
    while stack and looked < LONGEST:
        value, looked = stack.pop(), looked + 1
        node = value.producer
        if node is None or not value.single_reader or node.scope is not factor.kept.scope or node.domain:
            continue
        if node.op_type in MOVES and node.inputs[0] is not None:
            stack.append(node.inputs[0])
            continue
        if node.op_type == "Split":
            return _columns_above(node, value, factor, facts)
        found = _direct(value, facts, None)
        if found:
            return found, factor.numbers.reshape(())
        if node.op_type == "MatMul" and node.inputs[0] is not node.inputs[1]:
            stack += [v for v in reversed(node.inputs) if v is not None]
    return None


def _columns_above(split: Node, part: Value, factor: Factor, facts: Facts) -> tuple[Places, Array] | None:
    """As `_found_above`, for one part of columns that a Split hands out: the others are scaled by 1."""
    source = split.inputs[0]
    rank = None if source is None else facts.rank(source)
    shapes = [None if v is None else facts.shape(v) for v in split.outputs]
    if source is None or not rank or split.attribute("axis", 0) % rank != rank - 1:
        return None
    sizes = [s[-1] for s in shapes if s is not None and isinstance(s[-1], int)]
    if len(sizes) < len(shapes):
        return None
    numbers = np.repeat(
        [1.0 if v is not part else float(factor.numbers.flat[0]) for v in split.outputs], sizes
    )
    places = _direct(source, facts, numbers)
    return None if places is None else (places, numbers)


def _direct(value: Value, facts: Facts, row: Array | None) -> Places | None:
    """The constants of the linear operator that computes `value`; `row`: a factor for each column."""
    node = value.producer
    if node is None or not value.single_reader or node.domain or node.operator is None:
        return None
    places: Places = []
    if node.op_type == "Add":
        found = biased_product(node, facts)
        if found is None:
            return None
        node, place = found[0], found[1]
        places = [(value.producer, place)] if value.producer is not None else []
    if node.op_type not in ("MatMul", "Gemm", "Conv", "ConvTranspose"):
        return None
    matrix = node.inputs[1]
    if matrix is None or not matrix.is_constant or (row is not None and not _fits(node, matrix, row, facts)):
        return None
    bias = node.input(2)
    if bias is not None and not bias.is_constant:
        return None
    return [(node, 1), *places, *([(node, 2)] if bias is not None else [])]


def _fits(node: Node, matrix: Value, row: Array, facts: Facts) -> bool:
    """True when `row` varies over the columns of the product only."""
    shape = facts.static_shape(matrix)
    if shape is None or len(shape) != 2 or node.op_type not in ("MatMul", "Gemm"):
        return False
    columns = shape[0] if node.attribute("transB", 0) else shape[1]
    return row.shape[-1:] == (columns,) and row.size == columns


def _aligned(node: Node, index: int, numbers: Array) -> Array:
    """The factors in the form in which they multiply input `index`."""
    is_by_row = index == 1 and node.op_type == "Gemm" and node.attribute("transB", 0)
    return np.asarray(numbers[:, None] if is_by_row and numbers.ndim else numbers)


RULE = Rule(
    id="hoist-scale-into-weight",
    family="matmul",
    roots=("Mul", "Div"),
    since_opset=7,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"large"}),
    propose=propose,
    looks_far=True,
)
