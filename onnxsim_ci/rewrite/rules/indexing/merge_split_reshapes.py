"""Reshape once before a Split instead of each of its parts after it.

Each part has its split axis cut into the same inner sizes, as attention cuts query, key and value into heads.
Cutting the axis first leaves whole blocks of it in each part, so the elements keep their order.
Declined when a part has another reader, when the cut differs, and when an axis after it is symbolic.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/indexing/merge_split_reshapes.md; then `make docs`.
"""

from __future__ import annotations

from math import prod

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.dim import Shape
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, Output, ResultClass, Rule
from onnxsim_ci.rewrite.movement import (
    readers_of_parts,
    reshape_spec,
    reshape_target,
    split_spec,
    static_sizes,
)
from onnxsim_ci.rewrite.patterns import feeder


def propose(node: Node, facts: Facts) -> Edit | Declined:
    split = node if node.op_type == "Split" else feeder(node, 0, "Split")
    readers = None if split is None else readers_of_parts(split, "Reshape")
    if split is None or readers is None:
        return Declined("no Split whose parts are each read by one Reshape alone")
    source = split.inputs[0]
    shape = None if source is None else facts.shape(source)
    if source is None or shape is None:
        return Declined("the shape of {0!r} is not known", source)
    axis = split.attribute("axis", 0) % len(shape)
    sizes = static_sizes(split, axis, facts)
    results = [facts.shape(v) for r in readers if (v := r.outputs[0]) is not None]
    if sizes is None or len(results) != len(readers):
        return Declined("the sizes of the parts are not known")
    counts, inner = [], None
    for size, result in zip(sizes, results, strict=True):
        cut = _cut(shape, axis, size, result)
        if cut is None or (inner is not None and cut[1:] != inner):
            return Declined("the parts are not all cut into the same inner sizes")
        counts.append(cut[0])
        inner = cut[1:]
    assert inner is not None
    target = reshape_target((*shape[:axis], sum(counts), *inner, *shape[axis + 1 :]), shape)
    if target is None:
        return Declined("an axis behind the one that is cut is symbolic")
    spec = split_spec(reshape_spec(source, target, readers[0]), axis, counts, split.scope.opset)
    pairs = [(v, Output(spec, i)) for i, r in enumerate(readers) if (v := r.outputs[0]) is not None]
    return Edit("one cut before the Split leaves the same blocks in each part", replace=tuple(pairs))


def _cut(shape: Shape, axis: int, size: int, result: Shape | None) -> tuple[int, ...] | None:
    """The static sizes, two at least, that a part of `size` along `axis` is cut into."""
    behind = shape[axis + 1 :]
    if result is None or len(result) < len(shape) + 1 or result[:axis] != shape[:axis]:
        return None
    end = len(result) - len(behind)
    cut = tuple(d for d in result[axis:end] if isinstance(d, int) and d > 0)
    if result[end:] != behind or len(cut) != end - axis or prod(cut) != size:
        return None
    return cut


RULE = Rule(
    id="merge-split-reshapes",
    family="indexing",
    roots=("Split", "Reshape"),
    since_opset=5,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"empty", "batch_one"}),
    propose=propose,
)
