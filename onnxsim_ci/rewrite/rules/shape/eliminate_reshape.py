"""Drop a Reshape, Flatten, Squeeze or Unsqueeze whose result has the shape of its input.

All four keep the elements in order, so equal shapes mean equal tensors, empty ones included.
For Reshape one pair of dims may be equal by the dim names of the inputs alone: other sizes would change the
number of elements and fail.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/shape/eliminate_reshape.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.dim import is_positive
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
    return _by_claim(node, facts, source, result)


def _by_claim(node: Node, facts: Facts, source: Value, result: Value) -> Edit | Declined:
    before, after = facts.shape(source), facts.shape(result)
    assert before is not None
    assert after is not None
    if node.op_type != "Reshape" or len(before) != len(after):
        return Declined("the result may have another shape than {0!r}", source)
    pairs = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    if len(pairs) != 1 or not facts.claimed_equal(*pairs[0]):
        return Declined("the result may have another shape than {0!r}", source)
    if not all(is_positive(a) for a, b in zip(before, after, strict=True) if a == b):
        return Declined("{0!r} may be empty, then other sizes fit too", source)
    return replace(
        node, source, f"the result has the shape of the input; assumed: {facts.assumed(*pairs[0])}"
    )


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
