"""Move a constant factor up through moves and products into the constants of a linear operator.

A linear operator commutes with a factor: (x @ W + b) * c = x @ (W * c) + b * c, and moves do with one number.
The new constants are elementwise products in float64, rounded once. Declined when a value on the way has
another reader, when a constant is shared, and when a factor is 0 or a new number leaves the normal range.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/matmul/hoist_scale_into_weight.md; then `make docs`.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    Output,
    ResultClass,
    Rule,
)
from onnxsim_ci.rewrite.linear import Array
from onnxsim_ci.rewrite.linear_above import Linear, columns_of, linear_of, scaled_linear
from onnxsim_ci.rewrite.scaling import MOVES, Factor, Path, factor_of, rebuilt

LONGEST = 12
"""Nodes looked at above a factor."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Where a factor may go.

    Attributes:
        linear: The linear operator.
        path: From the factor's operand down to the linear operator or its Add, those not included.
        split: The Split on the way, the part that is scaled and the moves below, if there is one; the path
            ends before it.
        numbers: The factor as the columns see it.
    """

    linear: Linear
    path: Path
    split: tuple[Node, Value, Path] | None
    numbers: Array


def propose(node: Node, facts: Facts) -> Edit | Declined:
    if not any(v is not None and v.is_constant for v in node.inputs):
        return Declined("no operand is a constant")
    factor = factor_of(node, facts)
    output = node.outputs[0]
    if factor is None or output is None or not factor.is_moderate:
        return Declined("the constant widens the result, is no wide float, is 0, or is beyond 2 ** 10")
    producer = factor.kept.producer
    same_scope = producer is not None and producer.scope is node.scope
    found = _found_above(factor, facts) if same_scope else None
    if found is None:
        return Declined("no linear operator with constants of its own stands above {0!r} alone", factor.kept)
    base: Operand = scaled_linear(found.linear, found.numbers, facts)
    if base is None:
        return Declined("a constant of {0!r} is shared, or would leave the normal range", factor.kept)
    pairs: list[tuple[Value, Operand]] = []
    if found.split is not None:
        split, part, below = found.split
        operands = (rebuilt(below, base), *split.inputs[1:])
        spec = NodeSpec("Split", operands, like=split, output_count=len(split.outputs))
        places = {v: i for i, v in enumerate(split.outputs) if v is not None}
        pairs = [(v, Output(spec, i)) for v, i in places.items() if v is not part and v.is_read]
        base = Output(spec, places[part])
    return Edit(
        "a factor behind a linear operator is a factor of its constants",
        replace=(*pairs, (output, rebuilt(found.path, base))),
    )


def _found_above(factor: Factor, facts: Facts) -> Found | None:
    """The linear operator above a factor whose constants may be scaled instead."""
    if not factor.is_scalar:
        if factor.numbers.shape[-1] < factor.numbers.size:
            return None
        return _direct(factor.kept, (), factor.numbers.reshape(-1), facts)
    stack: list[tuple[Value, Path]] = [(factor.kept, ())]
    looked = 0
    while stack and looked < LONGEST:
        (value, path), looked = stack.pop(), looked + 1
        node = value.producer
        if node is None or not value.single_reader or node.scope is not factor.kept.scope or node.domain:
            continue
        if node.op_type in MOVES and node.inputs[0] is not None:
            stack.append((node.inputs[0], (*path, (node, 0))))
            continue
        if node.op_type == "Split":
            return _columns_above(node, value, path, factor, facts)
        found = _direct(value, path, factor.numbers.reshape(()), facts)
        if found:
            return found
        if node.op_type == "MatMul" and node.inputs[0] is not node.inputs[1]:
            stack += [(v, (*path, (node, i))) for i, v in ((1, node.inputs[1]), (0, node.inputs[0])) if v]
    return None


def _direct(value: Value, path: Path, numbers: Array, facts: Facts) -> Found | None:
    """The linear operator that computes `value` for one reader."""
    linear = linear_of(value, numbers, facts) if value.single_reader else None
    return None if linear is None else Found(linear, path, None, numbers)


def _columns_above(split: Node, part: Value, path: Path, factor: Factor, facts: Facts) -> Found | None:
    """As `_found_above`, for one part of columns that a Split hands out: the others are scaled by 1."""
    columns = columns_of(split, part, facts)
    if columns is None:
        return None
    numbers = np.where(columns.chosen, float(factor.numbers.flat[0]), 1.0)
    linear = linear_of(columns.source, numbers, facts) if columns.source.single_reader else None
    return None if linear is None else Found(linear, path, (split, part, columns.path), numbers)


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
