"""The step that turns constant nodes into tensors.

House: rewrite. May import analysis and model.
Touch: `folding.py` chooses and evaluates.
"""

from __future__ import annotations

from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.evaluation import known_array, may_hold
from onnxsim_ci.rewrite.folding import MOVES, Folder
from onnxsim_ci.rewrite.workbench import FOLD, Workbench


class FoldStep:
    """Folds by proven content at once, and everything else in waves."""

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench
        self.folder = Folder(bench.graph, bench.facts, bench.plan)
        self.is_on = bench.plan.fold and FOLD not in bench.plan.skip

    def fold(self, node: Node) -> bool:
        """True when `node` became a constant, or waits to become one."""
        return self.is_on and (self.fold_known(node) or self.take(node))

    def reconsider(self) -> None:
        """Look again at nodes whose tensors did not pay."""
        self.bench.worklist.push_all(self.folder.reconsider())

    def fold_known(self, node: Node) -> bool:
        """A node whose one used output has proven integer content becomes a constant without being run."""
        output = node.outputs[0] if len(node.outputs) == 1 else None
        if output is None or output.content is None:
            return False
        for element in output.content.elements:
            if element.__class__ is not int:
                return False
        array = known_array(self.bench.facts, output)
        if array is None or not may_hold(self.bench.graph, output, array) or not self.bench.allow():
            return False
        label_value = output.name
        self.bench.begin(node)
        self.bench.editor.detach_and_hold(node, output, array)
        self.bench.note(FOLD, node, label_value, "its content follows from shapes and constants")
        return True

    def take(self, node: Node) -> bool:
        """Let a constant node wait for the next wave."""
        if not self.folder.take(node):
            return False
        self.bench.push_readers(node)
        return True

    def wave(self) -> None:
        """Evaluate what waits; the frontier becomes tensors, the rest is looked at again."""
        outcome = self.folder.wave()
        self.bench.worklist.push_all(outcome.refused)
        self.bench.worklist.push_all(outcome.failed)
        for node, arrays in outcome.folded:
            if not node.is_alive:
                continue
            if not all(may_hold(self.bench.graph, v, a) for v, a in arrays.items()):
                self.folder.failed.add(node)
                continue
            if not self.bench.allow():
                return
            self.bench.begin(node)
            name = next(iter(arrays)).name
            for value, array in arrays.items():
                self.bench.editor.detach_and_hold(node, value, array)
            machine = node.op_type not in MOVES
            self.bench.note(FOLD, node, name, "all its inputs are constant", machine=machine)
