"""Drop a Transpose that leaves every axis where it is.

Also one without `perm` of a scalar or a vector: reversing at most one axis changes nothing.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/layout/eliminate_transpose.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace


def propose(node: Node, facts: Facts) -> Edit | Declined:
    source = node.inputs[0]
    if source is None:
        return Declined("its input is absent")
    perm = node.attribute("perm")
    if perm is None:
        rank = facts.rank(source)
        if rank is None or rank > 1:
            return Declined("without perm it reverses the axes of {0!r}", source)
    elif any(axis != place for place, axis in enumerate(perm)):
        return Declined("perm moves an axis")
    return replace(node, source, "every axis stays where it is")


RULE = Rule(
    id="eliminate-transpose",
    family="layout",
    roots=("Transpose",),
    since_opset=1,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    propose=propose,
)
