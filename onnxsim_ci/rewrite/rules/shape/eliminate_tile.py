"""Drop a Tile that repeats each axis once.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/shape/eliminate_tile.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace


def propose(node: Node, facts: Facts) -> Edit | Declined:
    source, repeats = node.inputs[0], node.inputs[1]
    counts = None if repeats is None else facts.known(repeats)
    if source is None or counts is None:
        return Declined("the repeats are not known")
    if any(count != 1 for count in counts):
        return Declined("an axis is repeated")
    return replace(node, source, "each axis is repeated once")


RULE = Rule(
    id="eliminate-tile",
    family="shape",
    roots=("Tile",),
    since_opset=6,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    propose=propose,
)
