"""The linear operator that computes a value, and the same one with its columns scaled.

House: rewrite. May import analysis and model.
Touch: the rules that move a factor up into weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import NodeSpec
from onnxsim_ci.rewrite.linear import Array
from onnxsim_ci.rewrite.scaling import biased_product, own_constant, scaled


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
