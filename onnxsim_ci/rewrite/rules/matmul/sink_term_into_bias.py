"""Move a constant term in front of a linear operator into the bias behind it.

(x + b) @ W + c = x @ W + (b @ W + c), and likewise for Gemm and for a convolution that pads nothing. The sums
of products are taken in float64, one row of the weight after the other, and rounded once. Declined when there
is no bias to take the term, when it varies over anything but the rows (channels), when the weight is not a
constant, and when the sum has another reader.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/matmul/sink_term_into_bias.md; then `make docs`.
"""

from __future__ import annotations

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.absorbing import pads_anything, response
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.linear import TYPES, is_in_range
from onnxsim_ci.rewrite.patterns import feeder
from onnxsim_ci.rewrite.scaling import term_of

LARGEST_TERM = 256.0
"""A larger term is often a mean that is taken off: digits of x would be lost."""
WHY = "a term in front of a linear operator is part of its bias"


def propose(node: Node, facts: Facts) -> Edit | Declined:
    linear, place = (node, 2) if node.op_type in ("Gemm", "Conv") else _product_of(node)
    sum_node = None if linear is None else feeder(linear, 0, "Add", "Sub")
    data = None if linear is None else linear.inputs[0]
    if linear is None or sum_node is None or data is None:
        return Declined("it is no linear operator with a bias behind a sum")
    term = term_of(sum_node, facts)
    if term is None or not data.single_reader or np.abs(term.numbers).max(initial=0.0) > LARGEST_TERM:
        return Declined("{0!r} has another reader, or is no sum with a constant of its shape up to 256", data)
    if linear.op_type == "Conv" and pads_anything(linear):
        return Declined("the convolution of {0!r} pads, and the term would not reach its borders", data)
    bias, weight = node.input(place), linear.inputs[1]
    old = np.zeros(1) if bias is None else facts.array(bias)
    matrix = None if weight is None else facts.array(weight)
    if old is None or matrix is None or matrix.dtype not in TYPES or linear.attribute("transA", 0):
        return Declined("the weight or the bias behind {0!r} is not a float constant", data)
    row = response(linear, matrix, term.numbers)
    if row is None:
        return Declined("the term in {0!r} varies over other axes than the weight's rows", data)
    moved = old.astype(np.float64) * linear.attribute("beta", 1.0) + row * linear.attribute("alpha", 1.0)
    fits = moved.size == row.size and moved.ndim <= max(old.ndim, 1) and is_in_range(moved, matrix.dtype)
    if not fits:
        return Declined("the new bias behind {0!r} would be larger, or leave the normal range", data)
    new = moved.astype(matrix.dtype)
    if linear is node:
        beta = {"beta": 1.0} if node.op_type == "Gemm" else {}
        return replace(node, NodeSpec(node.op_type, (term.kept, weight, new), beta, like=node), WHY)
    product = NodeSpec("MatMul", (term.kept, weight), like=linear)
    return replace(node, NodeSpec("Add", (product, new), like=node), WHY)


def _product_of(add: Node) -> tuple[Node | None, int]:
    """The MatMul that only this Add of a constant reads, and the constant's place."""
    for index in (0, 1):
        product, value, other = feeder(add, index, "MatMul"), add.inputs[index], add.inputs[1 - index]
        if product is not None and value is not None and value.single_reader and _is_constant(other):
            return product, 1 - index
    return None, 0


def _is_constant(value: Value | None) -> bool:
    return value is not None and value.is_constant


RULE = Rule(
    id="sink-term-into-bias",
    family="matmul",
    roots=("Add", "Gemm", "Conv"),
    since_opset=7,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"large"}),
    propose=propose,
    looks_far=True,
)
