"""Take outputs that nothing reads away from an If and from both of its branches.

What only such an output needs inside a branch goes with it; the other outputs are computed as before.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/control_flow/eliminate_branch_output.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule
from onnxsim_ci.rewrite.patterns import used_outputs


def propose(node: Node, facts: Facts) -> Edit | Declined:
    used = used_outputs(node)
    if len(used) == len(node.outputs):
        return Declined("all its outputs are read")
    if any(len(body.outputs) != len(node.outputs) for body in node.subgraphs):
        return Declined("its branches have more outputs than it names")
    unused = tuple(i for i in range(len(node.outputs)) if i not in used)
    return Edit("nothing reads these outputs", unlist=unused)


RULE = Rule(
    id="eliminate-branch-output",
    family="control_flow",
    roots=("If",),
    since_opset=1,
    result=ResultClass.EXACT,
    lowers=Lowers.BYTES,
    propose=propose,
)
