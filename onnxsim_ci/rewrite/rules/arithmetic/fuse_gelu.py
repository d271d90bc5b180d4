"""Replace x * 0.5 * (1 + erf(x / sqrt(2))), or its tanh form, by Gelu.

The operator is defined as these products, in any grouping; its constants are more precise than those of the
float32 model. Declined for other constants (beyond 1e-6 of their size), for another element type than
float32, when a constant widens the result, and when an inner value has another reader.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/arithmetic/fuse_gelu.md; then `make docs`.
"""

from __future__ import annotations

from math import pi, sqrt

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.element_types import FLOAT
from onnxsim_ci.rewrite.patterns import feeder, only_reader

SAME = 1e-6
CUBIC = 0.044715


def propose(node: Node, facts: Facts) -> Edit | Declined:
    factors = _factors(node)
    halves = [v for v in factors if _is(v, 0.5, facts)]
    rest = [v for v in factors if v not in halves]
    if len(halves) != 1 or len(rest) != 2:
        return Declined("it is no product of two values and one half")
    for x, other in (rest, rest[::-1]):
        bent = _minus_one(other, facts)
        form = None if bent is None or bent.scope is not node.scope else _form(bent, x, facts)
        if form is None:
            continue
        output = node.outputs[0]
        if facts.dtype(x) != FLOAT or output is None or not facts.same_shape(x, output):
            return Declined("{0!r} is not float32, or the result has another shape", x)
        spec = NodeSpec("Gelu", (x,), {"approximate": "tanh"} if form == "Tanh" else {}, like=node)
        return replace(node, spec, "half of x times one plus a bent x is Gelu")
    return Declined("no factor is one plus Erf or Tanh of the other as Gelu has it")


def _factors(node: Node) -> list[Value]:
    """The operands of a Mul, those of a Mul that only it reads in their place."""
    found: list[Value] = []
    for index, value in enumerate(node.inputs):
        inner = feeder(node, index, "Mul")
        own = inner is not None and value is not None and value.single_reader and len(found) < 2
        found += [v for v in (inner.inputs if own and inner is not None else (value,)) if v is not None]
    return found


def _is(value: Value | None, number: float, facts: Facts) -> bool:
    """True for a constant that is `number`, but for the rounding of its type."""
    found = None if value is None or not value.is_constant else facts.scalar(value)
    return found is not None and abs(found - number) <= SAME * abs(number)


def _minus_one(value: Value, facts: Facts) -> Node | None:
    """The Erf or Tanh that is `value` - 1; both have one reader."""
    add = facts.producer(value, "Add")
    if add is None or not value.single_reader:
        return None
    for index in (0, 1):
        bent, result = feeder(add, index, "Erf", "Tanh"), add.inputs[index]
        if bent is not None and result is not None and result.single_reader:
            return bent if _is(add.inputs[1 - index], 1.0, facts) else None
    return None


def _form(bent: Node, x: Value, facts: Facts) -> str | None:
    """Erf or Tanh, when its argument is what Gelu of `x` wants."""
    argument = bent.inputs[0]
    scaled = feeder(bent, 0, "Mul", "Div")
    if scaled is None or argument is None or not argument.single_reader:
        return None
    if bent.op_type == "Erf":
        number = sqrt(2) if scaled.op_type == "Div" else sqrt(0.5)
        return "Erf" if _is_scaled(scaled, number, facts) is x else None
    inner = _is_scaled(scaled, sqrt(2 / pi), facts) if scaled.op_type == "Mul" else None
    add = None if inner is None else facts.producer(inner, "Add")
    if inner is None or add is None or add.scope is not bent.scope or not inner.single_reader:
        return None
    for index in (0, 1):
        term = feeder(add, index, "Mul")
        value = add.inputs[index]
        if term is None or add.inputs[1 - index] is not x or value is None or not value.single_reader:
            continue
        cube = _is_scaled(term, CUBIC, facts)
        if cube is not None and _is_cube(cube, x, facts):
            return "Tanh"
    return None


def _is_scaled(node: Node, number: float, facts: Facts) -> Value | None:
    """The operand of a Mul by `number`, or of a Div by it."""
    for index in (1, 0) if node.op_type == "Mul" else (1,):
        if _is(node.inputs[index], number, facts):
            return node.inputs[1 - index]
    return None


def _is_cube(value: Value, x: Value, facts: Facts) -> bool:
    node, reader = facts.producer(value, "Pow", "Mul"), only_reader(value)
    if node is None or reader is None or reader.scope is not node.scope:
        return False
    if node.op_type == "Pow":
        return node.inputs[0] is x and _is(node.inputs[1], 3.0, facts)
    for index in (0, 1):
        square, result = feeder(node, index, "Mul", "Pow"), node.inputs[index]
        if square is None or node.inputs[1 - index] is not x or result is None or not result.single_reader:
            continue
        twice = square.inputs[1] is x if square.op_type == "Mul" else _is(square.inputs[1], 2.0, facts)
        return square.inputs[0] is x and twice
    return False


RULE = Rule(
    id="fuse-gelu",
    family="arithmetic",
    roots=("Mul",),
    since_opset=20,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"saturation", "large"}),
    propose=propose,
    looks_far=True,
)
