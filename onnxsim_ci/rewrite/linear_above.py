"""The linear operator that computes a value, and the same one with its columns scaled.

House: rewrite. May import analysis and model.
Touch: the rules that move a factor up into weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.dim import Shape
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import NodeSpec
from onnxsim_ci.rewrite.linear import Array
from onnxsim_ci.rewrite.scaling import Path, biased_product, own_constant, scaled

MOST_PARTS = 64
"""Of a Split that is looked at: a factor of one part is one of the whole weight, and a new Split."""


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """A linear operator with constants.

    Attributes:
        node: MatMul, Gemm, Conv or ConvTranspose.
        add: The Add of a constant behind it, with the constant's place; None without.
    """

    node: Node
    add: tuple[Node, int] | None


def linear_of(value: Value, numbers: Array, facts: Facts) -> Linear | None:
    """The linear operator that computes `value`, where `numbers` (one, or one a column) can scale it."""
    node, add = value.producer, None
    if node is None or node.domain or node.operator is None:
        return None
    if node.op_type == "Add":
        found = biased_product(node, facts)
        if found is None:
            return None
        add = (node, found[1])
        node = found[0]
    if node.op_type not in ("MatMul", "Gemm", "Conv", "ConvTranspose"):
        return None
    matrix, bias = node.inputs[1], node.input(2)
    if matrix is None or not matrix.is_constant or (bias is not None and not bias.is_constant):
        return None
    if numbers.ndim and not _fits(node, matrix, numbers, facts):
        return None
    return Linear(node, add)


def scaled_linear(linear: Linear, numbers: Array, facts: Facts) -> NodeSpec | None:
    """The operator, and the Add behind it, with scaled constants; None when one may not change."""
    node = linear.node
    operands = [node.inputs[0], *(_constant(node, i, numbers, facts) for i in range(1, len(node.inputs)))]
    if any(o is None for o in operands):
        return None
    spec = NodeSpec(node.op_type, tuple(operands), like=node)
    if linear.add is None:
        return spec
    add, place = linear.add
    bias = _constant(add, place, numbers, facts)
    terms = (bias, spec) if place == 0 else (spec, bias)
    return None if bias is None else NodeSpec("Add", terms, like=add)


def _constant(node: Node, index: int, numbers: Array, facts: Facts) -> Array | None:
    constant = own_constant(node.inputs[index], facts)
    is_by_row = index == 1 and node.op_type == "Gemm" and node.attribute("transB", 0)
    aligned = np.asarray(numbers[:, None] if is_by_row and numbers.ndim else numbers)
    return None if constant is None else scaled(constant, aligned)


def _fits(node: Node, matrix: Value, row: Array, facts: Facts) -> bool:
    """True when `row` varies over the columns of the product only."""
    shape = facts.static_shape(matrix)
    if shape is None or len(shape) != 2 or node.op_type not in ("MatMul", "Gemm"):
        return False
    columns = shape[0] if node.attribute("transB", 0) else shape[1]
    return row.shape[-1:] == (columns,) and row.size == columns


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Which columns of a value end in one part of a Split.

    Attributes:
        source: The value, before the moves.
        path: Moves from the Split's operand down to the value.
        chosen: One bool a column.
    """

    source: Value
    path: Path
    chosen: Array


def columns_of(split: Node, part: Value, facts: Facts) -> Columns | None:
    """The columns (last axis) of the value above a Split, and above moves before it, that `part` holds."""
    value = split.inputs[0]
    rank = None if value is None else facts.rank(value)
    if value is None or not rank or len(split.outputs) > MOST_PARTS:
        return None
    shapes = [None if v is None else facts.shape(v) for v in split.outputs]
    axis = split.attribute("axis", 0) % rank
    sizes = [s[axis] for s in shapes if s is not None and isinstance(s[axis], int)]
    if len(sizes) < len(shapes):
        return None
    chosen = np.repeat([v is part for v in split.outputs], sizes)
    path: Path = ()
    node = facts.producer(value, "Transpose")
    if node is not None and node.scope is split.scope and value.single_reader and node.inputs[0] is not None:
        axis = node.attribute("perm", tuple(reversed(range(rank))))[axis]
        path, value = ((node, 0),), node.inputs[0]
    node = facts.producer(value, "Reshape")
    if node is not None and node.scope is split.scope and value.single_reader and node.inputs[0] is not None:
        before = _before_reshape(facts.shape(node.inputs[0]), facts.shape(value), axis, chosen)
        return None if before is None else Columns(node.inputs[0], (*path, (node, 0)), before)
    return Columns(value, path, chosen) if axis == rank - 1 else None


def _before_reshape(before: Shape | None, after: Shape | None, axis: int, chosen: Array) -> Array | None:
    """The columns before a Reshape that lie at the chosen places of one axis behind it.

    Trailing axes whose sizes multiply to that of the last axis before hold the elements of one row.
    """
    if not before or not after or not isinstance(before[-1], int):
        return None
    for first in range(len(after) - 1, -1, -1):
        row = [d for d in after[first:] if isinstance(d, int)]
        if len(row) < len(after) - first or prod(row) > before[-1]:
            return None
        if prod(row) == before[-1] and first <= axis:
            places = chosen.reshape(-1, *(1,) * (len(after) - 1 - axis))
            return np.broadcast_to(places, row).reshape(-1)
    return None
