"""Read adjoining sizes of a tensor by one Shape instead of joining them piece by piece.

Constants between the pieces count where the tensor has these sizes, whatever its input is.
Declined for pieces of two tensors, in another order or with gaps, and when every piece has other readers.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/indexing/merge_shape_pieces.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.patterns import feeder


def propose(node: Node, facts: Facts) -> Edit | Declined:
    pieces = {i: s for i in range(len(node.inputs)) if (s := feeder(node, i, "Shape")) is not None}
    source = next((s.inputs[0] for s in pieces.values()), None)
    shape = None if source is None else facts.shape(source)
    if source is None or shape is None or any(s.inputs[0] is not source for s in pieces.values()):
        return Declined("it joins no sizes of one tensor of known rank")
    if not any(v is not None and v.single_reader for i, v in enumerate(node.inputs) if i in pieces):
        return Declined("every piece has other readers")
    start: int | None = None
    place = 0
    for index, value in enumerate(node.inputs):
        if index in pieces:
            first, end = _bounds(pieces[index], len(shape))
            start = first - place if start is None else start
            if first != start + place:
                return Declined("the pieces do not follow each other")
            place += end - first
        else:
            place += len(_numbers(value, facts))
    if start is None or start < 0 or start + place > len(shape):
        return Declined("the pieces do not follow each other")
    place = start
    for index, value in enumerate(node.inputs):
        numbers = () if index in pieces else _numbers(value, facts)
        if index not in pieces and (not numbers or shape[place : place + len(numbers)] != numbers):
            return Declined("operand {0} is not a size of {1!r} there", index, source)
        first, end = _bounds(pieces[index], len(shape)) if index in pieces else (0, len(numbers))
        place += end - first
    spec = NodeSpec("Shape", (source,), {"start": start, "end": place}, like=node)
    return replace(node, spec, "the joined sizes stand side by side in the shape")


def _bounds(shape: Node, rank: int) -> tuple[int, int]:
    places = range(rank)[shape.attribute("start", 0) : shape.attribute("end")]
    return (places[0], places[-1] + 1) if places else (0, 0)


def _numbers(value: Value | None, facts: Facts) -> tuple[int, ...]:
    known = None if value is None else facts.known(value)
    return known or ()


RULE = Rule(
    id="merge-shape-pieces",
    family="indexing",
    roots=("Concat",),
    since_opset=15,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"empty", "batch_one"}),
    propose=propose,
)
