"""Let a Reshape read what a Reshape, Flatten, Squeeze or Unsqueeze before it reads.

All of them keep the elements in order, so only the last target counts. A 0 in it copies a size of the middle
shape: it stays only where the first input has the same size on that axis, or becomes the number when that is
known. Declined when the middle result has another reader: nothing would be saved.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/shape/merge_reshapes.md; then `make docs`.
"""

from __future__ import annotations

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.dim import is_positive
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, NodeSpec, Operand, ResultClass, Rule, replace
from onnxsim_ci.rewrite.patterns import feeder, target_elements

MOVES = ("Reshape", "Flatten", "Squeeze", "Unsqueeze")


WHY = "both keep the elements in order, so only the last shape counts"


def propose(node: Node, facts: Facts) -> Edit | Declined:
    inner = feeder(node, 0, *MOVES)
    middle = node.inputs[0]
    if inner is None or middle is None or inner.inputs[0] is None:
        return Declined("its input does not come from a reshape-like node")
    if not middle.single_reader:
        return Declined("middle result {0!r} has another reader", middle)
    source = inner.inputs[0]
    target = _static_target(node, facts) if node.op_type != "Reshape" else _target(node, facts, source)
    if isinstance(target, Declined):
        return target
    return replace(node, NodeSpec("Reshape", (source, target), like=node), WHY)


def _static_target(node: Node, facts: Facts) -> Operand | Declined:
    """The shape of a result that no Reshape makes."""
    result = node.outputs[0]
    static = None if result is None else facts.static_shape(result)
    if static is None or 0 in static or not static:
        return Declined("the shape of the result is not static and positive")
    return np.array(static, np.int64)


def _target(node: Node, facts: Facts, source: Value) -> Operand | Declined:
    """The target of the last Reshape, its zeros resolved for `source`."""
    target = node.inputs[1]
    sizes = None if target is None or not target.is_constant else facts.known(target)
    if target is None or sizes is None:
        elements = target_elements(node, facts)
        if target is None or elements is None or not all(e == -1 or is_positive(e) for e in elements):
            return Declined("the target {0!r} is computed and may hold a 0", target)
        return target
    if node.attribute("allowzero", 0) and 0 in sizes:
        return Declined("the target {0!r} holds a 0 under allowzero", target)
    resolved: list[int] = []
    for axis, size in enumerate(sizes):
        kept = _copied_size(node, facts, source, axis) if size == 0 else size
        if kept is None:
            return Declined("size {0} of the target copies a size that {1!r} may not have", axis, source)
        resolved.append(kept)
    return target if tuple(resolved) == sizes else np.array(resolved, np.int64)


def _copied_size(node: Node, facts: Facts, source: Value, axis: int) -> int | None:
    """What stands for a 0 when `source` is read: the number, 0 again, or None when neither is sure."""
    middle = node.inputs[0]
    between = None if middle is None else facts.shape(middle)
    before = facts.shape(source)
    copied = between[axis] if between is not None and axis < len(between) else None
    if isinstance(copied, int) and copied > 0:
        return copied
    if copied is None or before is None or axis >= len(before) or before[axis] != copied:
        return None
    return 0


RULE = Rule(
    id="merge-reshapes",
    family="shape",
    roots=("Reshape", "Flatten", "Squeeze", "Unsqueeze"),
    since_opset=5,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"empty", "batch_one"}),
    propose=propose,
)
