"""Let a convolution compute only the places that a Slice behind it keeps, by less padding.

With stride 1 the places at the borders are those that padding adds. The kernel works on another shape, so the
class is ROUNDING. Declined when more is cut off than was padded, or perhaps everything: no kernel then runs;
when other axes are cut, and when the uncut value has another reader.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/conv/fuse_slice_into_conv.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.dim import AXIS_LIMIT, Dim, is_positive
from onnxsim_ci.analysis.transfer.slicing import slice_range
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.cuts import bounds_of
from onnxsim_ci.rewrite.patterns import feeder


def propose(node: Node, facts: Facts) -> Edit | Declined:
    conv = feeder(node, 0, "Conv")
    middle = node.inputs[0]
    if conv is None or middle is None or not middle.single_reader:
        return Declined("its input is no convolution for it alone")
    shape, bounds = facts.shape(middle), bounds_of(node, facts)
    if shape is None or not bounds:
        return Declined("the bounds, or the rank of {0!r} are not known", middle)
    count = len(shape) - 2
    pads = list(conv.attribute("pads") or (0,) * (2 * count))
    strides = conv.attribute("strides") or (1,) * count
    if conv.attribute("auto_pad", "NOTSET") not in ("NOTSET", b"NOTSET", ""):
        return Declined("the convolution pads by itself")
    for axis, (start, end, step) in bounds.items():
        cut = _cut(shape[axis], start, end)
        if axis < 2 or step != 1 or cut is None or strides[axis - 2] != 1:
            return Declined("axis {0} is not only cut at its borders, or is no image axis of stride 1", axis)
        pads[axis - 2] -= cut[0]
        pads[axis - 2 + count] -= cut[1]
    if min(pads) < 0:
        return Declined("more is cut off than was padded")
    spec = NodeSpec("Conv", tuple(conv.inputs), {"pads": tuple(pads)}, like=conv)
    return replace(node, spec, "less padding gives fewer places at the borders")


def _cut(length: Dim, start: int, end: int) -> tuple[int, int] | None:
    """How many places go at the front and at the back, when at least one is left for every length."""
    if isinstance(length, int):
        kept = slice_range(length, start, end, 1)
        return (kept[0], length - 1 - kept[-1]) if kept else None
    if start < 0 or 0 <= end < AXIS_LIMIT:
        return None
    back = 0 if end >= AXIS_LIMIT else -end
    return (start, back) if is_positive(length - start - back) else None


RULE = Rule(
    id="fuse-slice-into-conv",
    family="conv",
    roots=("Slice",),
    since_opset=1,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    propose=propose,
)
