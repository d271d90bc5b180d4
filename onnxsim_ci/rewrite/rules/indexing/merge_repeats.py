"""Gather rows several times instead of expanding a new axis and joining it with its neighbour.

Joined with the axis in front every row stands there as often as it was repeated, with the axis behind all
rows follow each other that often. Declined when another axis grows too, when the rows are not static or the
index would be long, and when a value between has another reader.
Strings are left alone: the Gather of onnxruntime 1.32 copies one of each row only.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/indexing/merge_repeats.md; then `make docs`.
"""

from __future__ import annotations

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.dim import Shape
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.movement import Array, may_be_text
from onnxsim_ci.rewrite.patterns import feeder

LONGEST = 128
"""Indices of 4 bytes up to this number take no more room than the nodes that go."""


def propose(node: Node, facts: Facts) -> Edit | Declined:
    expand = feeder(node, 0, "Expand")
    raised = None if expand is None else feeder(expand, 0, "Unsqueeze")
    if expand is None or raised is None or raised.inputs[0] is None:
        return Declined("its input is no expanded Unsqueeze")
    source, between = raised.inputs[0], (node.inputs[0], expand.inputs[0])
    if any(v is None or not v.single_reader for v in between):
        return Declined("a value behind {0!r} has another reader", source)
    if may_be_text(source, facts):
        return Declined("{0!r} may hold strings", source)
    shape, result = facts.shape(source), node.outputs[0]
    grown = None if between[0] is None else facts.shape(between[0])
    after = None if result is None else facts.shape(result)
    axes = None if shape is None else facts.axes(raised, len(shape) + 1)
    if shape is None or grown is None or after is None or axes is None or len(axes) != 1:
        return Declined("the shapes behind {0!r} are not known", source)
    new = axes[0]
    times = grown[new] if len(grown) == len(shape) + 1 else None
    if not isinstance(times, int) or times < 1 or (*grown[:new], *grown[new + 1 :]) != shape:
        return Declined("not only the new axis of {0!r} is repeated", source)
    for axis, index in _ways(shape, new, times):
        if after == (*shape[:axis], len(index), *shape[axis + 1 :]) and 0 < len(index) <= LONGEST:
            spec = NodeSpec("Gather", (source, index), {"axis": axis}, like=node)
            return replace(node, spec, "the index repeats the rows in the same order")
    return Declined("the new axis of {0!r} is not joined with a short static one beside it", source)


def _ways(shape: Shape, new: int, times: int) -> list[tuple[int, Array]]:
    """Axis and index of a Gather when the new axis is joined with the one in front, or behind."""
    ways = []
    if new > 0 and isinstance(rows := shape[new - 1], int):
        ways.append((new - 1, np.repeat(np.arange(rows, dtype=np.int32), times)))
    if new < len(shape) and isinstance(rows := shape[new], int):
        ways.append((new, np.tile(np.arange(rows, dtype=np.int32), times)))
    return ways


RULE = Rule(
    id="merge-repeats",
    family="indexing",
    roots=("Reshape",),
    since_opset=8,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"empty", "batch_one"}),
    propose=propose,
    looks_far=True,
)
