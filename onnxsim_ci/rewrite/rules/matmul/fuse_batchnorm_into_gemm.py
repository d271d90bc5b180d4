"""Fold an inference BatchNormalization into the Gemm before it.

With s = scale / sqrt(var + epsilon) over the columns: B * s, and beta * C * s + (bias - mean * s) with beta =
1, elementwise in float64, rounded once. Declined as for convolutions, and when C differs from row to row.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/matmul/fuse_batchnorm_into_gemm.md; then `make docs`.
"""

from __future__ import annotations

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.linear import is_in_range, loses_digits, normalization_factors
from onnxsim_ci.rewrite.patterns import feeder, used_outputs


def propose(node: Node, facts: Facts) -> Edit | Declined:
    gemm = feeder(node, 0, "Gemm")
    value = node.inputs[0]
    if gemm is None or value is None or gemm.inputs[1] is None:
        return Declined("its input does not come from a Gemm")
    if not value.single_reader or used_outputs(node) != (0,):
        return Declined("the product {0!r} has another reader, or statistics are read", value)
    matrix = facts.array(gemm.inputs[1]) if gemm.inputs[1].single_reader else None
    term = gemm.input(2)
    added = None if term is None else facts.array(term)
    if matrix is None or matrix.dtype not in (np.float32, np.float64) or (term is not None and added is None):
        return Declined("the matrix or the term of {0!r} is no constant of its own", value)
    by_row = bool(gemm.attribute("transB", 0))
    columns = matrix.shape[0 if by_row else 1]
    factors = normalization_factors(node, facts, columns, matrix.dtype)
    if isinstance(factors, Declined):
        return factors
    scale, shift = factors
    row = np.zeros(columns) if added is None else _row(added, columns)
    if row is None:
        return Declined("the term of {0!r} differs from row to row", value)
    exact = matrix.astype(np.float64) * (scale[:, None] if by_row else scale[None, :])
    bias = gemm.attribute("beta", 1.0) * row * scale + shift
    fits = is_in_range(exact, matrix.dtype) and is_in_range(bias, matrix.dtype)
    if not fits or loses_digits(matrix, exact, matrix.dtype):
        return Declined("the new matrix of {0!r} would leave the normal range", value)
    operands = (gemm.inputs[0], exact.astype(matrix.dtype), bias.astype(matrix.dtype))
    return replace(node, NodeSpec("Gemm", operands, {"beta": 1.0}, like=gemm), "scale and shift per column")


def _row(term: np.ndarray, columns: int) -> np.ndarray | None:
    """The term as one row of float64; None when it has several rows or does not fit."""
    if term.ndim > 2 or (term.ndim == 2 and term.shape[0] != 1) or term.size not in (1, columns):
        return None
    return np.broadcast_to(term.astype(np.float64).reshape(-1), (columns,))


RULE = Rule(
    id="fuse-batchnorm-into-gemm",
    family="matmul",
    roots=("BatchNormalization",),
    since_opset=7,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"large"}),
    propose=propose,
)
