"""Drop the second of two equal Relu, Abs, Ceil, Floor, Round or Sign nodes.

Their results are fixed points of the same function, element by element and bit by bit.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/elementwise/merge_idempotent.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace
from onnxsim_ci.rewrite.patterns import feeder


def propose(node: Node, facts: Facts) -> Edit | Declined:
    inner = feeder(node, 0, node.op_type)
    if inner is None or node.inputs[0] is None:
        return Declined("its input does not come from a node of its own kind")
    return replace(node, node.inputs[0], "its input is a fixed point of it")


RULE = Rule(
    id="merge-idempotent",
    family="elementwise",
    roots=("Relu", "Abs", "Ceil", "Floor", "Round", "Sign"),
    since_opset=6,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"negative_zero", "nan", "infinity", "integer_extremes"}),
    propose=propose,
)
