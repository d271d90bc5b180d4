"""Drop an Expand to the shape that its input has.

Declined unless both shapes are known and equal for every input: two axes of the same dim name are no proof
here, because Expand would also run with other sizes.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/shape/eliminate_expand.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace


def propose(node: Node, facts: Facts) -> Edit | Declined:
    source, target, result = node.inputs[0], node.inputs[1], node.outputs[0]
    if source is None or target is None or result is None:
        return Declined("an input is absent")
    if facts.same_shape(source, result):
        return replace(node, source, "the result has the shape of the input")
    sizes, rank = facts.known(target), facts.rank(source)
    if sizes is not None and rank is not None and len(sizes) <= rank and set(sizes) <= {1}:
        return replace(node, source, "expanding by ones changes nothing")
    return Declined("the result may be larger than {0!r}", source)


RULE = Rule(
    id="eliminate-expand",
    family="shape",
    roots=("Expand",),
    since_opset=8,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"batch_one", "empty"}),
    propose=propose,
)
