"""Replace two chained Slice nodes by one, and a Slice that only Slices read by nothing.

Of different axes the bounds stand side by side; of one axis those of the second count inside the first, from
the front, and are added up. Declined when bounds are not known, when the end depends on a symbolic size, and
when the first has another reader.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/indexing/merge_slices.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.dim import AXIS_LIMIT, Dim
from onnxsim_ci.analysis.transfer.slicing import slice_range
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule
from onnxsim_ci.rewrite.cuts import Bounds, bounds_of, slice_spec
from onnxsim_ci.rewrite.patterns import feeder

MOST_READERS = 16
"""Readers of the first Slice that are looked at."""
LARGEST = 2**63 - 1
"""Bounds and steps are int64."""


def propose(node: Node, facts: Facts) -> Edit | Declined:
    inner = feeder(node, 0, "Slice")
    middle = node.inputs[0]
    source = None if inner is None else inner.inputs[0]
    if inner is None or middle is None or source is None:
        return Declined("its input does not come from a Slice")
    if middle.pins or len(middle.uses) > MOST_READERS:
        return Declined("middle result {0!r} has another reader", middle)
    shape, first = facts.shape(source), bounds_of(inner, facts)
    if shape is None or first is None:
        return Declined("the bounds of {0!r} are not known", middle)
    pairs = []
    for reader in middle.uses:
        is_slice = reader.op_type == "Slice" and not reader.domain and reader.scope is node.scope
        result = reader.outputs[0]
        if not is_slice or reader.inputs.count(middle) > 1 or result is None:
            return Declined("middle result {0!r} has another reader", middle)
        second = bounds_of(reader, facts)
        bounds = None if second is None else _merged(shape, first, second)
        if bounds is None:
            return Declined("the bounds of {0!r} are not known, or do not add up", result)
        pairs.append((result, slice_spec(source, bounds, reader)))
    return Edit("the second cut counts inside the first", replace=tuple(pairs))


def _merged(shape: tuple[Dim, ...], first: Bounds, second: Bounds) -> Bounds | None:
    merged = {**first, **second}
    for axis in first.keys() & second.keys():
        both = _on_one_axis(shape[axis], first[axis], second[axis])
        if both is None or max(both) > LARGEST:
            return None
        merged[axis] = both
    return merged


def _on_one_axis(
    length: Dim, first: tuple[int, int, int], second: tuple[int, int, int]
) -> tuple[int, int, int] | None:
    """The bounds of both together; only from front to back."""
    if first[2] < 0 or second[2] < 0:
        return None
    if isinstance(length, int):
        outer = slice_range(length, *first)
        inner = slice_range(len(outer), *second)
        return (outer[inner[0]], outer[inner[-1]] + 1, first[2] * second[2]) if inner else (0, 0, 1)
    start, end = second[0], second[1]
    if first[2] != 1 or first[0] < 0 or start < 0:
        return None
    if first[1] >= AXIS_LIMIT:
        stop = end if end < 0 or end >= AXIS_LIMIT else first[0] + end
    elif end >= AXIS_LIMIT:
        stop = first[1]
    elif first[1] >= 0 and end >= 0:
        stop = min(first[1], first[0] + end)
    else:
        return None
    return first[0] + start, stop, second[2]


RULE = Rule(
    id="merge-slices",
    family="indexing",
    roots=("Slice",),
    since_opset=1,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"empty", "batch_one"}),
    propose=propose,
)
