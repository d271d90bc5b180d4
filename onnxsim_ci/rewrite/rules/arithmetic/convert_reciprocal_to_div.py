"""Replace y * (1 / x) by y / x.

The same quotient, rounded once instead of twice; a denormal x no longer overflows on the way. Declined for
other elements than float32 and float64, when the inner quotient has another reader, and when its 1 widens it.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/arithmetic/convert_reciprocal_to_div.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.element_types import DOUBLE, FLOAT
from onnxsim_ci.rewrite.patterns import feeder


def propose(node: Node, facts: Facts) -> Edit | Declined:
    for index in (0, 1):
        inner = feeder(node, index, "Reciprocal", "Div")
        inverse, other = node.inputs[index], node.inputs[1 - index]
        if inner is None or inverse is None or other is None or other is inverse:
            continue
        x = _inverted(inner, facts)
        if x is None:
            continue
        if not inverse.single_reader:
            return Declined("the inverse {0!r} has another reader", inverse)
        if facts.dtype(inverse) not in (FLOAT, DOUBLE):
            return Declined("{0!r} is not float32 or float64", inverse)
        return replace(node, NodeSpec("Div", (other, x), like=node), "times one by x is divided by x")
    return Declined("no operand is the inverse of one number each")


def _inverted(inner: Node, facts: Facts) -> Value | None:
    """What is inverted, element by element and with its own shape."""
    if inner.op_type == "Reciprocal":
        return inner.inputs[0]
    one, x = inner.inputs
    if one is None or x is None or not one.is_constant or not facts.is_filled(one, 1):
        return None
    shape, rank = facts.shape(one), facts.rank(x)
    if shape is None or any(d != 1 for d in shape):
        return None
    return x if not shape or (rank is not None and len(shape) <= rank) else None


RULE = Rule(
    id="convert-reciprocal-to-div",
    family="arithmetic",
    roots=("Mul",),
    since_opset=7,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"denormal", "large"}),
    propose=propose,
)
