"""Let the readers of an Identity read its input.

Identity copies its operand, whatever its type, so nothing is computed and the result is bit-identical.
An Identity between a graph input (or an initializer) and a graph output stays: both names are interface.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/elementwise/eliminate_identity.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace


def propose(node: Node, facts: Facts) -> Edit | Declined:
    source = node.inputs[0]
    if source is None:
        return Declined("its input is absent")
    return replace(node, source, "Identity copies its input")


RULE = Rule(
    id="eliminate-identity",
    family="elementwise",
    roots=("Identity",),
    since_opset=1,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    propose=propose,
)
