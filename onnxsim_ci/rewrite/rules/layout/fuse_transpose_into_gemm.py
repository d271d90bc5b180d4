"""Let a Gemm read a transposed matrix through transA or transB.

Both flags read the same numbers; the runtime's kernel may add them in another order, so the class is
ROUNDING. Declined when the transposed matrix has another reader.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/layout/fuse_transpose_into_gemm.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.patterns import feeder

FLAGS = ("transA", "transB")


def propose(node: Node, facts: Facts) -> Edit | Declined:
    for index, flag in enumerate(FLAGS):
        inner = feeder(node, index, "Transpose")
        value = node.inputs[index]
        if inner is None or value is None or inner.inputs[0] is None:
            continue
        if tuple(inner.attribute("perm", (1, 0))) != (1, 0):
            return Declined("the Transpose before {0!r} moves no axis", value)
        if not value.single_reader or node.inputs.count(value) > 1:
            return Declined("transposed matrix {0!r} has another reader", value)
        operands = list(node.inputs)
        operands[index] = inner.inputs[0]
        spec = NodeSpec("Gemm", tuple(operands), {flag: 1 - int(bool(node.attribute(flag, 0)))}, like=node)
        return replace(node, spec, "Gemm reads the matrix transposed by itself")
    return Declined("no matrix comes from a Transpose")


RULE = Rule(
    id="fuse-transpose-into-gemm",
    family="layout",
    roots=("Gemm",),
    since_opset=7,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    propose=propose,
)
