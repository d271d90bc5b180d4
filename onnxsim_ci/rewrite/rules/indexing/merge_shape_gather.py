"""Read some sizes by Shape with a start and an end instead of picking them out of all sizes.

Every reader of the sizes picks adjoining ones in their order, so each gets a Shape of its own, and the one of
all sizes goes. Declined when something else reads the sizes, and for a scalar index: Shape gives a vector.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/indexing/merge_shape_gather.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, NodeSpec, ResultClass, Rule
from onnxsim_ci.rewrite.cuts import cut_of
from onnxsim_ci.rewrite.patterns import feeder

MOST_READERS = 16
"""Readers of the sizes that are looked at."""


def propose(node: Node, facts: Facts) -> Edit | Declined:
    shape = feeder(node, 0, "Shape")
    sizes = node.inputs[0]
    if shape is None or sizes is None or shape.inputs[0] is None:
        return Declined("its input is no Shape")
    rank = facts.rank(shape.inputs[0])
    if rank is None or sizes.pins or len(sizes.uses) > MOST_READERS:
        return Declined("the rank is not known, or {0!r} has other readers", sizes)
    start = shape.attribute("start", 0)
    start = min(max(start + rank if start < 0 else start, 0), rank)
    pairs: list[tuple[Value, NodeSpec]] = []
    for reader in sizes.uses:
        result = reader.outputs[0]
        places = _places(reader, sizes, facts)
        if reader.scope is not node.scope or result is None or places is None:
            return Declined("a reader of {0!r} does not pick adjoining sizes in their order", sizes)
        bounds = {"start": start + places[0], "end": start + places[-1] + 1}
        pairs.append((result, NodeSpec("Shape", (shape.inputs[0],), bounds, like=reader)))
    return Edit("Shape reads these sizes itself", replace=tuple(pairs))


def _places(reader: Node, sizes: Value, facts: Facts) -> tuple[int, ...] | None:
    """The places of the sizes that a Gather or Slice picks, when they adjoin."""
    cut = cut_of(reader.outputs[0], facts) if reader.op_type in ("Gather", "Slice") else None
    if cut is None or cut.source is not sizes or not cut.places or reader.inputs.count(sizes) > 1:
        return None
    adjoin = all(b - a == 1 for a, b in zip(cut.places, cut.places[1:], strict=False))
    return tuple(cut.places) if adjoin else None


RULE = Rule(
    id="merge-shape-gather",
    family="indexing",
    roots=("Gather", "Slice"),
    since_opset=15,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"empty", "batch_one"}),
    propose=propose,
)
