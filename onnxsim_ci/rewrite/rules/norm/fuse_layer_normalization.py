"""Replace mean, deviation, variance, root and quotient by one LayerNormalization.

With d = x - mean(x): d / sqrt(mean(d * d) + epsilon) * scale is what LayerNormalization is defined as, over
the same trailing axes; the sums inside may run in another order. Declined for other axes, for another element
type than float32, for a scale that has not exactly the normalized shape, and when an inner value is needed
elsewhere.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/norm/fuse_layer_normalization.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.element_types import FLOAT
from onnxsim_ci.rewrite.patterns import feeder
from onnxsim_ci.rewrite.variances import first_averaged_axis, is_private, is_square_of, mean_plus_number


def propose(node: Node, facts: Facts) -> Edit | Declined:
    for index in (0, 1):
        div = feeder(node, index, "Div")
        sub = None if div is None else feeder(div, 0, "Sub")
        root = None if div is None else feeder(div, 1, "Sqrt")
        scale = node.inputs[1 - index]
        if div is not None and sub is not None and root is not None and scale is not None:
            return _fused(node, scale, (div, sub, root), facts)
    return Declined("no operand is a deviation divided by a root")


def _fused(node: Node, scale: Value, found: tuple[Node, Node, Node], facts: Facts) -> Edit | Declined:
    div, sub, root = found
    x, mean, total = sub.inputs[0], feeder(sub, 1, "ReduceMean"), feeder(root, 0, "Add")
    if x is None or mean is None or mean.inputs[0] is not x or total is None:
        return Declined("{0!r} is not divided by the root of a sum, or is no deviation from a mean", x)
    term = mean_plus_number(total, facts)
    if term is None:
        return Declined("the root is not that of a ReduceMean plus a positive number")
    variance, epsilon = term
    square = feeder(variance, 0, "Pow", "Mul")
    if square is None or not is_square_of(square, div.inputs[0], facts):
        return Declined("what is averaged under the root is not the square of the deviation")
    inner = (mean, square, variance, total, root, div)
    if not all(is_private(n.outputs[0], 1) for n in inner) or not is_private(sub.outputs[0], 2):
        return Declined("an inner value of the normalization of {0!r} has another reader", x)
    axis = first_averaged_axis(mean, x, facts)
    if axis is None or axis != first_averaged_axis(variance, x, facts):
        return Declined("{0!r} is not averaged over its last axes, all static, with their places kept", x)
    shape = facts.shape(x)
    if facts.dtype(x) != FLOAT or shape is None or facts.shape(scale) != shape[axis:]:
        return Declined("{0!r} is not float32, or the scale {1!r} has not the normalized shape", x, scale)
    attributes = {"axis": axis - len(shape), "epsilon": epsilon}
    spec = NodeSpec("LayerNormalization", (x, scale), attributes, like=node)
    return replace(node, spec, "deviation by root of variance, scaled, is LayerNormalization")


RULE = Rule(
    id="fuse-layer-normalization",
    family="norm",
    roots=("Mul",),
    since_opset=17,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"large"}),
    propose=propose,
    looks_far=True,
)
