"""Replace several MatMuls (or Gemms) of one input by one, whose columns a Split hands out.

Every column is the same sum of products as before, in whatever order the kernel sums a wider matrix.
Constants that are added behind all of them are joined too. Only where the nodes become fewer: three products,
or two with a term each. Declined for matrices that are not float constants of their own.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/matmul/merge_matmuls.md; then `make docs`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, NodeSpec, Output, ResultClass, Rule
from onnxsim_ci.rewrite.linear import Array
from onnxsim_ci.rewrite.patterns import only_reader
from onnxsim_ci.rewrite.scaling import own_constant

MOST_READERS = 64
"""Of the common input: each of them is looked at for each product."""
MOST_BYTES = 64 << 20
"""Of the joined matrix, which is in memory while the rule works."""


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """One product of the common input.

    Attributes:
        output: The product, or the sum of product and term.
        matrix: [height, columns].
        term: [columns] that is added, or None.
    """

    output: Value
    matrix: Array
    term: Array | None


def propose(node: Node, facts: Facts) -> Edit | Declined:
    x = node.inputs[0]
    if x is None or not 2 <= len(x.uses) <= MOST_READERS:
        return Declined("nothing else reads {0!r}, or too many do", x)
    family = [n for n in x.uses if _is_sibling(n, node, x)]
    if len(family) < 2 or family[0] is not node:
        return Declined("{0!r} is no operand of another product, or of an earlier one", x)
    branches = [b for n in family if (b := _branch(n, facts)) is not None]
    biased = [b for b in branches if b.term is not None]
    if len(biased) > 1 and (node.op_type == "MatMul" or len(biased) > 2):
        return _merged(node, x, biased, facts)
    plain = [b for b in branches if b.term is None]
    if len(plain) > 2:
        return _merged(node, x, plain, facts)
    return Declined("too few products of {0!r} with constants of their own", x)


def _is_sibling(node: Node, root: Node, x: Value) -> bool:
    if node.op_type != root.op_type or node.domain or node.scope is not root.scope or node.operator is None:
        return False
    return node.inputs[0] is x and node.inputs[1] is not x and not _form(node)


def _form(node: Node) -> bool:
    """True for a Gemm that is more than A @ B + C."""
    plain = {"alpha": 1.0, "beta": 1.0, "transA": 0}
    return node.op_type == "Gemm" and any(node.attribute(k, v) != v for k, v in plain.items())


def _branch(node: Node, facts: Facts) -> Branch | None:
    output, value = node.outputs[0], node.inputs[1]
    shape = None if value is None else facts.static_shape(value)
    if output is None or value is None or shape is None or len(shape) != 2 or not value.single_reader:
        return None
    matrix = own_constant(value, facts)
    if matrix is None:
        return None
    if node.op_type == "Gemm":
        matrix = matrix.T if node.attribute("transB", 0) else matrix
        constant = node.input(2)
        if constant is None:
            return Branch(output, matrix, None)
        term = _row(own_constant(constant, facts), matrix)
        return None if term is None else Branch(output, matrix, term)
    reader = only_reader(output)
    if reader is None or reader.op_type != "Add" or reader.domain or reader.scope is not node.scope:
        return Branch(output, matrix, None)
    other = reader.inputs[1] if reader.inputs[0] is output else reader.inputs[0]
    term = _row(own_constant(other, facts), matrix)
    if term is None or reader.outputs[0] is None:
        return Branch(output, matrix, None)
    return Branch(reader.outputs[0], matrix, term)


def _row(array: Array | None, matrix: Array) -> Array | None:
    return array if array is not None and array.shape == matrix.shape[1:] else None


def _merged(node: Node, x: Value, branches: list[Branch], facts: Facts) -> Edit | Declined:
    rank = facts.rank(x)
    if sum(b.matrix.nbytes for b in branches) > MOST_BYTES:
        return Declined("the matrices beside {0!r} are too large to be joined", x)
    if not rank:
        return Declined("the rank of {0!r} is not known", x)
    matrix = np.concatenate([b.matrix for b in branches], axis=1)
    terms = [b.term for b in branches if b.term is not None]
    if node.op_type == "Gemm":
        operands = (x, matrix, np.concatenate(terms)) if terms else (x, matrix)
        wide = NodeSpec("Gemm", operands)
    else:
        wide = NodeSpec("MatMul", (x, matrix))
        wide = NodeSpec("Add", (wide, np.concatenate(terms))) if terms else wide
    sizes = [b.matrix.shape[1] for b in branches]
    split = _split(node, wide, sizes, rank - 1)
    pairs = tuple((b.output, Output(split, i)) for i, b in enumerate(branches))
    return Edit("the columns of one wider product", replace=pairs)


def _split(node: Node, wide: NodeSpec, sizes: list[int], axis: int) -> NodeSpec:
    """Its sizes are an input from opset 13 on, an attribute below."""
    if node.scope.opset >= 13:
        operands = (wide, np.array(sizes, np.int64))
        return NodeSpec("Split", operands, {"axis": axis}, output_count=len(sizes))
    return NodeSpec("Split", (wide,), {"axis": axis, "split": sizes}, output_count=len(sizes))


RULE = Rule(
    id="merge-matmuls",
    family="matmul",
    roots=("MatMul", "Gemm"),
    since_opset=7,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"large"}),
    propose=propose,
    looks_far=True,
)
