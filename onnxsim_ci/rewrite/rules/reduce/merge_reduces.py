"""Replace a reduction of a reduction by one over the axes of both.

Sums, products, largest and smallest elements, and means over a grid do not depend on the grouping but for
rounding. Declined when only the outer one keeps its axes, when the inner result has another reader, and for
axes that are not known.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/reduce/merge_reduces.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, ResultClass, Rule, replace
from onnxsim_ci.rewrite.element_types import DOUBLE, FLOAT
from onnxsim_ci.rewrite.patterns import feeder, with_axes


def propose(node: Node, facts: Facts) -> Edit | Declined:
    inner = feeder(node, 0, node.op_type)
    middle = node.inputs[0]
    if inner is None or middle is None or inner.inputs[0] is None:
        return Declined("its input does not come from a reduction of its own kind")
    x = inner.inputs[0]
    shape = facts.shape(x)
    if shape is None or facts.dtype(x) not in (FLOAT, DOUBLE):
        return Declined("the rank of {0!r} is not known, or it is not float32 or float64", x)
    keeps = bool(inner.attribute("keepdims", 1))
    if keeps != bool(node.attribute("keepdims", 1)):
        return Declined("only one of the reductions of {0!r} keeps its axes", x)
    first = facts.axes(inner, len(shape))
    second = None if first is None else facts.axes(node, len(shape) if keeps else len(shape) - len(first))
    if not first or not second:
        return Declined("the axes of both reductions of {0!r} are not known", x)
    if not middle.single_reader:
        return Declined("the inner result {0!r} has another reader", middle)
    left = [a for a in range(len(shape)) if keeps or a not in first]
    axes = tuple(sorted({*first, *(left[a] for a in second)}))
    return replace(node, with_axes(node, x, axes), "reduced at once over the axes of both")


RULE = Rule(
    id="merge-reduces",
    family="reduce",
    roots=("ReduceMax", "ReduceMin", "ReduceMean", "ReduceSum", "ReduceProd"),
    since_opset=7,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"large"}),
    propose=propose,
)
