"""Drop a Pad that adds nothing.

With all pads 0 every mode copies its input.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/shape/eliminate_pad.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.transfer.reading import numbers_of
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace


def propose(node: Node, facts: Facts) -> Edit | Declined:
    source = node.inputs[0]
    pads = numbers_of(node, facts, "pads", 1)
    if source is None or pads is None:
        return Declined("the pads are not known")
    if any(pads):
        return Declined("a pad is not 0")
    return replace(node, source, "all pads are 0")


RULE = Rule(
    id="eliminate-pad",
    family="shape",
    roots=("Pad",),
    since_opset=2,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    propose=propose,
)
