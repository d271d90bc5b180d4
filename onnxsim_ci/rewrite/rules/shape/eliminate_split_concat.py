"""Drop a Concat that puts all parts of a Split, or adjoining Slices of a whole axis, together again.

The parts are in order, along the same axis, and nothing is missing or twice, so the elements come back as
they were.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/shape/eliminate_split_concat.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.transfer.slicing import slice_parameters
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace
from onnxsim_ci.rewrite.patterns import feeder


def propose(node: Node, facts: Facts) -> Edit | Declined:
    split = feeder(node, 0, "Split")
    if split is not None:
        return _split(node, split, facts)
    if feeder(node, 0, "Slice") is not None:
        return _slices(node, facts)
    return Declined("its first operand comes from no Split or Slice")


def _split(node: Node, split: Node, facts: Facts) -> Edit | Declined:
    source = split.inputs[0]
    rank = None if source is None else facts.rank(source)
    if source is None or rank is None:
        return Declined("the rank of {0!r} is not known", source)
    if node.inputs != split.outputs or node.attribute("axis") % rank != split.attribute("axis", 0) % rank:
        return Declined("the operands are not all parts of the Split in order")
    return replace(node, source, "all parts of the Split, in order")


def _slices(node: Node, facts: Facts) -> Edit | Declined:
    first = feeder(node, 0, "Slice")
    source = first.inputs[0] if first is not None else None
    shape = None if source is None else facts.shape(source)
    if source is None or shape is None:
        return Declined("the rank of {0!r} is not known", source)
    axis = node.attribute("axis") % len(shape)
    length = shape[axis]
    if not isinstance(length, int):
        return Declined("the size of axis {0} is not static", axis)
    place = 0
    for index in range(len(node.inputs)):
        part = _part(feeder(node, index, "Slice"), source, axis, facts)
        if part is None or part[0] != place or not place <= part[1] <= length:
            return Declined("operand {0} does not go on where the one before ends", index)
        place = part[1]
    if place != length:
        return Declined("the slices leave the end of the axis out")
    return replace(node, source, "adjoining slices of the whole axis, in order")


def _part(node: Node | None, source: Value, axis: int, facts: Facts) -> tuple[int, int] | None:
    """(start, end) of the part of `source` that a Slice holds; None when it is no plain slice of `axis`."""
    shape = facts.shape(source)
    if node is None or node.inputs[0] is not source or shape is None:
        return None
    parameters = slice_parameters(node, facts, len(shape))
    if parameters is None or set(parameters) != {axis}:
        return None
    start, end, step = parameters[axis]
    length = shape[axis]
    if step != 1 or not (isinstance(start, int) and isinstance(end, int) and isinstance(length, int)):
        return None
    return (start + length if start < 0 else start, end + length if end < 0 else min(end, length))


RULE = Rule(
    id="eliminate-split-concat",
    family="shape",
    roots=("Concat",),
    since_opset=4,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    propose=propose,
    looks_far=True,
)
