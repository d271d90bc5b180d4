"""Replace two chained Transpose nodes by one, or by nothing when they cancel.

Transpose(Transpose(x, p), q) reads axis p[q[i]] of x at output axis i; no element is computed.
Declined when the inner result has another reader and they do not cancel: the node count would not fall.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/layout/merge_transposes.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.patterns import feeder


def propose(node: Node, facts: Facts) -> Edit | Declined:
    inner = feeder(node, 0, "Transpose")
    middle = node.inputs[0]
    if inner is None or middle is None or inner.inputs[0] is None:
        return Declined("its input does not come from a Transpose")
    first, second = _perm(inner, facts), _perm(node, facts)
    if first is None or second is None or len(first) != len(second):
        return Declined("the rank of {0!r} is not known and perm is not given", middle)
    perm = tuple(first[axis] for axis in second)
    if perm == tuple(range(len(perm))):
        return replace(node, inner.inputs[0], "the second one undoes the first")
    if not middle.single_reader:
        return Declined("inner result {0!r} has another reader", middle)
    spec = NodeSpec("Transpose", (inner.inputs[0],), {"perm": perm}, like=node)
    return replace(node, spec, "two permutations are one")


def _perm(node: Node, facts: Facts) -> tuple[int, ...] | None:
    perm: tuple[int, ...] | None = node.attribute("perm")
    if perm is None and node.inputs[0] is not None:
        rank = facts.rank(node.inputs[0])
        perm = None if rank is None else tuple(reversed(range(rank)))
    return perm


RULE = Rule(
    id="merge-transposes",
    family="layout",
    roots=("Transpose",),
    since_opset=1,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    propose=propose,
)
