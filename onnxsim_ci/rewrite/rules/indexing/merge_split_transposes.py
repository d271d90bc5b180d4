"""Transpose once before a Split instead of its parts after it.

A part along an axis is a part along the place where the Transpose puts that axis. Parts that are transposed
in another way read the common order through what is left of their own permutation.
Declined when a part has another reader, and when no two parts share a permutation: nothing would be saved.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/indexing/merge_split_transposes.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, NodeSpec, Operand, Output, ResultClass, Rule
from onnxsim_ci.rewrite.movement import permutation, readers_of_parts
from onnxsim_ci.rewrite.patterns import feeder


def propose(node: Node, facts: Facts) -> Edit | Declined:
    split = node if node.op_type == "Split" else feeder(node, 0, "Split")
    readers = None if split is None else readers_of_parts(split, "Transpose")
    if split is None or readers is None:
        return Declined("no Split whose parts are each read by one Transpose alone")
    perms = [permutation(r, facts) for r in readers]
    known = [p for p in perms if p is not None]
    if len(known) < len(perms):
        return Declined("perm is not given and the rank is not known")
    common = max(known, key=known.count)
    if known.count(common) < 2:
        return Declined("no two parts are transposed in the same way")
    axis = common.index(split.attribute("axis", 0) % len(common))
    before = NodeSpec("Transpose", (split.inputs[0],), {"perm": common}, like=readers[known.index(common)])
    spec = NodeSpec(
        "Split", (before, *split.inputs[1:]), {"axis": axis}, like=split, output_count=len(readers)
    )
    pairs = []
    for index, (reader, perm) in enumerate(zip(readers, known, strict=True)):
        part: Operand = Output(spec, index)
        if perm != common:
            left = tuple(common.index(a) for a in perm)
            part = NodeSpec("Transpose", (part,), {"perm": left}, like=reader)
        if reader.outputs[0] is not None:
            pairs.append((reader.outputs[0], part))
    return Edit("a part of the transposed tensor is the transposed part", replace=tuple(pairs))


RULE = Rule(
    id="merge-split-transposes",
    family="indexing",
    roots=("Split", "Transpose"),
    since_opset=2,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    propose=propose,
)
