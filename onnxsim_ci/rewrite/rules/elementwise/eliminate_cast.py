"""Drop a Cast to the element type that its input has already.

The conversion of a type to itself is a copy. The input's type must follow from the graph: a value_info is a
claim.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/elementwise/eliminate_cast.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace


def propose(node: Node, facts: Facts) -> Edit | Declined:
    source = node.inputs[0]
    if source is None:
        return Declined("its input is absent")
    dtype = facts.dtype(source)
    if dtype <= 0:
        return Declined("the element type of {0!r} is not known", source)
    if dtype != node.attribute("to"):
        return Declined("it changes the element type of {0!r}", source)
    return replace(node, source, "the input has the target's element type")


RULE = Rule(
    id="eliminate-cast",
    family="elementwise",
    roots=("Cast",),
    since_opset=6,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    propose=propose,
)
