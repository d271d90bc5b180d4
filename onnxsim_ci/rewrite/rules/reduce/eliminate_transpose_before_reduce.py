"""Reduce the axes where they were before a Transpose.

The same numbers are reduced. The kernel may take them in another order, so the class is ROUNDING.
Declined for the largest and least of floats: whether the kernel gives NaN depends on where it stands.
Declined when the axes that are left stand in another order, or when the reduced ones stay with size 1
elsewhere, and when the transposed value has another reader.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/reduce/eliminate_transpose_before_reduce.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.transfer.reduction import reduced_axes
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, ResultClass, Rule, replace
from onnxsim_ci.rewrite.element_types import INTEGERS
from onnxsim_ci.rewrite.movement import permutation
from onnxsim_ci.rewrite.patterns import feeder, with_axes


def propose(node: Node, facts: Facts) -> Edit | Declined:
    inner = feeder(node, 0, "Transpose")
    middle = node.inputs[0]
    perm = None if inner is None else permutation(inner, facts)
    if inner is None or middle is None or not middle.single_reader or perm is None:
        return Declined("its input is no Transpose of known order for it alone")
    if node.op_type in ("ReduceMax", "ReduceMin") and facts.dtype(middle) not in INTEGERS:
        return Declined("what becomes of NaN in {0!r} depends on the order", middle)
    axes = reduced_axes(node, facts, len(perm))
    if not axes:
        return Declined("the reduced axes are not known")
    mapped = tuple(sorted(perm[a] for a in axes))
    left = [a for i, a in enumerate(perm) if i not in axes]
    stays = set(mapped) == set(axes) or not node.attribute("keepdims", 1)
    if left != sorted(left) or not stays:
        return Declined("the axes of the result would stand in another order")
    return replace(node, with_axes(node, inner.inputs[0], mapped), "the same axes are reduced in place")


RULE = Rule(
    id="eliminate-transpose-before-reduce",
    family="reduce",
    roots=("ReduceMax", "ReduceMin", "ReduceMean", "ReduceSum", "ReduceProd", "ReduceL1", "ReduceL2"),
    since_opset=1,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    propose=propose,
)
