"""Make the term behind a LayerNormalization without bias its bias.

The operator adds its bias last, to the same numbers. Declined when there is a bias already, when the term has
not exactly the scale's shape, when statistics are read, and when the result has another reader.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/norm/fuse_add_into_layer_normalization.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.element_types import DOUBLE, FLOAT
from onnxsim_ci.rewrite.patterns import feeder, used_outputs


def propose(node: Node, facts: Facts) -> Edit | Declined:
    for index in (0, 1):
        norm = feeder(node, index, "LayerNormalization")
        value, term = node.inputs[index], node.inputs[1 - index]
        if norm is None or value is None or term is None:
            continue
        x, scale = norm.inputs[0], norm.inputs[1]
        if norm.input(2) is not None:
            return Declined("{0!r} has a bias already", value)
        if not value.single_reader or used_outputs(norm) != (0,):
            return Declined("{0!r} has another reader, or its statistics are read", value)
        shape = None if scale is None else facts.shape(scale)
        if shape is None or facts.shape(term) != shape or facts.dtype(value) not in (FLOAT, DOUBLE):
            return Declined("{0!r} has not the shape of the scale, or {1!r} is no wide float", term, value)
        spec = NodeSpec("LayerNormalization", (x, scale, term), like=norm)
        return replace(node, spec, "a term of the scale's shape is the bias")
    return Declined("no operand comes from a LayerNormalization")


RULE = Rule(
    id="fuse-add-into-layer-normalization",
    family="norm",
    roots=("Add",),
    since_opset=17,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"large"}),
    propose=propose,
)
