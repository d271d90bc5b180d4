"""Drop a reduction that reduces nothing.

With `noop_with_empty_axes` and no axes ReduceSum, ReduceMean, ReduceMax, ReduceMin and ReduceProd copy their
input. Over axes of size 1 that stay, ReduceMax, ReduceMin and ReduceProd do too; a sum may turn -0 into +0,
so it stays. The other reductions compute something even from one element.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/reduce/eliminate_reduce.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace


def propose(node: Node, facts: Facts) -> Edit | Declined:
    source = node.inputs[0]
    if source is None:
        return Declined("its input is absent")
    axes_input = node.input(1)
    given = node.attribute("axes")
    if given is None and axes_input is not None:
        given = facts.known(axes_input)
        if given is None:
            return Declined("the axes {0!r} are not known", axes_input)
    if not given:
        if node.attribute("noop_with_empty_axes", 0):
            return replace(node, source, "no axes and noop_with_empty_axes copy the input")
        return Declined("without axes it reduces all of them")
    if node.op_type in ("ReduceSum", "ReduceMean"):
        return Declined("a sum may change the sign of zero")
    shape = facts.shape(source)
    if not node.attribute("keepdims", 1) or shape is None:
        return Declined("it drops axes, or the shape of {0!r} is not known", source)
    axes = facts.axes(node, len(shape))
    if axes is None or any(shape[axis] != 1 for axis in axes):
        return Declined("an axis has not size 1")
    return replace(node, source, "every reduced axis has size 1 and stays")


RULE = Rule(
    id="eliminate-reduce",
    family="reduce",
    roots=("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"),
    since_opset=1,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"nan", "negative_zero", "infinity"}),
    propose=propose,
)
