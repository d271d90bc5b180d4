"""Replace MatMul and Add of matrices by Gemm.

Only for two operands of rank 2 and float32 or float64, and a term that broadcasts to the product and leaves
its shape as it is; other ranks would need reshapes, and integers have no Gemm kernel. Declined when the
product has another reader.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/matmul/fuse_matmul_add_into_gemm.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.element_types import DOUBLE, FLOAT
from onnxsim_ci.rewrite.patterns import feeder


def propose(node: Node, facts: Facts) -> Edit | Declined:
    for index in (0, 1):
        matmul = feeder(node, index, "MatMul")
        product, term = node.inputs[index], node.inputs[1 - index]
        if matmul is None or product is None or term is None or term is product:
            continue
        a, b = matmul.inputs[0], matmul.inputs[1]
        if a is None or b is None or facts.rank(a) != 2 or facts.rank(b) != 2:
            return Declined("{0!r} is not a product of two matrices", product)
        if not product.single_reader:
            return Declined("the product {0!r} has another reader", product)
        if facts.dtype(product) not in (FLOAT, DOUBLE):
            return Declined("{0!r} is not float32 or float64", product)
        if not _broadcasts_to(facts, term, product):
            return Declined("{0!r} may widen the product {1!r}", term, product)
        spec = NodeSpec("Gemm", (a, b, term), like=matmul)
        return replace(node, spec, "Gemm is the product of two matrices plus a term")
    return Declined("no operand comes from a MatMul")


def _broadcasts_to(facts: Facts, term: Value, product: Value) -> bool:
    small, large = facts.shape(term), facts.shape(product)
    if small is None or large is None or len(small) > 2:
        return False
    return all(d in (1, e) for d, e in zip(reversed(small), reversed(large), strict=False))


RULE = Rule(
    id="fuse-matmul-add-into-gemm",
    family="matmul",
    roots=("Add",),
    since_opset=7,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"large"}),
    propose=propose,
)
