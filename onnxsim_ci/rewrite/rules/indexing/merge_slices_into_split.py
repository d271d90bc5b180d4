"""Cut a tensor by one Split instead of by Slices, or Gathers of adjoining places, that share an axis out.

The parts are in order, whole and disjoint, so they are the outputs of a Split. Rows that are squeezed are
left to the rule that makes Gathers of them.
Declined when places of the axis are left out or read twice, and when its size is symbolic.
Strings are left alone: the Gather of onnxruntime 1.32 copies one of each row only.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/indexing/merge_slices_into_split.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, Output, ResultClass, Rule
from onnxsim_ci.rewrite.cuts import Cut, cut_of
from onnxsim_ci.rewrite.movement import may_be_text, split_spec
from onnxsim_ci.rewrite.patterns import only_reader

MOST_READERS = 64
"""Readers of the tensor that are looked at."""


def propose(node: Node, facts: Facts) -> Edit | Declined:
    own = cut_of(node.outputs[0], facts)
    if own is None or not _is_block(own) or len(own.source.uses) > MOST_READERS:
        return Declined("it cuts no known block out of one static axis of a tensor with few readers")
    if may_be_text(own.source, facts):
        return Declined("{0!r} may hold strings", own.source)
    length = facts.shape(own.source)
    assert length is not None
    outputs: dict[tuple[int, int], list[Value]] = {}
    for cut in _others(own, facts):
        block = cut.places[0], cut.places[-1] + 1
        outputs.setdefault(block, []).extend(v for v in cut.node.outputs if v is not None)
    blocks = sorted(outputs)
    place = 0
    for start, end in blocks:
        place = end if start == place else -1
    if place != length[own.axis] or len(blocks) < 2:
        return Declined("places of axis {0} of {1!r} are left out or read twice", own.axis, own.source)
    if any(len(equal) > 1 and any(v.pins for v in equal) for equal in outputs.values()):
        return Declined("a block of {0!r} is cut out twice, and is a graph output", own.source)
    spec = split_spec(own.source, own.axis, [end - start for start, end in blocks], node.scope.opset)
    pairs = [(v, Output(spec, i)) for i, block in enumerate(blocks) for v in outputs[block]]
    return Edit("the blocks share the axis out, as the parts of a Split do", replace=tuple(pairs))


def _others(own: Cut, facts: Facts) -> list[Cut]:
    """All blocks that nodes of the scope cut out of the same axis, those that are squeezed aside."""
    cuts = []
    for reader in own.source.uses:
        if reader.op_type not in ("Slice", "Gather") or reader.scope is not own.node.scope:
            continue
        cut = cut_of(reader.outputs[0], facts)
        if cut is not None and cut.axis == own.axis and cut.source is own.source and _is_block(cut):
            cuts.append(cut)
    return cuts


def _is_block(cut: Cut) -> bool:
    value = cut.node.outputs[0]
    if value is None or not cut.places or cut.node.op_type == "Split":
        return False
    if any(b - a != 1 for a, b in zip(cut.places, cut.places[1:], strict=False)):
        return False
    reader = only_reader(value) if len(cut.places) == 1 else None
    return reader is None or reader.op_type != "Squeeze"


RULE = Rule(
    id="merge-slices-into-split",
    family="indexing",
    roots=("Slice", "Gather"),
    since_opset=2,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"empty", "batch_one"}),
    propose=propose,
    looks_far=True,
)
