"""Compute element by element first and transpose the result once, instead of transposing the operands.

All operands that are not constant come through Transposes of one order, perhaps through other elementwise
operators that nothing else reads. Constants that broadcast are transposed back, axes of Softmax and Concat
are renumbered. A kernel may round the last elements of its rows otherwise, so the class is ROUNDING.
Declined when fewer nodes do not come of it.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/layout/sink_transposes.md; then `make docs`.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, NodeSpec, Operand, ResultClass, Rule
from onnxsim_ci.rewrite.contract import replace as replaced
from onnxsim_ci.rewrite.movement import permutation, reader_as_data
from onnxsim_ci.rewrite.patterns import only_reader
from onnxsim_ci.rewrite.transposed import MOST_NODES, ROOTS, Rebuilt, cone_above, data_operands, dies_with


def propose(node: Node, facts: Facts) -> Edit | Declined:
    reason = Declined("no elementwise operator reads it, or makes what it reads")
    for root in _roots(node, facts):
        answer = _sunk(root, facts)
        if isinstance(answer, Edit):
            return answer
        reason = answer
    return reason


def _roots(transpose: Node, facts: Facts) -> Iterator[Node]:
    """The elementwise node in front, and those behind at which another operand joins, the last one first."""
    before = facts.producer(transpose.inputs[0])
    if before is not None and before.op_type in ROOTS and before.scope is transpose.scope:
        yield before
    value, behind = transpose.outputs[0], []
    for _ in range(MOST_NODES):
        reader = None if value is None else only_reader(value)
        if (
            reader is None
            or reader.op_type not in ROOTS
            or reader.domain
            or reader.scope is not transpose.scope
        ):
            break
        if len(data_operands(reader)) > 1:
            behind.append(reader)
        value = reader.outputs[0]
    yield from reversed(behind)


def _sunk(node: Node, facts: Facts) -> Edit | Declined:
    """The edit that moves the Transposes above `node` below it."""
    found = cone_above(node, facts)
    result = node.outputs[0]
    if found is None or result is None:
        return Declined("the operands do not all come through Transposes of one order")
    nodes, transposes, perm = found
    inner = [v for n in nodes if n is not node for v in n.outputs if v is not None]
    if any(v.pins or any(u not in nodes for u in v.uses) for v in inner):
        return Declined("a value between has another reader")
    saved = sum(1 for t in transposes if dies_with(t, nodes))
    last = reader_as_data(result, "Transpose")
    after = None if last is None else permutation(last, facts)
    order = perm if after is None else tuple(perm[a] for a in after)
    is_undone = after is not None and order == tuple(range(len(order)))
    if saved + int(is_undone) < (1 if after is not None else 2):
        return Declined("it would save no Transpose")
    spec = Rebuilt(perm, facts).node(node)
    if spec is None:
        return Declined("a constant is too large, or has more axes than the result")
    made: Operand = spec if is_undone else NodeSpec("Transpose", (spec,), {"perm": order}, like=last)
    return replaced(
        node if last is None else last, made, "transposing the result once moves the same elements"
    )


RULE = Rule(
    id="sink-transposes",
    family="layout",
    roots=("Transpose",),
    since_opset=7,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    propose=propose,
    looks_far=True,
)
