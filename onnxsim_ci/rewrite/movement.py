"""What rules about moved elements share: permutations, parts of a Split, Reshape and Split nodes to be made.

House: rewrite. May import analysis and model.
Touch: the families indexing, layout and shape.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.dim import Shape, is_positive
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import NodeSpec, Operand
from onnxsim_ci.rewrite.element_types import STRING
from onnxsim_ci.rewrite.patterns import only_reader

Array = np.ndarray[Any, Any]
MOST_PARTS = 256
"""Of a Split that is looked at: each reader of a part looks at all of them."""


def may_be_text(value: Value, facts: Facts) -> bool:
    """True for strings: of each row that it picks the Gather of onnxruntime 1.32 copies one string only."""
    return facts.dtype(value) in (0, STRING)


def permutation(node: Node, facts: Facts) -> tuple[int, ...] | None:
    """The `perm` of a Transpose, written out; None when it is not given and the rank is not known."""
    perm: tuple[int, ...] | None = node.attribute("perm")
    if perm is None and node.inputs[0] is not None:
        rank = facts.rank(node.inputs[0])
        perm = None if rank is None else tuple(reversed(range(rank)))
    return perm


def reader_as_data(value: Value | None, op_type: str) -> Node | None:
    """The only reader of `value`, if it is a standard `op_type` of the same scope that reads it as data."""
    reader = None if value is None else only_reader(value)
    if value is None or reader is None or reader.op_type != op_type or reader.domain:
        return None
    if reader.operator is None or reader.scope is not value.scope or reader.inputs[0] is not value:
        return None
    return reader if reader.inputs.count(value) == 1 else None


def readers_of_parts(split: Node, op_type: str) -> list[Node] | None:
    """The readers of all parts of a Split in order, when each has one alone, of this operator."""
    if len(split.outputs) > MOST_PARTS:
        return None
    readers = [r for v in split.outputs if (r := reader_as_data(v, op_type)) is not None]
    return readers if len(readers) == len(split.outputs) > 1 else None


def static_sizes(split: Node, axis: int, facts: Facts) -> list[int] | None:
    """Size of each part of a Split along `axis`; None unless all are known and at least 1."""
    sizes = []
    for value in split.outputs:
        shape = None if value is None else facts.shape(value)
        size = None if shape is None else shape[axis]
        if not isinstance(size, int) or size < 1:
            return None
        sizes.append(size)
    return sizes


def reshape_target(shape: Shape, source: Shape) -> Array | None:
    """Target of a Reshape from `source` to `shape`; None where no constant says it for every input.

    A symbolic size becomes 0 where the source has it on the same axis, one other becomes -1 if all are at
    least 1 beside it.
    """
    numbers = []
    for axis, size in enumerate(shape):
        if isinstance(size, int) and size > 0:
            numbers.append(size)
        elif axis < len(source) and source[axis] == size:
            numbers.append(0)
        elif isinstance(size, int):
            return None
        else:
            numbers.append(-1)
    rest = [size for size, number in zip(shape, numbers, strict=True) if number != -1]
    if len(rest) < len(shape) - 1 or (len(rest) < len(shape) and not all(map(is_positive, rest))):
        return None
    return np.array(numbers, np.int64)


def reshape_spec(operand: Operand, target: Array, like: Node | None = None) -> NodeSpec:
    """A Reshape by a target in which 0 copies."""
    is_literal = like is not None and like.op_type == "Reshape" and like.attribute("allowzero", 0)
    return NodeSpec("Reshape", (operand, target), {"allowzero": 0} if is_literal else {}, like=like)


def split_spec(operand: Operand, axis: int, sizes: list[int], opset: int) -> NodeSpec:
    """A Split into parts of these sizes, as the opset writes it."""
    count = len(sizes)
    if opset < 13:
        return NodeSpec("Split", (operand,), {"axis": axis, "split": tuple(sizes)}, output_count=count)
    if len(set(sizes)) > 1:
        return NodeSpec("Split", (operand, np.array(sizes, np.int64)), {"axis": axis}, output_count=count)
    attributes = {"axis": axis, "num_outputs": count} if opset >= 18 else {"axis": axis}
    return NodeSpec("Split", (operand,), attributes, output_count=count)
