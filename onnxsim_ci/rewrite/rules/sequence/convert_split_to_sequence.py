"""Split into tensors instead of into a sequence of which elements are taken at constant places.

The elements of the sequence are the parts of a Split: equal ones, and a last one with what remains.
Declined when the sequence is read by anything but SequenceAt with a constant place, and when sizes are
not static or axes are dropped.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/sequence/convert_split_to_sequence.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, Output, ResultClass, Rule
from onnxsim_ci.rewrite.movement import split_spec

MOST_PARTS = 256
"""Longest sequence that is looked at."""


def propose(node: Node, facts: Facts) -> Edit | Declined:
    source, sequence = node.inputs[0], node.outputs[0]
    shape = None if source is None else facts.shape(source)
    if source is None or sequence is None or shape is None:
        return Declined("the shape of {0!r} is not known", source)
    if node.input(1) is None and not node.attribute("keepdims", 1):
        return Declined("the parts of {0!r} drop their axis", source)
    axis = node.attribute("axis", 0) % len(shape)
    sizes = _sizes(node, shape[axis], facts)
    if sizes is None or not 1 < len(sizes) <= MOST_PARTS:
        return Declined("the sizes of several parts of {0!r} are not known", source)
    taken = _taken(sequence, len(sizes), facts)
    if taken is None:
        return Declined("{0!r} is read otherwise than at constant places", sequence)
    if len({index for index, _ in taken}) < len(taken):
        return Declined("a part of {0!r} is taken twice", sequence)
    spec = split_spec(source, axis, sizes, node.scope.opset)
    pairs = tuple((value, Output(spec, index)) for index, value in taken)
    return Edit("the elements taken from the sequence are parts of a Split", replace=pairs)


def _sizes(node: Node, length: object, facts: Facts) -> list[int] | None:
    if not isinstance(length, int):
        return None
    given = node.input(1)
    if given is None:
        return [1] * length
    array = facts.array(given, MOST_PARTS)
    if array is None or array.ndim > 1 or (array <= 0).any():
        return None
    if array.ndim == 1:
        listed = [int(n) for n in array.tolist()]
        return listed if sum(listed) == length else None
    size = int(array)
    return [min(size, length - start) for start in range(0, length, size)]


def _taken(sequence: Value, count: int, facts: Facts) -> list[tuple[int, Value]] | None:
    """Place and result of each SequenceAt, when nothing else reads the sequence."""
    if sequence.pins:
        return None
    taken = []
    for reader in sequence.uses:
        if reader.op_type != "SequenceAt" or reader.domain or reader.scope is not sequence.scope:
            return None
        place, result = reader.inputs[1], reader.outputs[0]
        index = None if place is None else facts.scalar(place)
        if not isinstance(index, int) or not -count <= index < count or result is None:
            return None
        taken.append((index % count, result))
    return taken


RULE = Rule(
    id="convert-split-to-sequence",
    family="sequence",
    roots=("SplitToSequence",),
    since_opset=11,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"empty", "batch_one"}),
    propose=propose,
)
