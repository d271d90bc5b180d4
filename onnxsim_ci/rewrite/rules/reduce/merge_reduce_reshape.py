"""Let a reduction drop or keep its axes itself instead of a Squeeze, Unsqueeze or Reshape behind it.

`keepdims` says whether reduced axes stay with size 1; no number depends on it. A kernel may be another one,
so the class is ROUNDING. Declined when the shape behind is not that of the other setting, and when the
reduced value has another reader.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/reduce/merge_reduce_reshape.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.transfer.reduction import REDUCTIONS, reduced_axes
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.patterns import feeder


def propose(node: Node, facts: Facts) -> Edit | Declined:
    inner = feeder(node, 0, *REDUCTIONS)
    middle, result = node.inputs[0], node.outputs[0]
    if inner is None or middle is None or result is None or not middle.single_reader:
        return Declined("its input is no reduction for it alone")
    source = inner.inputs[0]
    shape, after = None if source is None else facts.shape(source), facts.shape(result)
    axes = None if shape is None else reduced_axes(inner, facts, len(shape))
    if shape is None or not axes or after is None:
        return Declined("the axes of the reduction, or the shape of the result are not known")
    is_kept = bool(inner.attribute("keepdims", 1))
    dropped = tuple(d for i, d in enumerate(shape) if i not in axes)
    kept = tuple(1 if i in axes else d for i, d in enumerate(shape))
    if after != (dropped if is_kept else kept):
        return Declined("the shape behind is not that of the reduction with the other keepdims")
    spec = NodeSpec(inner.op_type, tuple(inner.inputs), {"keepdims": int(not is_kept)}, like=inner)
    return replace(node, spec, "the reduction gives this shape itself")


RULE = Rule(
    id="merge-reduce-reshape",
    family="reduce",
    roots=("Squeeze", "Unsqueeze", "Reshape", "Flatten"),
    since_opset=1,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    propose=propose,
)
