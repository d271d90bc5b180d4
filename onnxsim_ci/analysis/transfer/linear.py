"""Shapes of matrix products.

House: analysis/transfer. May import analysis and model.
Touch: the tables of `transfer/__init__.py`; tests/analysis/transfer_cases.toml.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnxsim_ci.analysis.dim import Dim, Shape
from onnxsim_ci.analysis.opaque import broadcast_dim, broadcast_shapes
from onnxsim_ci.analysis.transfer.reading import ShapeFunction, shape_at

if TYPE_CHECKING:
    from onnxsim_ci.analysis.facts import Facts
    from onnxsim_ci.model import Node


def _product(a: Shape | None, b: Shape | None) -> Shape | None:
    """A vector on the left is a row, on the right a column; the added 1 goes again. Source: numpy.matmul."""
    if not a or not b:
        return None
    batch = broadcast_shapes(a[:-2], b[:-2])
    if batch is None:
        return None
    return (*batch, *(a[-2:-1] if len(a) > 1 else ()), *(b[-1:] if len(b) > 1 else ()))


def _mat_mul(node: Node, facts: Facts) -> Shape | None:
    return _product(shape_at(node, facts, 0), shape_at(node, facts, 1))


def _quantized_mat_mul(node: Node, facts: Facts) -> Shape | None:
    return _product(shape_at(node, facts, 0), shape_at(node, facts, 3))


def _gemm(node: Node, facts: Facts) -> Shape | None:
    """C is unidirectionally broadcast to the product and does not widen it."""
    a, b = shape_at(node, facts, 0), shape_at(node, facts, 1)
    if a is None or b is None or len(a) != 2 or len(b) != 2:
        return None
    return a[1 if node.attribute("transA", 0) else 0], b[0 if node.attribute("transB", 0) else 1]


def _einsum(node: Node, facts: Facts) -> Shape | None:
    """Labels of one letter, without an ellipsis; a label of several operands broadcasts."""
    equation = "".join(node.attribute("equation", "").split())
    if "." in equation:
        return None
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    shapes = [shape_at(node, facts, i) for i in range(len(node.inputs))]
    if len(terms) != len(shapes):
        return None
    sizes: dict[str, Dim] = {}
    for term, shape in zip(terms, shapes, strict=True):
        if shape is None or len(shape) != len(term):
            return None
        for label, dim in zip(term, shape, strict=True):
            size = broadcast_dim(sizes.get(label, 1), dim)
            if size is None:
                return None
            sizes[label] = size
    if not arrow:
        right = "".join(sorted(label for label in sizes if left.count(label) == 1))
    return tuple(sizes[label] for label in right) if all(label in sizes for label in right) else None


SHAPES: dict[str, ShapeFunction] = {
    "Einsum": _einsum,
    "Gemm": _gemm,
    "MatMul": _mat_mul,
    "MatMulInteger": _mat_mul,
    "QLinearMatMul": _quantized_mat_mul,
}
