"""Operators that take a factor or a term of their data operand into their constants.

House: rewrite. May import analysis and model.
Touch: the rules that move a factor down into weights.
"""

from __future__ import annotations

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.linear import Array
from onnxsim_ci.rewrite.patterns import used_outputs
from onnxsim_ci.rewrite.scaling import own_constant, scaled

WIDE = 16
"""Elements of a row from which on numpy adds row to row, and no longer pairs within a column."""


def is_inference(node: Node) -> bool:
    """True for a BatchNormalization per channel with given statistics, which it does not hand out."""
    is_plain = not node.attribute("training_mode", 0) and node.attribute("spatial", 1)
    return bool(is_plain and used_outputs(node) == (0,))


def absorbed(node: Node, place: int, numbers: Array, facts: Facts) -> dict[int, Array] | None:
    """Constants with which `node` makes of x what it makes of x * numbers now; None when one may not change.

    `place` is the input that holds the weight; `numbers` are one number, or one for each row of the weight.
    """
    factors = {1: numbers, 3: 1.0 / numbers} if node.op_type == "BatchNormalization" else {place: numbers}
    changed: dict[int, Array] = {}
    for index, each in factors.items():
        constant = own_constant(node.inputs[index], facts)
        new = None if constant is None else scaled(constant, aligned(node, constant, each))
        if new is None:
            return None
        changed[index] = new
    return changed


def aligned(node: Node, weight: Array, numbers: Array) -> Array:
    """The factors in the form in which they multiply the weight."""
    if numbers.size == 1:
        return np.asarray(numbers).reshape(())
    ones = (1,) * (weight.ndim - 2)
    if node.op_type in ("MatMul", "Gemm"):
        return numbers.reshape(1, -1) if node.attribute("transB", 0) else numbers.reshape(-1, 1)
    if node.op_type == "ConvTranspose":
        return numbers.reshape(-1, 1, *ones)
    group = node.attribute("group", 1)
    each = numbers.reshape(group, 1, -1).repeat(weight.shape[0] // group, axis=1)
    return each.reshape(weight.shape[0], weight.shape[1], *ones)


def pads_anything(conv: Node) -> bool:
    """True when a convolution may read zeros around its input."""
    return any(conv.attribute("pads", ())) or conv.attribute("auto_pad", "NOTSET") not in ("NOTSET", "VALID")


def response(node: Node, weight: Array, numbers: Array) -> Array | None:
    """What a Conv, Gemm or MatMul makes of a term alone: one float64 number a column (channel).

    None when the term varies over other axes than the rows (channels) of the weight.
    """
    exact = weight.astype(np.float64)
    if node.op_type == "Conv":
        group = node.attribute("group", 1)
        rows = summed(exact.reshape(exact.shape[0], exact.shape[1], -1).transpose(2, 1, 0))
        channels = exact.shape[1] * group
        aligned = (1,) * (weight.ndim - numbers.ndim) + numbers.shape
        if numbers.size > 1 and aligned != (1, channels, *(1,) * (weight.ndim - 2)):
            return None
        each = np.broadcast_to(numbers.reshape(-1), (channels,)).reshape(group, -1)
        rows = rows * each.repeat(exact.shape[0] // group, axis=0).T
        return summed(rows)
    matrix = exact.T if node.attribute("transB", 0) else exact
    if matrix.ndim != 2 or (numbers.size > 1 and numbers.shape[-1] != numbers.size):
        return None
    if numbers.size not in (1, matrix.shape[0]):
        return None
    return summed(matrix * np.broadcast_to(numbers.reshape(-1), matrix.shape[:1])[:, None])


def summed(rows: Array) -> Array:
    """Sum of the rows, one after the other."""
    if rows[:1].size >= WIDE:
        return np.asarray(np.add.reduce(np.ascontiguousarray(rows), axis=0))
    total = np.zeros(rows.shape[1:])
    for row in rows:
        total += row
    return total
