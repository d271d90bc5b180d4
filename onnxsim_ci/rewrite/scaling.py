"""Constants of linear operators that a factor moves into.

All arithmetic is elementwise in float64, rounded once.

House: rewrite. May import analysis and model.
Touch: the rules that move a factor up or down into weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from onnx import TensorProto

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.model.wire import span_of
from onnxsim_ci.rewrite.broadcasting import keeps_shape
from onnxsim_ci.rewrite.contract import NodeSpec, Operand
from onnxsim_ci.rewrite.linear import TYPES, Array, loses_digits
from onnxsim_ci.rewrite.patterns import feeder
from onnxsim_ci.rewrite.plan import FOLD_SLACK_BYTES

MOVES = ("Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten")
"""Operators that move every element of their first operand to one place, whatever it is."""
LARGEST, SMALLEST = 2.0**64, 2.0**-64
MOST_BYTES, MOST_BYTES_BESIDE = 8 << 20, 64 << 10
"""Of a weight that is replaced: inside the model's file, and in a data file beside it."""
MODERATE = 2.0**10
MOST_NUMBERS = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """A constant factor of a Mul or the inverse of a divisor; a constant term, or the negative of a Sub's.

    Attributes:
        kept: The other operand, of the result's shape.
        numbers: float64, of the constant's shape.
        constant: What they were read from.
    """

    kept: Value
    numbers: Array
    constant: Value

    @property
    def is_scalar(self) -> bool:
        """True for one number."""
        return self.numbers.size == 1

    @property
    def is_moderate(self) -> bool:
        """True when numbers that are scaled by it, or by its inverse, hardly come nearer to the borders."""
        sizes = np.abs(self.numbers)
        return bool(((sizes >= 1 / MODERATE) & (sizes <= MODERATE)).all())


def factor_of(node: Node, facts: Facts) -> Factor | None:
    """The constant factor of a Mul or Div with at most `MOST_NUMBERS` numbers, none of them 0 or extreme."""
    found = _constant_operand(node, facts, either_side="Mul")
    if found is None:
        return None
    sizes = np.abs(found.numbers)
    if not ((sizes >= SMALLEST) & (sizes <= LARGEST)).all():
        return None
    return found if node.op_type == "Mul" else replace(found, numbers=1.0 / found.numbers)


def term_of(node: Node, facts: Facts) -> Factor | None:
    """The constant term of an Add, or that of a Sub with its sign turned, at most `MOST_NUMBERS` numbers."""
    found = _constant_operand(node, facts, either_side="Add")
    if found is None or node.op_type == "Add":
        return found
    return replace(found, numbers=-found.numbers)


def _constant_operand(node: Node, facts: Facts, *, either_side: str) -> Factor | None:
    """The float constant beside an operand of the result's shape; second unless the operator commutes."""
    for index in (1, 0) if node.op_type == either_side else (1,):
        constant, kept = node.inputs[index], node.inputs[1 - index]
        if constant is None or kept is None or not constant.is_constant:
            continue
        array = facts.array(constant, MOST_NUMBERS)
        if array is None or array.dtype not in TYPES or not keeps_shape(facts, node, kept, constant):
            return None
        return Factor(kept, array.astype(np.float64), constant)
    return None


def own_constant(value: Value | None, facts: Facts) -> Array | None:
    """The elements of a float constant that nothing else reads, or that is small.

    None for large ones, and for those in a data file beside the model: new ones would be held in memory until
    they are written, and make a new data file.
    """
    if value is None or not value.is_constant:
        return None
    tensor = value.tensor
    is_beside = tensor is not None and tensor.data_location == TensorProto.EXTERNAL and not span_of(tensor)
    array = facts.array(value)
    if array is None or array.dtype not in TYPES or array.size == 0:
        return None
    if array.nbytes > (MOST_BYTES_BESIDE if is_beside else MOST_BYTES):
        return None
    return array if value.single_reader or array.nbytes <= FOLD_SLACK_BYTES else None


def scaled(array: Array, numbers: Array) -> Array | None:
    """`array` times `numbers`, which must fit; None when a number leaves the normal range."""
    exact = np.multiply(array, numbers, dtype=np.float64)
    if exact.shape != array.shape:
        return None
    limits, sizes = np.finfo(array.dtype), np.abs(exact)
    if not sizes.max(initial=0.0) <= float(limits.max):
        return None
    if sizes.min(initial=1.0) < float(limits.tiny) and loses_digits(array, exact, array.dtype):
        return None
    return exact.astype(array.dtype)


Path = tuple[tuple[Node, int], ...]
"""Nodes from a reader down to a value, each with the input that leads on."""


def rebuilt(path: Path, operand: Operand) -> Operand:
    """New nodes like those of `path` over another operand: inner values that change get other names."""
    for node, index in reversed(path):
        operands: list[Operand] = list(node.inputs)
        operands[index] = operand
        operand = NodeSpec(node.op_type, tuple(operands), like=node)
    return operand


def biased_product(add: Node, facts: Facts) -> tuple[Node, int] | None:
    """The MatMul with a constant right operand below an Add of a constant, and the constant's place."""
    for index in (0, 1):
        product = feeder(add, index, "MatMul")
        value, constant = add.inputs[index], add.inputs[1 - index]
        if product is None or value is None or constant is None or not constant.is_constant:
            continue
        matrix = product.inputs[1]
        return (product, 1 - index) if value.single_reader and matrix and matrix.is_constant else None
    return None
