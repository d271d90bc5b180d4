"""What is known about values: element type, shape, content, constant elements.

Facts live in the slots `dtype`, `shape` and `content` of the values, so they survive whatever the driver
does to the graph around a value. They only ever get more precise.

House: analysis. May import model.
Touch: `transfer/` (how facts flow through operators), `inference.py` (how they start).
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto

from onnxsim_ci.analysis.content import CONTENT_LIMIT, RANGES, Content
from onnxsim_ci.analysis.dim import Dim, Shape, product
from onnxsim_ci.analysis.learning import transfer
from onnxsim_ci.analysis.opaque import broadcast_shapes, claimed, claims_of
from onnxsim_ci.model import element_type

if TYPE_CHECKING:
    from onnxsim_ci.model import Graph, Node, Value, Weights

_KEPT_BYTES = 4096
"""Arrays up to this size stay on their value once they were read."""
_COMPARED_ELEMENTS = 1 << 20
"""Elements compared at once, so that a large weight needs little memory."""


class Facts:
    """Answers about the values of one model; "no" and None mean "not proven".

    Args:
        graph: Index whose values hold the facts.
        weights: Reader of the model's tensors.
    """

    __slots__ = ("graph", "weights")

    def __init__(self, graph: Graph, weights: Weights) -> None:
        self.graph = graph
        self.weights = weights

    def dtype(self, value: Value) -> int:
        """TensorProto element type; 0 unknown, -1 not a tensor."""
        if value.dtype == 0 and not value.overridable:
            if value.tensor is not None:
                value.dtype = value.tensor.data_type
            elif value.data is not None:
                value.dtype = element_type(value.data.dtype)
        return value.dtype

    def shape(self, value: Value) -> Shape | None:
        """Dims of the value, symbolic where they are not static."""
        if value.shape is None and not value.overridable:
            if value.tensor is not None:
                value.shape = tuple(value.tensor.dims)
            elif value.data is not None:
                value.shape = value.data.shape
        return value.shape

    def rank(self, value: Value) -> int | None:
        """Number of axes."""
        shape = self.shape(value)
        return None if shape is None else len(shape)

    def static_shape(self, value: Value) -> tuple[int, ...] | None:
        """Dims of the value when all are integers."""
        shape = self.shape(value)
        if shape is None:
            return None
        static = tuple(d for d in shape if isinstance(d, int))
        return static if len(static) == len(shape) else None

    def content(self, value: Value) -> Content | None:
        """Elements of an integer or bool tensor of rank 0 or 1 with at most 64 elements; constants too."""
        if value.content is None and value.is_constant and self.dtype(value) in RANGES:
            array = self.array(value, CONTENT_LIMIT)
            if array is not None and array.ndim < 2:
                value.content = Content(array.ndim, tuple(map(int, array.ravel().tolist())))
        found: Content | None = value.content
        return found

    def known(self, value: Value) -> tuple[int, ...] | None:
        """Content of the value when all elements are integers."""
        content = self.content(value)
        if content is None:
            return None
        numbers = tuple(e for e in content.elements if isinstance(e, int))
        return numbers if len(numbers) == len(content.elements) else None

    def array(self, value: Value, limit: int | None = None) -> np.ndarray[Any, Any] | None:
        """Elements of a constant, never of one that can be overridden; None above `limit` elements.

        Raises:
            BadInput: The constant's data are missing or too short.
        """
        if value.overridable:
            return None
        data = value.data
        if data is None:
            tensor = value.tensor
            if tensor is None or (limit is not None and prod(tensor.dims) > limit):
                return None
            data = self.weights.array(tensor)
            if data.nbytes <= _KEPT_BYTES:
                value.data = data
        return data if limit is None or data.size <= limit else None

    def scalar(self, value: Value) -> float | int | None:
        """The one element of a numeric constant with exactly one, of any rank."""
        array = self.array(value, 1)
        if array is None or array.size != 1 or not _is_real(array.dtype):
            return None
        element = array.reshape(())[()]
        return int(element) if array.dtype.kind in "iub" else float(element)

    def is_filled(self, value: Value, number: float) -> bool:
        """True for a non-empty constant whose every element has the bits of `number` in its element type."""
        array = self.array(value)
        if array is None or array.size == 0 or not _is_real(array.dtype):
            return False
        first = array.flat[0]
        if first != number:
            return False
        wanted = np.array(number).astype(array.dtype)
        if array.dtype.kind in "iub":
            return bool(wanted == number and (array == wanted).all())
        bits = np.dtype(f"u{array.dtype.itemsize}")
        pattern = wanted.reshape(1).view(bits)[0]
        flat = array.ravel().view(bits)
        return bool(flat[0] == pattern) and all(
            bool((flat[i : i + _COMPARED_ELEMENTS] == pattern).all())
            for i in range(0, flat.size, _COMPARED_ELEMENTS)
        )

    def producer(self, value: Value | None, *op_types: str) -> Node | None:
        """Its producer, if that is an understood node of the default domain of one of these types."""
        node = value.producer if value is not None else None
        if node is None or node.domain or node.operator is None:
            return None
        return node if not op_types or node.op_type in op_types else None

    def axes(self, node: Node, rank: int, index: int = 1) -> tuple[int, ...] | None:
        """Attribute `axes`, or the constant input `index`, from 0 to rank - 1 in its order.

        None when there are none, when they are unknown, out of range or not unique; and when Squeeze is
        given an empty list, which kernels read as every axis of size 1 and shape inference as no axis.
        """
        axes = node.attribute("axes")
        if axes is None:
            value = node.input(index)
            axes = None if value is None else self.known(value)
        if axes is None or any(not -rank <= a < rank for a in axes):
            return None
        if not axes and node.op_type == "Squeeze":
            return None
        normal = tuple(a % rank for a in axes)
        return normal if len(set(normal)) == len(normal) else None

    def has_axes(self, node: Node, index: int = 1) -> bool:
        """True when axes are given, by attribute or by input."""
        return node.input(index) is not None or node.attribute("axes") is not None

    def size(self, shape: Shape) -> Dim:
        """Number of elements of a tensor of this shape."""
        return product(shape)

    def equal(self, a: Dim, b: Dim) -> bool:
        """True when the two are the same for every input."""
        return a == b

    def claimed_equal(self, a: Dim, b: Dim) -> bool:
        """True when the two are the same if each dim name of the inputs means one size and no size is 0."""
        return a == b or claimed(a) == claimed(b)

    def assumed(self, a: Dim, b: Dim) -> str | None:
        """The sentence to note when a rule relies on `claimed_equal`; None when the two are equal anyway."""
        if a == b:
            return None
        names = ", ".join(sorted(claims_of(a) | claims_of(b)))
        means = f"each of the dim names {names} means one size and " if names else ""
        return f"{a} and {b} are taken for the same size: {means}no size is 0"

    def broadcast(self, a: Shape | None, b: Shape | None) -> Shape | None:
        """Shape that two operands broadcast to; None when one is unknown or they do not fit."""
        return None if a is None or b is None else broadcast_shapes(a, b)

    def same_shape(self, a: Value, b: Value) -> bool:
        """True when both shapes are known and equal for every input."""
        shape = self.shape(a)
        return shape is not None and shape == self.shape(b)

    def transfer(self, node: Node) -> bool:
        """Learn about the node's outputs from its inputs; True when something new is known."""
        return transfer(node, self)


def _is_real(dtype: np.dtype[Any]) -> bool:
    """Bool, integer or floating point, those of ml_dtypes among them."""
    return dtype.kind in "biuf" or (dtype.kind == "V" and element_type(dtype) != TensorProto.STRING)
