"""Put the branch that an If always takes in its place.

The condition is a constant, so the other branch never runs. Names of the branch that occur elsewhere are
renamed. Declined when the condition is not a constant of one element, or an input that callers may override.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/control_flow/eliminate_if.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule


def propose(node: Node, facts: Facts) -> Edit | Declined:
    condition = node.inputs[0]
    truth = None if condition is None else facts.array(condition, 1)
    if truth is None or truth.size != 1:
        return Declined("the condition {0!r} is not a constant", condition)
    wanted = "then_branch" if bool(truth.reshape(())) else "else_branch"
    branches = [a.name for a in node.proto.attribute if a.name in ("then_branch", "else_branch")]
    if len(branches) != len(node.subgraphs) or wanted not in branches:
        return Declined("it has not two branches")
    body = node.subgraphs[branches.index(wanted)]
    if body.sparse_count:
        return Declined("the branch of {0!r} holds sparse initializers", condition)
    return Edit("the condition is constant", splice=body)


RULE = Rule(
    id="eliminate-if",
    family="control_flow",
    roots=("If",),
    since_opset=1,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    propose=propose,
)
