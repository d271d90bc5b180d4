"""Shape of Reshape.

House: analysis/transfer. May import analysis and model.
Touch: the Reshape rules of `rewrite` rely on `or_copied`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnxsim_ci.analysis.content import Elements
from onnxsim_ci.analysis.dim import Dim, Shape, exact_quotient, is_nonnegative, is_positive, product, terms_of
from onnxsim_ci.analysis.opaque import floordiv, or_copied
from onnxsim_ci.analysis.transfer.reading import ShapeFunction, elements_of, shape_at, unknown_dim

if TYPE_CHECKING:
    from onnxsim_ci.analysis.facts import Facts
    from onnxsim_ci.model import Node


def reshape(node: Node, facts: Facts) -> Shape | None:
    """Target elements, 0 copying the input's dim unless `allowzero`, -1 for what remains.

    The -1 is the quotient of the element counts: where the division is not possible the operator fails.
    """
    source = shape_at(node, facts, 0)
    target = elements_of(node, facts, "shape", 1)
    if target is None:
        return None
    is_zero_literal = bool(node.attribute("allowzero", 0))
    dims: list[Dim | None] = []
    for axis, element in enumerate(target):
        if element is not None and source is not None and source[axis : axis + 1] == (element,):
            dims.append(element)
        elif element is None or element == -1 or not is_nonnegative(element):
            dims.append(None)
        elif is_zero_literal or is_positive(element):
            dims.append(element)
        else:
            dims.append(_perhaps_copied(source, target, axis, element))
    holes = [axis for axis, dim in enumerate(dims) if dim is None]
    if len(holes) == 1 and source is not None and _is_inferred(target[holes[0]], dims, source):
        rest = product(d for d in dims if d is not None)
        count = product(source)
        if rest != 0:
            quotient = exact_quotient(count, rest)
            dims[holes[0]] = floordiv(count, rest) if quotient is None else quotient
    return tuple(unknown_dim(node, i) if d is None else d for i, d in enumerate(dims))


def _is_inferred(element: Dim | None, dims: list[Dim | None], source: Shape) -> bool:
    """True when the one open dim is what remains of the element count.

    An unknown element is that too, except that it may be any size of an empty tensor.
    """
    return element == -1 or (is_positive(product(source)) and all(d is None or d != 0 for d in dims))


def _perhaps_copied(source: Shape | None, target: Elements, axis: int, element: Dim) -> Dim | None:
    """The dim that an element gives which may be 0 and would then copy the input's dim.

    Where an element that is 0 empties the input, the copy makes the operator fail unless another element is 0
    too.
    """
    if source is None:
        return None
    if axis >= len(source):
        return element if element != 0 else None
    copied = source[axis]
    if element == 0:
        return copied
    if _vanishes_with(copied, element):
        return element
    others = [_meant(source, i, e) for i, e in enumerate(target) if i != axis]
    if _vanishes_with(product(source), element) and all(e is not None for e in others):
        return or_copied(element, copied, product(e for e in others if e is not None))
    return or_copied(element, copied)


def _meant(source: Shape, axis: int, element: Dim | None) -> Dim | None:
    """The size that an element means when it is not 0 by chance; None for -1 and unknown ones."""
    if element == 0:
        return source[axis] if axis < len(source) else None
    return None if element == -1 else element


def _vanishes_with(dim: Dim, element: Dim) -> bool:
    """True when dim is 0 wherever the element is: each symbol of a one-term element divides it."""
    terms = terms_of(element)
    if len(terms) != 1:
        return exact_quotient(dim, element) is not None
    factors = [set(m) for _, m in terms_of(dim)]
    return all(all(s in f for f in factors) for s in terms[0][1])


SHAPES: dict[str, ShapeFunction] = {"Reshape": reshape}
