"""Let a convolution read an image itself instead of its patches side by side as channels.

Every b-th row and column from each of the first b on, joined as channels, are the places that a kernel b
times as large with b times the strides reads. Weights of channels become weights of places; the kernel adds
in another order, so the class is ROUNDING.
Declined for groups, dilations, automatic padding, and weights with another reader.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/conv/fuse_patches_into_conv.md; then `make docs`.
"""

from __future__ import annotations

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.grids import grid_of
from onnxsim_ci.rewrite.patterns import feeder

IMAGE_RANK = 4


def propose(node: Node, facts: Facts) -> Edit | Declined:
    concat = feeder(node, 0, "Concat")
    joined, weight = node.inputs[0], node.inputs[1]
    if concat is None or joined is None or weight is None or not joined.single_reader:
        return Declined("its input is no Concat for it alone")
    grid = grid_of(concat, facts)
    if grid is None or len(grid.shape) != IMAGE_RANK or grid.axes != (2, 3):
        return Declined("the operands of the Concat are not the patches of one image")
    if concat.attribute("axis", 1) % IMAGE_RANK != 1:
        return Declined("the patches are not joined as channels")
    if not _is_plain(node):
        return Declined("the convolution has groups, dilations or automatic padding")
    array = facts.array(weight) if weight.single_reader else None
    count = len(grid.offsets)
    if array is None or array.ndim != IMAGE_RANK or grid.shape[1] * count != array.shape[1]:
        return Declined("the weight is not a constant for it alone, of as many channels")
    out, both, height, width = array.shape
    step, channels = grid.step, both // count
    larger = np.empty((out, channels, height * step, width * step), array.dtype)
    for index, (row, column) in enumerate(grid.offsets):
        larger[:, :, row::step, column::step] = array[:, index * channels : (index + 1) * channels]
    attributes = {
        "kernel_shape": (height * step, width * step),
        "strides": tuple(step * n for n in node.attribute("strides") or (1, 1)),
        "pads": tuple(step * n for n in node.attribute("pads") or (0, 0, 0, 0)),
    }
    spec = NodeSpec("Conv", (grid.source, larger, *node.inputs[2:]), attributes, like=node)
    return replace(node, spec, "a larger kernel reads the same places")


def _is_plain(conv: Node) -> bool:
    if conv.attribute("group", 1) != 1 or set(conv.attribute("dilations") or (1,)) != {1}:
        return False
    return bool(conv.attribute("auto_pad", "NOTSET") == "NOTSET")


RULE = Rule(
    id="fuse-patches-into-conv",
    family="conv",
    roots=("Conv",),
    since_opset=10,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    propose=propose,
)
