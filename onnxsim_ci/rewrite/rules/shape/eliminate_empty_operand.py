"""Leave operands out of a Concat that add nothing to the joined axis.

An operand whose size along that axis is 0 holds no element. Declined when only the other axes may be empty:
such an operand makes the result longer.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/shape/eliminate_empty_operand.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, NodeSpec, ResultClass, Rule, replace


def propose(node: Node, facts: Facts) -> Edit | Declined:
    axis = node.attribute("axis", 1)
    shapes = [None if v is None else facts.shape(v) for v in node.inputs]
    kept = tuple(
        v
        for v, shape in zip(node.inputs, shapes, strict=True)
        if not shape or not -len(shape) <= axis < len(shape) or shape[axis] != 0
    )
    if len(kept) == len(node.inputs):
        return Declined("no operand is known to add nothing")
    if not kept:
        return Declined("every operand is empty")
    why = "an operand of size 0 along the joined axis adds nothing"
    if len(kept) == 1:
        return replace(node, kept[0], why)
    return replace(node, NodeSpec("Concat", kept, {"axis": axis}, like=node), why)


RULE = Rule(
    id="eliminate-empty-operand",
    family="shape",
    roots=("Concat",),
    since_opset=4,
    result=ResultClass.EXACT,
    lowers=Lowers.RANK,
    hazards=frozenset({"empty", "batch_one"}),
    propose=propose,
)
