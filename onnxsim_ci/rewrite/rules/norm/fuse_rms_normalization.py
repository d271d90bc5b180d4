"""Replace mean of squares, root, quotient and scale by one RMSNormalization.

x / sqrt(mean(x * x) + epsilon) * scale, or x * scale / sqrt(...), is what RMSNormalization is defined as; the
sum inside may run in another order. Declined for other axes than the last ones, for another element type than
float32, for a scale that has not exactly the normalized shape, and when an inner value is needed elsewhere.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/norm/fuse_rms_normalization.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.element_types import FLOAT
from onnxsim_ci.rewrite.patterns import feeder
from onnxsim_ci.rewrite.variances import first_averaged_axis, is_private, is_square_of, mean_plus_number


def propose(node: Node, facts: Facts) -> Edit | Declined:
    divisions = [node] if node.op_type == "Div" else [feeder(node, i, "Div") for i in (0, 1)]
    div = next((d for d in divisions if d is not None and feeder(d, 1, "Sqrt") is not None), None)
    root = None if div is None else feeder(div, 1, "Sqrt")
    total = None if root is None else feeder(root, 0, "Add")
    term = None if total is None else mean_plus_number(total, facts)
    square = None if term is None else feeder(term[0], 0, "Pow", "Mul")
    if div is None or root is None or total is None or term is None or square is None:
        return Declined("nothing is divided by the root of a mean of squares plus a positive number")
    x = square.inputs[0]
    scale, inner = _scale(node, div, x)
    if x is None or scale is None or not is_square_of(square, x, facts):
        return Declined("the value and its scale are not divided by the root of its own squares")
    mean, epsilon = term
    if not all(is_private(n.outputs[0], 1) for n in (square, mean, total, root, *inner)):
        return Declined("an inner value of the normalization of {0!r} has another reader", x)
    shape, axis = facts.shape(x), first_averaged_axis(mean, x, facts)
    if axis is None or shape is None:
        return Declined("{0!r} is not averaged over its last axes, all static, with their places kept", x)
    if facts.dtype(x) != FLOAT or facts.shape(scale) != shape[axis:]:
        return Declined("{0!r} is not float32, or the scale {1!r} has not the normalized shape", x, scale)
    attributes = {"axis": axis - len(shape), "epsilon": epsilon}
    spec = NodeSpec("RMSNormalization", (x, scale), attributes, like=node)
    return replace(node, spec, "divided by the root of the mean square, scaled, is RMSNormalization")


def _scale(node: Node, div: Node, x: Value | None) -> tuple[Value | None, tuple[Node, ...]]:
    """The factor beside `x`, before or behind the division, and the node that is left out for it."""
    if node is not div:
        other = next((v for v in node.inputs if v is not div.outputs[0]), None)
        return (other if div.inputs[0] is x else None), (div,)
    product = feeder(div, 0, "Mul")
    if product is None or x not in product.inputs:
        return None, ()
    return next((v for v in product.inputs if v is not x), None), (product,)


RULE = Rule(
    id="fuse-rms-normalization",
    family="norm",
    roots=("Mul", "Div"),
    since_opset=23,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"large"}),
    propose=propose,
    looks_far=True,
)
