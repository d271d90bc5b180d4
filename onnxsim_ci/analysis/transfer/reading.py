"""What transfer functions read of a node: shapes, contents, and parameters as attributes or inputs.

House: analysis/transfer. May import analysis and model.
Touch: every other module of this package.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from onnxsim_ci.analysis.axes import axis_symbol
from onnxsim_ci.analysis.content import Content, Elements
from onnxsim_ci.analysis.dim import Dim, Shape

if TYPE_CHECKING:
    from onnxsim_ci.analysis.facts import Facts
    from onnxsim_ci.model import Node

ShapeFunction: TypeAlias = "Callable[[Node, Facts], Shape | None]"
"""Shape of the first output."""
ShapesFunction: TypeAlias = "Callable[[Node, Facts], Sequence[Shape | None] | None]"
"""Shapes of all outputs."""
ContentFunction: TypeAlias = "Callable[[Node, Facts], Content | None]"
"""Content of the first output, before confining it to the element type."""
ContentsFunction: TypeAlias = "Callable[[Node, Facts], Sequence[Content | None] | None]"
"""Contents of all outputs."""
TypeFunction: TypeAlias = "Callable[[Node, Facts], int]"
"""Element type of the first output; 0 when it cannot be told."""
TypesFunction: TypeAlias = "Callable[[Node, Facts], Sequence[int]]"
"""Element types of all outputs."""


def shape_at(node: Node, facts: Facts, index: int) -> Shape | None:
    """Shape of the input at `index`; None when it is absent or unknown."""
    value = node.input(index)
    return None if value is None else facts.shape(value)


def content_at(node: Node, facts: Facts, index: int) -> Content | None:
    """Content of the input at `index`; None when it is absent or unknown."""
    value = node.input(index)
    return None if value is None else facts.content(value)


def is_given(node: Node, name: str, index: int) -> bool:
    """True when the parameter is there, as an attribute or as an input."""
    return node.input(index) is not None or node.attribute(name) is not None


def elements_of(node: Node, facts: Facts, name: str, index: int) -> Elements | None:
    """Elements of a parameter that is attribute `name` or the input at `index`; None where unknown.

    A vector of known length and unknown elements is a tuple of None.
    """
    attribute = node.attribute(name)
    if attribute is not None:
        return tuple(attribute) if isinstance(attribute, tuple) else (int(attribute),)
    content = content_at(node, facts, index)
    if content is not None:
        return content.elements
    shape = shape_at(node, facts, index)
    if shape is not None and len(shape) == 1 and isinstance(shape[0], int):
        return (None,) * shape[0]
    return None


def numbers_of(node: Node, facts: Facts, name: str, index: int) -> tuple[int, ...] | None:
    """The same when all elements are integers, else None."""
    elements = elements_of(node, facts, name, index)
    if elements is None:
        return None
    numbers = tuple(e for e in elements if isinstance(e, int))
    return numbers if len(numbers) == len(elements) else None


def axis_of(node: Node, rank: int, default: int | None = None) -> int | None:
    """Attribute `axis` from 0 to rank - 1; None when it is missing or out of range."""
    axis = node.attribute("axis", default)
    return axis % rank if axis is not None and -rank <= axis < rank else None


def unknown_dim(node: Node, axis: int, output: int = 0) -> Dim:
    """The symbol for an axis of an output about which nothing is known."""
    value = node.outputs[output]
    assert value is not None
    return axis_symbol(value, axis)


def unknown_shape(node: Node, rank: int, output: int = 0) -> Shape | None:
    """A shape of which only the rank is known; None for an absent output."""
    value = node.output(output)
    return None if value is None else tuple(axis_symbol(value, axis) for axis in range(rank))
