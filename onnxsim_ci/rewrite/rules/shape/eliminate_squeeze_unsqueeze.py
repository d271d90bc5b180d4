"""Drop a Squeeze and an Unsqueeze of the same axes, in either order.

Unsqueeze adds axes of size 1 and Squeeze takes the same ones away; the other way round Squeeze has already
demanded that they have size 1. Declined when the axes are not given: Squeeze then depends on the sizes at run
time.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/shape/eliminate_squeeze_unsqueeze.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace
from onnxsim_ci.rewrite.patterns import feeder

OTHER = {"Squeeze": "Unsqueeze", "Unsqueeze": "Squeeze"}


def propose(node: Node, facts: Facts) -> Edit | Declined:
    inner = feeder(node, 0, OTHER[node.op_type])
    if inner is None or inner.inputs[0] is None:
        return Declined("its input does not come from the opposite operator")
    source = inner.inputs[0]
    rank = facts.rank(source)
    if rank is None:
        return Declined("the rank of {0!r} is not known", source)
    if node.op_type == "Squeeze":
        added = facts.axes(inner, rank + _count(inner, facts))
        removed = facts.axes(node, rank + _count(inner, facts))
    else:
        removed = facts.axes(inner, rank)
        added = facts.axes(node, rank)
    if added is None or removed is None:
        return Declined("the axes are not given as constants")
    if set(added) != set(removed):
        return Declined("the two act on different axes")
    return replace(node, source, "the second one undoes the first")


def _count(node: Node, facts: Facts) -> int:
    """Number of axes that an Unsqueeze adds; 0 when unknown, for which no axes fit."""
    axes = node.attribute("axes")
    if axes is None and (value := node.input(1)) is not None:
        axes = facts.known(value)
    return len(axes) if axes is not None else 0


RULE = Rule(
    id="eliminate-squeeze-unsqueeze",
    family="shape",
    roots=("Squeeze", "Unsqueeze"),
    since_opset=1,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    propose=propose,
)
