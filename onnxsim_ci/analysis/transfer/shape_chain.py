"""Contents of the operators that read, cut and join shape vectors.

House: analysis/transfer. May import analysis and model.
Touch: `movement.py` has the shapes of the same operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnxsim_ci.analysis.content import CONTENT_LIMIT, Content, Element, vector
from onnxsim_ci.analysis.dim import Shape, product
from onnxsim_ci.analysis.transfer.reading import (
    ContentFunction,
    ContentsFunction,
    ShapeFunction,
    content_at,
    elements_of,
    numbers_of,
    shape_at,
)
from onnxsim_ci.analysis.transfer.slicing import slice_parameters, slice_range
from onnxsim_ci.analysis.transfer.splitting import split_sizes

if TYPE_CHECKING:
    from onnxsim_ci.analysis.facts import Facts
    from onnxsim_ci.model import Node


def _shape(node: Node, facts: Facts) -> Content | None:
    """Attributes start and end (opset 15) count like Python's slices, clamped to the rank."""
    shape = shape_at(node, facts, 0)
    return None if shape is None else vector(shape[node.attribute("start", 0) : node.attribute("end")])


def _size(node: Node, facts: Facts) -> Content | None:
    shape = shape_at(node, facts, 0)
    return None if shape is None else Content(0, (product(shape),))


def _same(node: Node, facts: Facts) -> Content | None:
    return content_at(node, facts, 0)


def _reranked(node: Node, facts: Facts) -> Content | None:
    """The elements in their order; the rank is the output's, which shape transfer knows before."""
    content = content_at(node, facts, 0)
    output = node.outputs[0]
    if content is None or output is None or output.shape is None or len(output.shape) > 1:
        return None
    if not output.shape and len(content.elements) != 1:
        return None
    return Content(len(output.shape), content.elements)


def _gather(node: Node, facts: Facts) -> Content | None:
    """Unknown indices give unknown elements; an index out of range makes the operator fail."""
    data, indices = content_at(node, facts, 0), content_at(node, facts, 1)
    if data is None or data.rank != 1 or indices is None:
        return None
    length = len(data.elements)
    if any(isinstance(i, int) and not -length <= i < length for i in indices.elements):
        return None
    picked = tuple(data.elements[i] if isinstance(i, int) else None for i in indices.elements)
    return Content(indices.rank, picked)


def _gather_elements(node: Node, facts: Facts) -> Content | None:
    indices = content_at(node, facts, 1)
    return _gather(node, facts) if indices is not None and indices.rank == 1 else None


def _slice(node: Node, facts: Facts) -> Content | None:
    content = content_at(node, facts, 0)
    parameters = slice_parameters(node, facts, 1)
    if content is None or content.rank != 1 or not parameters:
        return content if parameters == {} else None
    start, end, step = parameters[0]
    length = len(content.elements)
    if isinstance(start, int) and isinstance(end, int) and isinstance(step, int):
        return vector([content.elements[i] for i in slice_range(length, start, end, step)])
    return None


def _concat(node: Node, facts: Facts) -> Content | None:
    """Operands of unknown content and known length count as unknown elements."""
    joined: list[Element] = []
    for index in range(len(node.inputs)):
        elements = _vector_elements(node, facts, index)
        if elements is None or len(joined) + len(elements) > CONTENT_LIMIT:
            return None
        joined += elements
    return vector(joined)


def _vector_elements(node: Node, facts: Facts, index: int) -> tuple[Element, ...] | None:
    content = content_at(node, facts, index)
    if content is not None:
        return content.elements if content.rank == 1 else None
    shape = shape_at(node, facts, index)
    is_vector = shape is not None and len(shape) == 1
    length = shape[0] if shape is not None and is_vector else None
    return (None,) * length if isinstance(length, int) and length <= CONTENT_LIMIT else None


def _split(node: Node, facts: Facts) -> list[Content | None] | None:
    content = content_at(node, facts, 0)
    if content is None or content.rank != 1:
        return None
    sizes = split_sizes(node, facts, len(content.elements))
    if sizes is None:
        return None
    parts: list[Content | None] = []
    position = 0
    for size in sizes:
        if not isinstance(size, int):
            return None
        parts.append(vector(content.elements[position : position + size]))
        position += size
    return parts


def _expand(node: Node, facts: Facts) -> Content | None:
    """Only to rank 1 and a static length."""
    content, target = content_at(node, facts, 0), numbers_of(node, facts, "", 1)
    if content is None or target is None or len(target) > 1:
        return None
    if len(content.elements) != 1 or not target:
        return content
    rank = max(content.rank, len(target))
    return vector(content.elements * target[0]) if 0 <= target[0] <= CONTENT_LIMIT and rank == 1 else None


def _tile(node: Node, facts: Facts) -> Content | None:
    content, repeats = content_at(node, facts, 0), numbers_of(node, facts, "", 1)
    if content is None or content.rank != 1 or repeats is None or len(repeats) != 1:
        return None
    is_small = 0 <= repeats[0] * max(1, len(content.elements)) <= CONTENT_LIMIT
    return vector(content.elements * repeats[0]) if is_small else None


def _transpose(node: Node, facts: Facts) -> Content | None:
    """Rank 0 and 1 have only one permutation."""
    return content_at(node, facts, 0)


def _constant_of_shape(node: Node, facts: Facts) -> Content | None:
    """A vector or scalar of one integer, when the length is static."""
    target = elements_of(node, facts, "", 0)
    value = node.attribute("value")
    if target is None or len(target) > 1 or value is None:
        return None
    number = int(facts.weights.array(value).ravel()[0])
    if not target:
        return Content(0, (number,))
    length = target[0]
    is_small = isinstance(length, int) and 0 <= length <= CONTENT_LIMIT
    return Content(1, (number,) * length) if isinstance(length, int) and is_small else None


def _range(node: Node, facts: Facts) -> Content | None:
    """Integers only (`learning` checks the element type); the count is static, start may be symbolic."""
    ends = [content_at(node, facts, i) for i in range(3)]
    if any(c is None or len(c.elements) != 1 for c in ends):
        return None
    start, limit, delta = (c.elements[0] for c in ends if c is not None)
    if start is None or limit is None or not isinstance(delta, int) or delta == 0:
        return None
    span = limit - start
    if not isinstance(span, int):
        return None
    count = max(0, -(-span // delta))
    return Content(1, tuple(start + i * delta for i in range(count))) if count <= CONTENT_LIMIT else None


def _scalar_shape(_node: Node, _facts: Facts) -> Shape | None:
    return ()


def _rank_shape(node: Node, facts: Facts) -> Shape | None:
    content = _shape(node, facts)
    return None if content is None else (len(content.elements),)


CONTENTS: dict[str, ContentFunction] = {
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "Expand": _expand,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "Identity": _same,
    "Range": _range,
    "Reshape": _reranked,
    "Shape": _shape,
    "Size": _size,
    "Slice": _slice,
    "Squeeze": _reranked,
    "Tile": _tile,
    "Transpose": _transpose,
    "Unsqueeze": _reranked,
}
OUTPUT_CONTENTS: dict[str, ContentsFunction] = {"Split": _split}
SHAPES: dict[str, ShapeFunction] = {"Shape": _rank_shape, "Size": _scalar_shape}
