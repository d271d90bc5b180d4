"""Drop a Reshape, Flatten, Squeeze or Unsqueeze whose result has the shape of its input.

All four keep the elements in order, so equal shapes mean equal tensors, empty ones included.
All sizes but one proven equal, and at least 1, are enough: with another size there the number of elements
would differ and the operator fail.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/shape/eliminate_reshape.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.dim import Shape, is_positive
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace


def propose(node: Node, facts: Facts) -> Edit | Declined:
    source, result = node.inputs[0], node.outputs[0]
    if source is None or result is None:
        return Declined("its input is absent")
    before, after = facts.shape(source), facts.shape(result)
    if before is None or after is None:
        return Declined("the shape of {0!r} or of the result is not known", source)
    if before == after:
        return replace(node, source, "the result has the shape of the input")
    return _by_count(node, source, before, after)


def _by_count(node: Node, source: Value, before: Shape, after: Shape) -> Edit | Declined:
    others = [a for a, b in zip(before, after, strict=False) if a == b]
    if len(before) != len(after) or len(others) != len(before) - 1:
        return Declined("the result may have another shape than {0!r}", source)
    if not all(is_positive(size) for size in others):
        return Declined("{0!r} may be empty, then any size fits", source)
    return replace(node, source, "all sizes but one are the input's, and so is their product")


RULE = Rule(
    id="eliminate-reshape",
    family="shape",
    roots=("Reshape", "Flatten", "Squeeze", "Unsqueeze"),
    since_opset=1,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"empty", "batch_one"}),
    propose=propose,
)
