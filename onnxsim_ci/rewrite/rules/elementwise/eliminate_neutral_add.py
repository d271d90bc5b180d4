"""Drop x - 0 and x + (-0), and x + 0 for integers.

For floats only these two return x for every x: x + (+0) turns -0 into +0 and x - (-0) does too.
Declined when the neutral operand widens the result's shape.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/elementwise/eliminate_neutral_add.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.broadcasting import keeps_shape
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace
from onnxsim_ci.rewrite.element_types import FLOATS


def propose(node: Node, facts: Facts) -> Edit | Declined:
    for index in (1, 0) if node.op_type == "Add" else (1,):
        zero, kept = node.inputs[index], node.inputs[1 - index]
        if zero is None or kept is None or not zero.is_constant:
            continue
        if not _is_neutral(node, facts, index):
            continue
        if not keeps_shape(facts, node, kept, zero):
            return Declined("{0!r} may widen the shape of {1!r}", zero, kept)
        return replace(node, kept, "adding this zero returns every number unchanged")
    return Declined("no operand is a constant zero that keeps every number")


def _is_neutral(node: Node, facts: Facts, index: int) -> bool:
    zero = node.inputs[index]
    assert zero is not None
    if facts.dtype(zero) not in FLOATS:
        return facts.is_filled(zero, 0)
    return facts.is_filled(zero, -0.0 if node.op_type == "Add" else 0.0)


RULE = Rule(
    id="eliminate-neutral-add",
    family="elementwise",
    roots=("Add", "Sub"),
    since_opset=7,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"negative_zero", "nan", "infinity"}),
    propose=propose,
)
