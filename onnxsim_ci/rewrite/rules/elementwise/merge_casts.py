"""Replace two chained Casts by one, or by nothing, when the first one loses nothing.

If every value of the first type exists in the middle type, the second Cast sees the same number as it would
without the first. Integers keep wrapping alike only between integers; floats become int32 or int64 alike from
any float type. Declined where the middle type rounds, saturates or wraps, and for strings and 8-bit floats.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/elementwise/merge_casts.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.element_types import BOOL, FLOATS, INTEGERS, holds_all, is_number
from onnxsim_ci.rewrite.patterns import feeder


def propose(node: Node, facts: Facts) -> Edit | Declined:
    inner = feeder(node, 0, "Cast")
    if inner is None or inner.inputs[0] is None:
        return Declined("its input does not come from a Cast")
    source, middle_value = inner.inputs[0], node.inputs[0]
    first, middle, last = facts.dtype(source), inner.attribute("to"), node.attribute("to")
    if not (is_number(first) and is_number(middle) and is_number(last)):
        return Declined("an element type of the chain is unknown, a string or a narrow float")
    if not holds_all(middle, first):
        return Declined("the first Cast of the chain may change {0!r}", source)
    if first == last:
        return replace(node, source, "the first Cast loses nothing and the second undoes it")
    if not _same_from_both(first, middle, last):
        return Declined("the second Cast may differ when it starts from {0!r}", source)
    if middle_value is None or not middle_value.single_reader:
        return Declined("inner result {0!r} has another reader", middle_value)
    return replace(node, NodeSpec("Cast", (source,), like=node), "the first Cast loses nothing")


def _same_from_both(first: int, middle: int, last: int) -> bool:
    """True when `last` gets the same bits from a number in `first` as from the same number in `middle`."""
    if last in FLOATS or BOOL in (first, last):
        return True
    if first in INTEGERS:
        return middle in INTEGERS or holds_all(last, first)
    return middle in FLOATS and last in (6, 7)


RULE = Rule(
    id="merge-casts",
    family="elementwise",
    roots=("Cast",),
    since_opset=9,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"nan", "infinity", "negative_zero", "integer_extremes", "large"}),
    propose=propose,
)
