"""Apply the transfer tables to a node and merge what they say into the facts of its outputs.

House: analysis. May import model.
Touch: `transfer/` holds the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from onnxsim_ci.analysis.axes import axis_symbol
from onnxsim_ci.analysis.content import CONTENT_LIMIT, RANGES, Content, confined
from onnxsim_ci.analysis.dim import Dim, Shape, Symbolic, is_settled, is_vague
from onnxsim_ci.analysis.transfer import (
    CONTENTS,
    ELEMENT_TYPES,
    OUTPUT_CONTENTS,
    OUTPUT_SHAPES,
    OUTPUT_TYPES,
    SHAPES,
)
from onnxsim_ci.analysis.transfer.contrib import CONTRIB, CONTRIB_DOMAIN

if TYPE_CHECKING:
    from onnxsim_ci.analysis.facts import Facts
    from onnxsim_ci.model import Node, Value


def transfer(node: Node, facts: Facts) -> bool:
    """Learn element types, shapes and contents of the node's outputs; True when something new is known.

    A node that does not fit its schema teaches nothing; refusing it is not the business of the facts.
    """
    if node.domain == CONTRIB_DOMAIN and not node.is_call:
        return _if_it_fits(_transfer_contrib, node, facts)
    if node.operator is None or node.domain:
        return False
    if len(node.outputs) == 1:
        output = node.outputs[0]
        if output is None or (output.dtype not in RANGES and output.dtype != 0 and is_settled(output.shape)):
            return False
    inputs: list[object] = []
    for value in node.inputs:
        if value is not None:
            inputs += (value.shape, value.content, value.dtype, value.is_constant)
    if node.learned_from == inputs:
        return False
    node.learned_from = inputs
    return _if_it_fits(_transfer_all if node.op_type in OUTPUT_SHAPES else _transfer_one, node, facts)


def _if_it_fits(function: Callable[[Node, Facts], bool], node: Node, facts: Facts) -> bool:
    try:
        return function(node, facts)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return False


def _transfer_contrib(node: Node, facts: Facts) -> bool:
    """Operators of onnxruntime that the table knows."""
    function = CONTRIB.get(node.op_type)
    if function is None or all(v is None or is_settled(v.shape) for v in node.outputs):
        return False
    is_new = False
    for output, (dtype, shape) in zip(node.outputs, function(node, facts), strict=False):
        if output is not None:
            is_new |= output.dtype == 0 and _learn_dtype(output, dtype)
            is_new |= learn_shape(output, shape)
    return is_new


def _transfer_one(node: Node, facts: Facts) -> bool:
    """Operators with one output."""
    op_type = node.op_type
    output = node.outputs[0] if node.outputs else None
    if output is None or output.is_constant:
        return False
    is_new = False
    if output.dtype == 0 and op_type in ELEMENT_TYPES:
        is_new = _learn_dtype(output, ELEMENT_TYPES[op_type](node, facts))
    if op_type in SHAPES and not is_settled(output.shape):
        is_new |= learn_shape(output, SHAPES[op_type](node, facts))
    if op_type in CONTENTS and _may_have_content(output):
        is_new |= _learn_content(output, CONTENTS[op_type](node, facts))
    return is_new


def _transfer_all(node: Node, facts: Facts) -> bool:
    """Operators with several outputs."""
    op_type = node.op_type
    live = [None if o is None or o.is_constant else o for o in node.outputs]
    is_new = False
    if op_type in OUTPUT_TYPES and any(o is not None and o.dtype == 0 for o in live):
        for output, dtype in zip(live, OUTPUT_TYPES[op_type](node, facts), strict=False):
            if output is not None and output.dtype == 0:
                is_new |= _learn_dtype(output, dtype)
    if any(o is not None and not is_settled(o.shape) for o in live):
        for output, shape in zip(live, OUTPUT_SHAPES[op_type](node, facts) or (), strict=False):
            if output is not None and not is_settled(output.shape):
                is_new |= learn_shape(output, shape)
    if op_type in OUTPUT_CONTENTS and any(o is not None and _may_have_content(o) for o in live):
        for output, content in zip(live, OUTPUT_CONTENTS[op_type](node, facts) or (), strict=False):
            if output is not None:
                is_new |= _learn_content(output, content)
    return is_new


def learn_shape(value: Value, shape: Shape | None) -> bool:
    """Merge a proven shape into the value's; a proven integer replaces whatever stood there."""
    old = value.shape
    if shape is None or old == shape:
        return False
    for dim in shape:
        if dim.__class__ is int and dim < 0:
            return False
    if old is None or len(old) != len(shape):
        value.shape = shape
        return True
    merged = list(shape)
    for axis, dim in enumerate(old):
        if dim is not merged[axis]:
            merged[axis] = _better(value, axis, dim, merged[axis])
    if tuple(merged) == old:
        return False
    value.shape = tuple(merged)
    return True


def _better(value: Value, axis: int, old: Dim, new: Dim) -> Dim:
    """The dim to keep: integers first, then what is resolved, then what names another value's axis."""
    if isinstance(new, int) or old == new:
        return new
    if isinstance(old, int) or (is_vague(new) and not is_vague(old)):
        return old
    return old if _is_own(new, value, axis) else new


def _is_own(dim: Symbolic, value: Value, axis: int) -> bool:
    """True when `dim` is nothing but the symbol of this axis."""
    coefficient, monomial = dim.terms[0]
    if len(dim.terms) != 1 or coefficient != 1 or len(monomial) != 1:
        return False
    return monomial[0].endswith(f"[{axis}]") and dim == axis_symbol(value, axis)


def _may_have_content(value: Value) -> bool:
    """True when the value is a small integer tensor whose elements are not all resolved."""
    if value.dtype not in RANGES:
        return False
    shape = value.shape
    if shape is not None and (
        len(shape) > 1 or (shape and isinstance(shape[0], int) and shape[0] > CONTENT_LIMIT)
    ):
        return False
    content: Content | None = value.content
    return content is None or any(e is None or is_vague(e) for e in content.elements)


def _learn_dtype(value: Value, dtype: int) -> bool:
    value.dtype = dtype
    return dtype != 0


def _learn_content(value: Value, content: Content | None) -> bool:
    """Keep a content that fits the element type and length, and the shape that follows from it."""
    if content is None or len(content.elements) > CONTENT_LIMIT:
        return False
    content = confined(content, value.dtype)
    if content is None or content == value.content:
        return False
    value.content = content
    learn_shape(value, (len(content.elements),) if content.rank else ())
    return True
