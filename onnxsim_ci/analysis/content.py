"""Known elements of small integer and bool tensors, and how they broadcast.

House: analysis. May import onnx.
Touch: `facts.py` reads contents of constants; `transfer/` makes those of results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from onnx import TensorProto

from onnxsim_ci.analysis.dim import Dim, Symbolic, bounds

CONTENT_LIMIT = 64
"""Tensors with more elements have no content."""

RANGES: dict[int, tuple[int, int]] = {
    TensorProto.BOOL: (0, 1),
    TensorProto.INT8: (-(2**7), 2**7 - 1),
    TensorProto.INT16: (-(2**15), 2**15 - 1),
    TensorProto.INT32: (-(2**31), 2**31 - 1),
    TensorProto.INT64: (-(2**63), 2**63 - 1),
    TensorProto.UINT8: (0, 2**8 - 1),
    TensorProto.UINT16: (0, 2**16 - 1),
    TensorProto.UINT32: (0, 2**32 - 1),
    TensorProto.UINT64: (0, 2**64 - 1),
}
"""Element types that have contents, with their least and greatest value."""

Element: TypeAlias = Dim | None
Elements: TypeAlias = tuple[Element, ...]


class Content(NamedTuple):
    """Elements of an integer or bool tensor of rank 0 or 1; None where unknown; bools are 0 and 1."""

    rank: int
    elements: Elements


def vector(elements: Sequence[Element]) -> Content | None:
    """Content of rank 1; None when it is too long or tells nothing."""
    if len(elements) > CONTENT_LIMIT or (elements and all(e is None for e in elements)):
        return None
    return Content(1, tuple(elements))


def elementwise(function: Callable[..., Element], contents: Sequence[Content | None]) -> Content | None:
    """`function` over the broadcast elements; it also sees the unknown ones."""
    known = [c for c in contents if c is not None]
    if len(known) < len(contents) or not known:
        return None
    length = next((len(c.elements) for c in known if len(c.elements) != 1), 1)
    if any(len(c.elements) not in (1, length) for c in known):
        return None
    rows = [c.elements if len(c.elements) == length else c.elements * length for c in known]
    elements = tuple(function(*column) for column in zip(*rows, strict=True))
    return Content(max(c.rank for c in known), elements)


def confined(content: Content, dtype: int) -> Content | None:
    """The content with elements that might wrap around in `dtype` made unknown; None when nothing is left.

    In int64 a symbolic element counts as safe: it is a size, or sums and products of sizes.
    """
    limits = RANGES.get(dtype)
    if limits is None:
        return None
    elements = content.elements
    if any(not _fits(e, limits, dtype) for e in elements if e is not None):
        elements = tuple(None if e is None or not _fits(e, limits, dtype) else e for e in elements)
    return None if elements and all(e is None for e in elements) else Content(content.rank, elements)


def _fits(element: Dim, limits: tuple[int, int], dtype: int) -> bool:
    least, most = limits
    if isinstance(element, int):
        return least <= element <= most
    if dtype == TensorProto.INT64:
        return _has_small_coefficients(element)
    low, high = bounds(element)
    return low is not None and low >= least and high is not None and high <= most


def _has_small_coefficients(element: Symbolic) -> bool:
    return all(-(2**62) < c < 2**62 for c, _ in element.terms)
