"""Drop a Slice that reads whole axes.

Start 0, step 1 and an end at or beyond the axis copy the tensor. An end of -1 leaves the last element out,
and a negative step flips: both stay. Declined when a start or an end is not known.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/shape/eliminate_slice.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.transfer.slicing import slice_parameters, sliced_length
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace


def propose(node: Node, facts: Facts) -> Edit | Declined:
    source = node.inputs[0]
    shape = None if source is None else facts.shape(source)
    if source is None or shape is None:
        return Declined("the rank of {0!r} is not known", source)
    parameters = slice_parameters(node, facts, len(shape))
    if parameters is None:
        return Declined("starts, ends or axes are not known")
    for axis, (start, end, step) in parameters.items():
        if step != 1 or start is None or end is None:
            return Declined("axis {0} is read with a step, or from an unknown place", axis)
        length = shape[axis]
        begins = start == 0 or (isinstance(start, int) and isinstance(length, int) and start <= -length)
        if not begins or sliced_length(length, start, end, step) != length:
            return Declined("axis {0} may not be read whole", axis)
    return replace(node, source, "every axis is read whole")


RULE = Rule(
    id="eliminate-slice",
    family="shape",
    roots=("Slice",),
    since_opset=1,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"empty", "batch_one"}),
    propose=propose,
)
