"""Replace CastLike by Cast, or by nothing, when the target's element type is known.

CastLike reads only the type of its second operand; `saturate` and `round_mode` carry over.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/elementwise/convert_castlike_to_cast.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, NodeSpec, ResultClass, Rule, replace


def propose(node: Node, facts: Facts) -> Edit | Declined:
    source, like = node.inputs[0], node.inputs[1]
    if source is None or like is None:
        return Declined("an input is absent")
    target = facts.dtype(like)
    if target <= 0:
        return Declined("the element type of {0!r} is not known", like)
    if facts.dtype(source) == target:
        return replace(node, source, "both operands have one element type")
    carried = {name: node.attribute(name) for name in ("saturate", "round_mode")}
    spec = NodeSpec("Cast", (source,), {"to": target, **carried}, like=node)
    return replace(node, spec, "the target's element type is known")


RULE = Rule(
    id="convert-castlike-to-cast",
    family="elementwise",
    roots=("CastLike",),
    since_opset=15,
    result=ResultClass.EXACT,
    lowers=Lowers.RANK,
    propose=propose,
)
