"""Let a linear operator yield x * c instead of x, which only that factor and one other product read.

With u = x * c: x * f(x * c) @ W = u * f(u) @ (W / c). The factor goes into the constants of the operator that
computes x, its inverse into the weight that the product ends in; elementwise in float64, rounded once.
Declined when another reader sees x or a value on the way, when a constant is shared, when the way ends in
something else than a linear operator, and when a new number leaves the normal range.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/matmul/hoist_scale_around_product.md; then `make docs`.
"""

from __future__ import annotations

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.absorbing import absorbed, is_inference
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, NodeSpec, Operand, ResultClass, Rule
from onnxsim_ci.rewrite.linear_above import linear_of, scaled_linear
from onnxsim_ci.rewrite.patterns import only_reader
from onnxsim_ci.rewrite.scaling import MOVES, Path, factor_of, rebuilt

LONGEST = 8
"""Nodes looked at below the product."""
WEIGHTED = ("MatMul", "Gemm", "Conv", "ConvTranspose", "BatchNormalization")


def propose(node: Node, facts: Facts) -> Edit | Declined:
    if not any(v is not None and v.is_constant for v in node.inputs):
        return Declined("no operand is a constant")
    kept = node.inputs[0]
    if kept is not None and not kept.is_constant and len(kept.uses) != 2:
        return Declined("{0!r} has not one other reader", kept)
    factor = factor_of(node, facts)
    output = node.outputs[0]
    if factor is None or not (factor.is_scalar and factor.is_moderate) or output is None:
        return Declined("the constant is not one number, widens the result, or is 0 or beyond 2 ** 10")
    x = factor.kept
    if x.pins or len(x.uses) != 2 or x.producer is None or x.producer.scope is not node.scope:
        return Declined("{0!r} has not one other reader", x)
    other = next(n for n in x.uses if n is not node)
    number = factor.numbers.reshape(())
    linear = linear_of(x, number, facts)
    below = None if linear is None else _below(other, x, node)
    if linear is None or below is None:
        return Declined("{0!r} does not come from a linear operator, or does not end in one", x)
    path, last = below
    place = 1 if last.inputs[0] is path[0][0].outputs[0] else 0
    divided = absorbed(last, place, np.asarray(1.0 / number), facts)
    base = scaled_linear(linear, number, facts)
    if divided is None or base is None or last.outputs[0] is None:
        return Declined("a constant around {0!r} is shared, or would leave the normal range", x)
    operands: list[Operand] = [divided.get(i, v) for i, v in enumerate(last.inputs)]
    operands[1 - place] = rebuilt(path, base)
    spec = NodeSpec(last.op_type, tuple(operands), like=last)
    why = "a factor of a linear operator's constants, and its inverse of the next one's"
    return Edit(why, replace=((output, base), (last.outputs[0], spec)))


def _below(product: Node, x: Value, root: Node) -> tuple[Path, Node] | None:
    """The way from the linear operator that reads the product up to `x`, and that operator."""
    path: Path = ()
    node: Node | None = product
    value = x
    while node is not None and len(path) < LONGEST:
        if node.scope is not root.scope or node.domain or node.operator is None or value.pins:
            return None
        places = [i for i, v in enumerate(node.inputs) if v is value]
        if len(places) != 1:
            return None
        if node.op_type in WEIGHTED and path:
            fits = places[0] == 0 or node.op_type == "MatMul"
            return (path, node) if fits and _is_linear(node) else None
        goes_on = node.op_type == "Mul" or (node.op_type in ("Div", *MOVES) and places[0] == 0)
        if not goes_on or node.outputs[0] is None or (not path and node.op_type != "Mul"):
            return None
        path = ((node, places[0]), *path)
        value = node.outputs[0]
        node = only_reader(value)
    return None


def _is_linear(node: Node) -> bool:
    return node.op_type != "BatchNormalization" or is_inference(node)


RULE = Rule(
    id="hoist-scale-around-product",
    family="matmul",
    roots=("Mul", "Div"),
    since_opset=7,
    until_opset=19,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"large"}),
    propose=propose,
    looks_far=True,
)
