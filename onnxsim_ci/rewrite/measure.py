"""The canonical rank of operators: an edit that keeps the node count must lower it, so that chains end.

House: rewrite. May import model and the contract.
Touch: rules that declare `Lowers.RANK`.
"""

from __future__ import annotations

from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Edit, NodeSpec

RANK = {"CastLike": 2, "Cast": 1, "Flatten": 3, "Squeeze": 3, "Unsqueeze": 3, "Reshape": 2, "Expand": 2}
"""Rank by operator; 1 for all others. Fewer absent and computed operands come first."""


def lowers_rank(root: Node, edit: Edit) -> bool:
    """True when each node that `edit` makes ranks below the root, or operands of the root go constant."""
    if edit.rewire and not edit.replace:
        return all(operand is None or not hasattr(operand, "producer") for _, _, operand in edit.rewire)
    specs = [o for _, o in edit.replace if isinstance(o, NodeSpec)]
    return all(_rank(s.op_type) < _rank(root.op_type) or _computed(s) < _computed_of(root) for s in specs)


def _rank(op_type: str) -> int:
    return RANK.get(op_type, 1)


def _computed(spec: NodeSpec) -> int:
    return sum(
        1 for o in spec.operands if getattr(o, "is_constant", True) is False or isinstance(o, NodeSpec)
    )


def _computed_of(node: Node) -> int:
    return sum(1 for v in node.inputs if v is not None and not v.is_constant)
