"""Let a Reshape, Squeeze or Unsqueeze do what a Transpose beside it does, which only moves axes of size 1.

Such a Transpose keeps the elements in order, as its neighbour does, so one node with the shape of the result
is enough. Declined when an axis that may have another size moves, when the value between has another reader,
and when the shape cannot be written as a constant.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/layout/merge_transpose_reshape.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.dim import Shape
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace
from onnxsim_ci.rewrite.movement import permutation, reshape_spec, reshape_target
from onnxsim_ci.rewrite.patterns import feeder, with_axes

MOVES = ("Reshape", "Flatten", "Squeeze", "Unsqueeze")
WHY = "the Transpose only moves axes of size 1, so no element moves"


def propose(node: Node, facts: Facts) -> Edit | Declined:
    is_last = node.op_type == "Transpose"
    inner = feeder(node, 0, *MOVES) if is_last else feeder(node, 0, "Transpose")
    middle, result = node.inputs[0], node.outputs[0]
    source = None if inner is None else inner.inputs[0]
    if inner is None or middle is None or result is None or source is None or not middle.single_reader:
        return Declined("it and its input are not a Transpose and a reshape-like node in a row")
    mover, other = (node, inner) if is_last else (inner, node)
    moved = facts.shape(middle if is_last else source)
    perm = permutation(mover, facts)
    before, after = facts.shape(source), facts.shape(result)
    if moved is None or perm is None or before is None or after is None:
        return Declined("the shape of {0!r} or of the result is not known", source)
    axes = _axes(other, moved, perm, facts, is_last=is_last)
    if axes is not None:
        return replace(node, with_axes(other, source, axes), WHY)
    if not _moves_only_ones(perm, moved):
        return Declined("the Transpose moves an axis that may not have size 1")
    target = None if node.scope.opset < 5 else reshape_target(after, before)
    if target is None:
        return Declined("the shape of {0!r} cannot be written as a constant", result)
    return replace(node, reshape_spec(source, target, other), WHY)


def _moves_only_ones(perm: tuple[int, ...], shape: Shape) -> bool:
    kept = [a for a in perm if shape[a] != 1]
    return kept == sorted(kept)


def _axes(
    other: Node, moved: Shape, perm: tuple[int, ...], facts: Facts, *, is_last: bool
) -> tuple[int, ...] | None:
    """Axes of the Squeeze or Unsqueeze that does it alone, whatever the sizes are; None where none does."""
    if other.op_type != ("Unsqueeze" if is_last else "Squeeze"):
        return None
    axes = facts.axes(other, len(moved))
    if axes is None:
        return None
    if is_last:
        kept = [a for a in perm if a not in axes]
        return tuple(i for i, a in enumerate(perm) if a in axes) if kept == sorted(kept) else None
    kept = [a for i, a in enumerate(perm) if i not in axes]
    return tuple(sorted(perm[i] for i in axes)) if kept == sorted(kept) else None


RULE = Rule(
    id="merge-transpose-reshape",
    family="layout",
    roots=("Transpose", *MOVES),
    since_opset=1,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"empty", "batch_one"}),
    propose=propose,
)
