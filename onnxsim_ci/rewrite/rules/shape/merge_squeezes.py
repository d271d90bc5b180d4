"""Replace two chained Squeeze or two chained Unsqueeze nodes by one.

The axes of the second count in the middle shape; they are renumbered to the outer shapes. No element moves.
Declined without constant axes, and when the middle result has another reader.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/shape/merge_squeezes.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace
from onnxsim_ci.rewrite.patterns import feeder, with_axes


def propose(node: Node, facts: Facts) -> Edit | Declined:
    inner = feeder(node, 0, node.op_type)
    middle = node.inputs[0]
    if inner is None or middle is None or inner.inputs[0] is None:
        return Declined("its input does not come from a node of its own kind")
    if not middle.single_reader:
        return Declined("middle result {0!r} has another reader", middle)
    source = inner.inputs[0]
    rank, between = facts.rank(source), facts.rank(middle)
    if rank is None or between is None:
        return Declined("the rank of {0!r} is not known", source)
    if node.op_type == "Squeeze":
        first, second = facts.axes(inner, rank), facts.axes(node, between)
    else:
        total = facts.rank(node.outputs[0]) if node.outputs[0] is not None else None
        first = facts.axes(inner, between)
        second = None if total is None else facts.axes(node, total)
    if first is None or second is None:
        return Declined("the axes are not given as constants")
    axes = (
        _squeezed(rank, first, second) if node.op_type == "Squeeze" else _unsqueezed(between, first, second)
    )
    return replace(node, with_axes(node, source, axes), "the axes of both, in the outer shape")


def _squeezed(rank: int, first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    left = [a for a in range(rank) if a not in first]
    return tuple(sorted([*first, *(left[a] for a in second)]))


def _unsqueezed(between: int, first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    places = [a for a in range(between + len(second)) if a not in second]
    return tuple(sorted([*second, *(places[a] for a in first)]))


RULE = Rule(
    id="merge-squeezes",
    family="shape",
    roots=("Squeeze", "Unsqueeze"),
    since_opset=1,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    propose=propose,
)
