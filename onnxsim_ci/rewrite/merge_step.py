"""The step that merges nodes that compute the same value, and constants with the same bytes.

House: rewrite. May import model.
Touch: `numbering.py` finds them.
"""

from __future__ import annotations

from onnxsim_ci.model import Node, Value, Weights
from onnxsim_ci.model.mutation import is_reused_inside
from onnxsim_ci.rewrite.numbering import Numbering
from onnxsim_ci.rewrite.workbench import MERGE_CONSTANTS, MERGE_NODES, Workbench


class MergeStep:
    """Value numbering, applied."""

    def __init__(self, bench: Workbench, weights: Weights) -> None:
        self.bench = bench
        self.numbering = Numbering(weights)

    def merge_node(self, node: Node) -> None:
        """Merge `node` with an equal one."""
        if MERGE_NODES in self.bench.plan.skip:
            return
        pair = self.numbering.find_equal(node)
        if pair is None:
            return
        keep, drop = pair
        pairs: list[tuple[Value, Value]] = []
        for index, old in enumerate(drop.outputs):
            if old is None or not old.is_read:
                continue
            new = keep.output(index)
            if new is None or old.pins:
                return
            pairs.append((old, new))
        if not pairs or not self.bench.allow():
            return
        self.bench.begin(drop)
        label = pairs[0][0].name
        for old, new in pairs:
            self.bench.editor.redirect(old, new)
        if drop.is_alive:
            self.bench.editor.drop(drop)
        self.bench.note(MERGE_NODES, drop, label, f"{keep.label} computes the same value")

    def merge_constant(self, value: Value) -> None:
        """Merge a constant with an equal one."""
        if MERGE_CONSTANTS in self.bench.plan.skip or not value.uses:
            return
        known = self.numbering.find_equal_constant(value)
        if known is None or is_reused_inside(self.bench.graph, known) or not self.bench.allow():
            return
        producer = value.producer
        root = producer if producer is not None else next(iter(value.uses))
        self.bench.begin(root)
        self.bench.editor.redirect(value, known)
        self.bench.note(MERGE_CONSTANTS, root, value.name, f"it has the bytes of {known.name}")
