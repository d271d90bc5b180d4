"""Replace Clip(x + b, 0, m) / m by HardSigmoid, also with a factor between Clip and Div.

max(0, min(m, x + b)) / m = max(0, min(1, x / m + b / m)) for m > 0. Declined for other bounds, for a term
beyond four bounds, where digits of x + b would be lost, for another element type than float32, and when an
inner value has another reader.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/arithmetic/fuse_hard_sigmoid.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.element_types import FLOAT
from onnxsim_ci.rewrite.patterns import feeder

LARGEST, SMALLEST, SAME = 2.0**20, 2.0**-20, 1e-6
FARTHEST = 4.0
"""Size of the term, in bounds."""


def propose(node: Node, facts: Facts) -> Edit | Declined:
    for index in (0, 1) if node.op_type == "Mul" else (0,):
        inner, constant = feeder(node, index, "Clip", "Mul"), node.inputs[1 - index]
        if inner is None or constant is None or not constant.is_constant or facts.rank(constant) != 0:
            continue
        number = facts.scalar(constant)
        if not number:
            continue
        divisor = float(number) if node.op_type == "Div" else 1.0 / number
        return _fused(node, inner, divisor, facts)
    return Declined("it scales no Clip, or not by one number")


def _fused(node: Node, inner: Node, divisor: float, facts: Facts) -> Edit | Declined:
    clip, factor = (inner, None) if inner.op_type == "Clip" else _factored(inner)
    if clip is None:
        return Declined("no operand of the product is a Clip")
    add = feeder(clip, 0, "Add")
    low, high = _bounds(clip, facts)
    if low != 0 or high is None or not SMALLEST <= high <= LARGEST or abs(high / divisor - 1) > SAME:
        return Declined("the bounds of the Clip are not 0 and the divisor")
    term = None if add is None else _term(add, facts)
    if add is None or term is None:
        return Declined("the Clip is not of a sum with one number")
    x, number = term
    inner_values = [add.outputs[0], clip.outputs[0], inner.outputs[0]]
    if not all(v is not None and v.single_reader for v in inner_values):
        return Declined("an inner value over {0!r} has another reader", x)
    if facts.dtype(x) != FLOAT or abs(number) > FARTHEST * high:
        return Declined("{0!r} is not float32, or the term is too large", x)
    spec = NodeSpec("HardSigmoid", (x,), {"alpha": 1.0 / high, "beta": number / high})
    whole = spec if factor is None else NodeSpec("Mul", (factor, spec))
    return replace(node, whole, "a clipped sum, scaled to 0 and 1, is HardSigmoid")


def _factored(product: Node) -> tuple[Node | None, Value | None]:
    """The Clip of a product and its other factor."""
    for index in (0, 1):
        clip = feeder(product, index, "Clip")
        if clip is not None and product.inputs[1 - index] is not product.inputs[index]:
            return clip, product.inputs[1 - index]
    return None, None


def _bounds(clip: Node, facts: Facts) -> tuple[float | None, float | None]:
    """Lower and upper bound: attributes below opset 11, inputs from there on; None where unknown."""
    if len(clip.inputs) == 1:
        return clip.attribute("min"), clip.attribute("max")
    low, high = clip.input(1), clip.input(2)
    return (None if v is None else facts.scalar(v) for v in (low, high))  # type: ignore[return-value]


def _term(add: Node, facts: Facts) -> tuple[Value, float] | None:
    """The value and the number of a sum; the number has no axes."""
    for index in (0, 1):
        x, other = add.inputs[index], add.inputs[1 - index]
        number = None if other is None else facts.scalar(other)
        if x is not None and other is not None and number is not None and facts.rank(other) == 0:
            return x, float(number)
    return None


RULE = Rule(
    id="fuse-hard-sigmoid",
    family="arithmetic",
    roots=("Div", "Mul"),
    since_opset=7,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"saturation", "large"}),
    propose=propose,
    looks_far=True,
)
