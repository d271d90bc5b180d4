"""Contents of arithmetic, comparisons, logic and reductions on integers and bools.

Elements are exact integers here; what might wrap around in the element type is dropped afterwards
(`content.confined`). Unknown elements are None.

House: analysis/transfer. May import analysis and model.
Touch: `elementwise.py` has the shapes and element types of the same operators.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING

from onnx import TensorProto

from onnxsim_ci.analysis.content import RANGES, Content, Element, elementwise
from onnxsim_ci.analysis.dim import Dim, is_nonnegative, is_positive
from onnxsim_ci.analysis.opaque import maximum, minimum, modulo, truncdiv
from onnxsim_ci.analysis.transfer.reading import ContentFunction, content_at
from onnxsim_ci.analysis.transfer.reduction import reduced_axes

if TYPE_CHECKING:
    from onnxsim_ci.analysis.facts import Facts
    from onnxsim_ci.model import Node


def _lifted(function: Callable[..., Element]) -> ContentFunction:
    """The content function of an operator whose elements depend on all operands being known."""

    def known_only(*elements: Element) -> Element:
        return None if any(e is None for e in elements) else function(*elements)

    return _partly(known_only)


def _partly(function: Callable[..., Element]) -> ContentFunction:
    """The same for a function that can do with unknown elements."""

    def content(node: Node, facts: Facts) -> Content | None:
        if node.attribute("broadcast") is not None:
            return None
        return elementwise(function, [content_at(node, facts, i) for i in range(len(node.inputs))])

    return content


def _add(a: Dim, b: Dim) -> Element:
    return a + b


def _sub(a: Dim, b: Dim) -> Element:
    return a - b


def _mul(a: Element, b: Element) -> Element:
    if 0 in (a, b):
        return 0
    return None if a is None or b is None else a * b


def _div(a: Dim, b: Dim) -> Element:
    """Rounds toward zero; division by 0 is not defined."""
    return None if b == 0 else truncdiv(a, b)


def _mod(node: Node, facts: Facts) -> Content | None:
    """The sign is the divisor's, with `fmod` the dividend's; by 0 it is not defined."""
    is_fmod = bool(node.attribute("fmod", 0))

    def remainder(a: Element, b: Element) -> Element:
        if a is None or b is None or b == 0:
            return None
        if not is_fmod or (is_nonnegative(a) and is_nonnegative(b)):
            return modulo(a, b)
        return a - b * truncdiv(a, b) if isinstance(a, int) and isinstance(b, int) else None

    return _partly(remainder)(node, facts)


def _neg(a: Dim) -> Element:
    return -a


def _abs(a: Dim) -> Element:
    if is_nonnegative(a):
        return a
    return -a if is_nonnegative(-a) else None


def _sign(a: Dim) -> Element:
    if is_positive(a):
        return 1
    return -1 if is_positive(-a) else 0 if a == 0 else None


def _max(*elements: Dim) -> Element:
    return maximum(*elements)


def _min(*elements: Dim) -> Element:
    return minimum(*elements)


def _clip(node: Node, facts: Facts) -> Content | None:
    """Bounds are optional inputs from version 11 on, and the upper one wins."""
    content = content_at(node, facts, 0)
    for index, function in ((1, maximum), (2, minimum)):
        if node.input(index) is not None:
            bound = content_at(node, facts, index)
            if content is None or bound is None or len(bound.elements) != 1:
                return None
            content = elementwise(_known(function), [content, Content(0, bound.elements)])
    return content


def _known(function: Callable[..., Dim]) -> Callable[..., Element]:
    return lambda *elements: None if any(e is None for e in elements) else function(*elements)


def _equal(a: Dim, b: Dim) -> Element:
    gap = a - b
    if isinstance(gap, int):
        return int(gap == 0)
    return 0 if is_positive(gap) or is_positive(-gap) else None


def _less(a: Dim, b: Dim) -> Element:
    if is_positive(b - a):
        return 1
    return 0 if is_nonnegative(a - b) else None


def _less_or_equal(a: Dim, b: Dim) -> Element:
    return _negated(_less(b, a))


def _greater(a: Dim, b: Dim) -> Element:
    return _less(b, a)


def _greater_or_equal(a: Dim, b: Dim) -> Element:
    return _negated(_less(a, b))


def _negated(a: Element) -> Element:
    return None if a is None else 1 - a


def _and(a: Element, b: Element) -> Element:
    if 0 in (a, b):
        return 0
    return 1 if a == 1 and b == 1 else None


def _or(a: Element, b: Element) -> Element:
    if 1 in (a, b):
        return 1
    return 0 if a == 0 and b == 0 else None


def _xor(a: Dim, b: Dim) -> Element:
    return int(a != b) if isinstance(a, int) and isinstance(b, int) else None


def _where(condition: Element, a: Element, b: Element) -> Element:
    if condition is None:
        return a if a == b else None
    return a if condition == 1 else b if condition == 0 else None


def _cast(node: Node, facts: Facts) -> Content | None:
    """Between integers and bools; what the target cannot hold becomes unknown."""
    return _converted(node, facts, node.attribute("to", 0))


def _cast_like(node: Node, facts: Facts) -> Content | None:
    value = node.input(1)
    return None if value is None else _converted(node, facts, facts.dtype(value))


def _converted(node: Node, facts: Facts, target: int) -> Content | None:
    content = content_at(node, facts, 0)
    if content is None or target not in RANGES:
        return None
    if target == TensorProto.BOOL:
        return Content(content.rank, tuple(_truth(e) for e in content.elements))
    return content


def _truth(element: Element) -> Element:
    if element is None:
        return None
    return 1 if is_positive(element) or is_positive(-element) else 0 if element == 0 else None


def _reduction(function: Callable[[Dim, Dim], Dim], start: int | None) -> ContentFunction:
    """Content of a Reduce operator over a vector; `start` is the value for an empty one."""

    def content(node: Node, facts: Facts) -> Content | None:
        operand = content_at(node, facts, 0)
        if operand is None:
            return None
        if operand.rank == 0 or not reduced_axes(node, facts, 1):
            return operand if reduced_axes(node, facts, operand.rank) is not None else None
        known = [e for e in operand.elements if e is not None]
        if len(known) < len(operand.elements) or (not known and start is None):
            return None
        total = reduce(function, known) if known else start
        return Content(int(bool(node.attribute("keepdims", 1))), (total,))

    return content


CONTENTS: dict[str, ContentFunction] = {
    "Abs": _lifted(_abs),
    "Add": _lifted(_add),
    "And": _partly(_and),
    "Cast": _cast,
    "CastLike": _cast_like,
    "Clip": _clip,
    "Div": _lifted(_div),
    "Equal": _lifted(_equal),
    "Greater": _lifted(_greater),
    "GreaterOrEqual": _lifted(_greater_or_equal),
    "Less": _lifted(_less),
    "LessOrEqual": _lifted(_less_or_equal),
    "Max": _lifted(_max),
    "Min": _lifted(_min),
    "Mod": _mod,
    "Mul": _partly(_mul),
    "Neg": _lifted(_neg),
    "Not": _lifted(_negated),
    "Or": _partly(_or),
    "ReduceMax": _reduction(maximum, None),
    "ReduceMin": _reduction(minimum, None),
    "ReduceProd": _reduction(lambda a, b: a * b, 1),
    "ReduceSum": _reduction(lambda a, b: a + b, 0),
    "Sign": _lifted(_sign),
    "Sub": _lifted(_sub),
    "Sum": _lifted(lambda *elements: sum(elements)),
    "Where": _partly(_where),
    "Xor": _lifted(_xor),
}
