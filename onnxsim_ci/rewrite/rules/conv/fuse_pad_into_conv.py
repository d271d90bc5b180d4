"""Let a Conv pad its input itself.

Zero padding of the spatial axes is what `pads` does. Declined for other modes and values, negative pads (they
crop), padded batch or channel axes, SAME_* auto_pad (its pads depend on the size), and when the padded value
has another reader.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/conv/fuse_pad_into_conv.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.transfer.reading import numbers_of
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.patterns import feeder


def propose(node: Node, facts: Facts) -> Edit | Declined:
    pad = feeder(node, 0, "Pad")
    value, weight = node.inputs[0], node.inputs[1]
    if pad is None or value is None or weight is None or pad.inputs[0] is None:
        return Declined("its input does not come from a Pad")
    if not value.single_reader:
        return Declined("padded value {0!r} has another reader", value)
    rank = facts.rank(weight)
    if rank is None or rank < 3:
        return Declined("the rank of {0!r} is not known", weight)
    if node.attribute("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        return Declined("auto_pad makes pads that depend on the size")
    if not _pads_zero(pad, facts):
        return Declined("the Pad before {0!r} writes something else than zeros", value)
    amounts = _amounts(pad, facts, rank)
    if amounts is None or any(a < 0 for a in amounts):
        return Declined("the pads of {0!r} are not known, or crop", value)
    if any(amounts[a] or amounts[rank + a] for a in (0, 1)):
        return Declined("batch or channels of {0!r} are padded", value)
    own = node.attribute("pads", (0,) * (2 * rank - 4))
    if node.attribute("auto_pad", "NOTSET") == "VALID":
        own = (0,) * (2 * rank - 4)
    pads = [p + a for p, a in zip(own, (*amounts[2:rank], *amounts[rank + 2 :]), strict=True)]
    spec = NodeSpec("Conv", (pad.inputs[0], *node.inputs[1:]), {"pads": pads, "auto_pad": None}, like=node)
    return replace(node, spec, "the convolution pads with zeros itself")


def _pads_zero(pad: Node, facts: Facts) -> bool:
    if pad.attribute("mode", "constant") != "constant":
        return False
    if pad.scope.opset < 11:
        return bool(pad.attribute("value", 0.0) == 0)
    value = pad.input(2)
    return value is None or facts.scalar(value) == 0


def _amounts(pad: Node, facts: Facts, rank: int) -> tuple[int, ...] | None:
    """Begins and ends of all axes; None when they are not known."""
    pads = numbers_of(pad, facts, "pads", 1)
    axes: tuple[int, ...] | None = tuple(range(rank))
    if pad.input(3) is not None:
        axes = facts.axes(pad, rank, 3)
    if pads is None or axes is None or len(pads) != 2 * len(axes):
        return None
    amounts = [0] * (2 * rank)
    for place, axis in enumerate(axes):
        amounts[axis] = pads[place]
        amounts[rank + axis] = pads[len(axes) + place]
    return tuple(amounts)


RULE = Rule(
    id="fuse-pad-into-conv",
    family="conv",
    roots=("Conv",),
    since_opset=2,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"nan", "infinity"}),
    propose=propose,
)
