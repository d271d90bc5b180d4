"""Gather the parts of an axis in their new order instead of cutting and joining them.

All operands of a Concat are cut out of the joined axis of one tensor by Slices, Gathers or a Split, so the
result reads known places of it: a roll, for one.
Declined when the index would be long, and when the nodes that cut have other readers, so that none are saved.
Strings are left alone: the Gather of onnxruntime 1.32 copies one of each row only.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/indexing/merge_parts_into_gather.md; then `make docs`.
"""

from __future__ import annotations

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.cuts import Cut, cut_of
from onnxsim_ci.rewrite.movement import may_be_text

LONGEST = 64
"""Indices of 4 bytes up to this number take no more room than the nodes that go."""


def propose(node: Node, facts: Facts) -> Edit | Declined:
    cuts: list[Cut] = []
    for operand in node.inputs:
        cut = cut_of(operand, facts)
        if cut is None or (cuts and (cut.source is not cuts[0].source or cut.axis != cuts[0].axis)):
            return Declined("its operands are not all cut out of one axis of one tensor")
        cuts.append(cut)
    source, axis = cuts[0].source, cuts[0].axis
    if may_be_text(source, facts):
        return Declined("{0!r} may hold strings", source)
    rank = facts.rank(source)
    if rank is None or node.attribute("axis", 1) % rank != axis:
        return Declined("it joins another axis than the one that is cut")
    places = [place for cut in cuts for place in cut.places]
    if not places or len(places) > LONGEST:
        return Declined("the result reads {0} places, between 1 and {1} pay", len(places), LONGEST)
    if not any(_dies(cut.node, node) for cut in cuts):
        return Declined("every operand is read elsewhere too")
    spec = NodeSpec("Gather", (source, np.array(places, np.int32)), {"axis": axis}, like=node)
    return replace(node, spec, "the result reads known places of the axis")


def _dies(cut: Node, concat: Node) -> bool:
    """True when nothing but the Concat reads what `cut` makes."""
    return all(v is None or (not v.pins and all(u is concat for u in v.uses)) for v in cut.outputs)


RULE = Rule(
    id="merge-parts-into-gather",
    family="indexing",
    roots=("Concat",),
    since_opset=4,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"empty", "batch_one"}),
    propose=propose,
)
