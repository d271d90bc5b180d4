"""Reduce over all places of an image instead of averaging globally and dropping the axes of size 1.

Global average pooling is the mean of all places. Another kernel adds in another order, so the class is
ROUNDING. Declined for half precision, which the runtime does not reduce, for images that may be empty, and
when the pooled value has another reader.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/reduce/merge_pool_reshape.md; then `make docs`.
"""

from __future__ import annotations

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.dim import is_positive
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.element_types import DOUBLE, FLOAT
from onnxsim_ci.rewrite.patterns import feeder

AXES_ARE_INPUT = 18


def propose(node: Node, facts: Facts) -> Edit | Declined:
    pool = feeder(node, 0, "GlobalAveragePool")
    middle, result = node.inputs[0], node.outputs[0]
    if pool is None or middle is None or result is None or not middle.single_reader:
        return Declined("its input is no global pooling for it alone")
    source = pool.inputs[0]
    shape, after = None if source is None else facts.shape(source), facts.shape(result)
    if source is None or shape is None or after is None or after != shape[:2]:
        return Declined("the result is not one number an image and channel")
    if facts.dtype(source) not in (FLOAT, DOUBLE):
        return Declined("{0!r} has an element type that may have no kernel", source)
    if not all(map(is_positive, shape[2:])):
        return Declined("an image of {0!r} may be empty", source)
    axes = tuple(range(2, len(shape)))
    if node.scope.opset < AXES_ARE_INPUT:
        spec = NodeSpec("ReduceMean", (source,), {"axes": axes, "keepdims": 0}, like=pool)
    else:
        spec = NodeSpec("ReduceMean", (source, np.array(axes, np.int64)), {"keepdims": 0}, like=pool)
    return replace(node, spec, "the reduction drops the axes itself")


RULE = Rule(
    id="merge-pool-reshape",
    family="reduce",
    roots=("Flatten", "Reshape", "Squeeze"),
    since_opset=1,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    propose=propose,
)
