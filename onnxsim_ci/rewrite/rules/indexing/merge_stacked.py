"""Join tensors along an axis that they have and cut it apart, instead of giving each a new axis to join.

The blocks of a joined axis are the rows of the stacked one, when the new axis stands in front of another.
Declined when the shapes are not proven equal, when the new axis is the last one, and when an unsqueezed value
has another reader.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/indexing/merge_stacked.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.dim import Shape
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, NodeSpec, Operand, ResultClass, Rule, replace
from onnxsim_ci.rewrite.movement import reshape_spec, reshape_target
from onnxsim_ci.rewrite.patterns import feeder

MOST_ELEMENTS = 64
"""Constants up to this size are stacked too."""


def propose(node: Node, facts: Facts) -> Edit | Declined:
    rank = None if node.inputs[0] is None else facts.rank(node.inputs[0])
    raised = {v for i, v in enumerate(node.inputs) if _is_raised(node, i)}
    if not rank or rank < 2 or len(raised) < 2:
        return Declined("it does not join several unsqueezed values")
    axis = node.attribute("axis", 1) % rank
    operands: list[Operand] = []
    shape: Shape | None = None
    for index, value in enumerate(node.inputs):
        operand, own = _before(node, index, value, axis, facts)
        if own is None or shape not in (None, own):
            return Declined("operand {0} is not one of equal shapes with the new axis", index)
        operands.append(operand)
        shape = own
    assert shape is not None
    if axis == len(shape):
        return Declined("the new axis is the last one")
    joined = (*shape[:axis], shape[axis] * len(operands), *shape[axis + 1 :])
    target = reshape_target((*shape[:axis], len(operands), *shape[axis:]), joined)
    if target is None:
        return Declined("the shape of the result cannot be written as a constant")
    spec = NodeSpec("Concat", tuple(operands), {"axis": axis}, like=node)
    return replace(node, reshape_spec(spec, target), "the rows of the new axis are blocks of the one behind")


def _is_raised(node: Node, index: int) -> bool:
    value = node.inputs[index]
    return feeder(node, index, "Unsqueeze") is not None and value is not None and value.single_reader


def _before(
    node: Node, index: int, value: Value | None, axis: int, facts: Facts
) -> tuple[Operand, Shape | None]:
    """An operand without the new axis, and its shape; None for no shape when it is not of that kind."""
    raised = feeder(node, index, "Unsqueeze")
    if value is not None and value.is_constant:
        array = facts.array(value, MOST_ELEMENTS)
        if array is None or array.ndim <= axis or array.shape[axis] != 1:
            return None, None
        return array.squeeze(axis), (*array.shape[:axis], *array.shape[axis + 1 :])
    source = None if raised is None else raised.inputs[0]
    shape = None if source is None else facts.shape(source)
    if raised is None or value is None or not value.single_reader or shape is None:
        return None, None
    return source, shape if facts.axes(raised, len(shape) + 1) == (axis,) else None


RULE = Rule(
    id="merge-stacked",
    family="indexing",
    roots=("Concat",),
    since_opset=5,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"empty", "batch_one"}),
    propose=propose,
    looks_far=True,
)
