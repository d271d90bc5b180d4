"""Drop a QuantizeLinear that undoes the DequantizeLinear before it.

For an integer q of at most 8 bits, (q - z) * s is rounded once; divided by s and rounded to a whole number it
is q - z again, as long as s is a normal number far from the borders of its type. Declined for other scales,
zero points, axes or element types, for 16 bits and more, and for scales that are no constants.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/quant/eliminate_requantize.md; then `make docs`.
"""

from __future__ import annotations

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace
from onnxsim_ci.rewrite.element_types import FLOAT, INT8, UINT8
from onnxsim_ci.rewrite.patterns import feeder

LARGEST, SMALLEST = 2.0**64, 2.0**-64


def propose(node: Node, facts: Facts) -> Edit | Declined:
    inner = feeder(node, 0, "DequantizeLinear")
    output = node.outputs[0]
    source = None if inner is None else inner.inputs[0]
    if inner is None or source is None or output is None:
        return Declined("its input does not come from a DequantizeLinear")
    dtype = facts.dtype(source)
    if dtype not in (INT8, UINT8) or facts.dtype(output) != dtype:
        return Declined("{0!r} is not int8 or uint8, or becomes another type", source)
    attributes = ("axis", "block_size", "output_dtype", "saturate", "precision")
    if any(inner.attribute(a) != node.attribute(a) for a in attributes):
        return Declined("the two nodes around {0!r} have other attributes", source)
    scale = node.inputs[1]
    numbers = None if scale is None else facts.array(scale)
    if scale is None or numbers is None or facts.dtype(scale) != FLOAT:
        return Declined("the scale {0!r} is not a float32 constant", scale)
    if not ((numbers >= SMALLEST) & (numbers <= LARGEST)).all():
        return Declined("the scale {0!r} is not a normal positive number", scale)
    points = (inner.input(2), node.input(2))
    if not _are_equal(inner.inputs[1], scale, facts) or not _are_equal(*points, facts):
        return Declined("scales or zero points around {0!r} differ", source)
    return replace(node, source, "quantized again with the same scale and zero point")


def _are_equal(one: Value | None, other: Value | None, facts: Facts) -> bool:
    """True for one value, and for constants of the same shape and numbers; absent is absent."""
    if one is other:
        return True
    first = None if one is None else facts.array(one)
    second = None if other is None else facts.array(other)
    return first is not None and second is not None and bool(np.array_equal(first, second))


RULE = Rule(
    id="eliminate-requantize",
    family="quant",
    roots=("QuantizeLinear",),
    since_opset=10,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"integer_extremes"}),
    propose=propose,
)
