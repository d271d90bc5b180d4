"""Python values of node attributes.

House: model. May import onnx.
Touch: `mutation.py` makes attributes from the same values.
"""

from __future__ import annotations

from typing import Any

from onnx import AttributeProto


def attribute_value(attribute: AttributeProto) -> Any:
    """Python form of one attribute: int, float, str, tuples of them, or the message itself."""
    kind = attribute.type
    if kind == AttributeProto.INT:
        return attribute.i
    if kind == AttributeProto.INTS:
        return tuple(attribute.ints)
    if kind == AttributeProto.FLOAT:
        return attribute.f
    if kind == AttributeProto.STRING:
        return attribute.s.decode("utf-8", "surrogateescape")
    if kind == AttributeProto.FLOATS:
        return tuple(attribute.floats)
    if kind == AttributeProto.STRINGS:
        return tuple(s.decode("utf-8", "surrogateescape") for s in attribute.strings)
    if kind == AttributeProto.TENSOR:
        return attribute.t
    if kind == AttributeProto.GRAPH:
        return attribute.g
    return attribute
