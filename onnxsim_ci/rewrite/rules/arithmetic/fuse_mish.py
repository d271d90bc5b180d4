"""Replace x * tanh(softplus(x)) by Mish.

This is the operator's definition; its kernel may round elsewhere. Declined for another element type than
float32 and when an inner value has another reader.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/arithmetic/fuse_mish.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.element_types import FLOAT
from onnxsim_ci.rewrite.patterns import feeder


def propose(node: Node, facts: Facts) -> Edit | Declined:
    for index in (0, 1):
        tanh, x = feeder(node, index, "Tanh"), node.inputs[1 - index]
        softplus = None if tanh is None else feeder(tanh, 0, "Softplus")
        if tanh is None or softplus is None or x is None or softplus.inputs[0] is not x:
            continue
        inner = (tanh.outputs[0], softplus.outputs[0])
        if not all(v is not None and v.single_reader for v in inner):
            return Declined("an inner value over {0!r} has another reader", x)
        if facts.dtype(x) != FLOAT:
            return Declined("{0!r} is not float32", x)
        return replace(node, NodeSpec("Mish", (x,), like=node), "x times tanh(softplus(x)) is Mish")
    return Declined("it is no product of a value and Tanh of its Softplus")


RULE = Rule(
    id="fuse-mish",
    family="arithmetic",
    roots=("Mul",),
    since_opset=18,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"saturation", "large"}),
    propose=propose,
    looks_far=True,
)
