"""Let the readers of an inference Dropout read its input.

Without training Dropout is the identity. Declined when training_mode may be true and when the mask is read.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/elementwise/eliminate_dropout.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace


def propose(node: Node, facts: Facts) -> Edit | Declined:
    source = node.inputs[0]
    mask = node.output(1)
    if source is None:
        return Declined("its input is absent")
    if mask is not None and mask.is_read:
        return Declined("the mask {0!r} is read", mask)
    mode = node.input(2)
    if mode is not None:
        training = facts.array(mode, 1)
        if training is None or training.size != 1:
            return Declined("training_mode {0!r} is not a constant", mode)
        if bool(training.reshape(())):
            return Declined("training_mode is true")
    return replace(node, source, "Dropout copies its input when it does not train")


RULE = Rule(
    id="eliminate-dropout",
    family="elementwise",
    roots=("Dropout",),
    since_opset=7,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    propose=propose,
)
