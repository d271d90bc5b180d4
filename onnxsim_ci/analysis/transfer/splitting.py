"""Sizes of the parts that Split makes.

House: analysis/transfer. May import analysis and model.
Touch: `movement.py` (shapes), `shape_chain.py` (contents).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnxsim_ci.analysis.content import Element
from onnxsim_ci.analysis.dim import Dim, exact_quotient
from onnxsim_ci.analysis.opaque import ceildiv
from onnxsim_ci.analysis.transfer.reading import elements_of, is_given

if TYPE_CHECKING:
    from onnxsim_ci.analysis.facts import Facts
    from onnxsim_ci.model import Node


def split_sizes(node: Node, facts: Facts, length: Dim) -> list[Element] | None:
    """Size of each output along the axis; None where it is unknown.

    Source: ONNX operator Split. Before version 18 the parts are equal; from 18 on all but the last are
    ceil(length / num_outputs), and the last has what remains.
    """
    count = len(node.outputs)
    if is_given(node, "split", 1):
        sizes = elements_of(node, facts, "split", 1)
        return list(sizes) if sizes is not None and len(sizes) == count else None
    part = exact_quotient(length, count)
    if part is not None:
        return [part] * count
    if node.operator is None or node.operator.since < 18:
        return None
    if not isinstance(length, int):
        return None
    step = ceildiv(length, count)
    last = length - step * (count - 1)
    return [*[step] * (count - 1), last] if isinstance(last, int) and last >= 0 else None
