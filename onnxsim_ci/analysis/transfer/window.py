"""Shapes of the operators with sliding windows, of global pooling, and of resampling.

House: analysis/transfer. May import analysis and model.
Touch: `analysis/light_copy.py` hides from the C++ inference the sizes that are left open here.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from onnxsim_ci.analysis.content import Element
from onnxsim_ci.analysis.dim import Dim, Shape, exact_quotient, is_nonnegative
from onnxsim_ci.analysis.opaque import ceildiv, floordiv, maximum, truncdiv
from onnxsim_ci.analysis.transfer.reading import (
    ShapeFunction,
    ShapesFunction,
    elements_of,
    shape_at,
    unknown_dim,
    unknown_shape,
)

if TYPE_CHECKING:
    from onnxsim_ci.analysis.facts import Facts
    from onnxsim_ci.model import Node


class Window(NamedTuple):
    """Attributes of a window along one spatial axis; `extent` is the kernel's size with its dilation."""

    extent: int
    stride: int
    begin: int
    end: int

    @property
    def is_neutral(self) -> bool:
        """True when there are as many positions as elements."""
        return self.stride == 1 and self.begin + self.end + 1 == self.extent


def _windows(node: Node, kernel: Shape) -> list[Window] | None:
    """The window of each spatial axis; None for a kernel that is not static or attributes that do not fit."""
    count = len(kernel)
    strides = node.attribute("strides") or (1,) * count
    dilations = node.attribute("dilations") or (1,) * count
    pads = node.attribute("pads") or (0,) * (2 * count)
    if node.attribute("auto_pad", "NOTSET") == "VALID":
        pads = (0,) * (2 * count)
    if not (len(strides) == len(dilations) == count and len(pads) == 2 * count):
        return None
    windows = []
    for i, size in enumerate(kernel):
        if not isinstance(size, int):
            return None
        windows.append(Window((size - 1) * dilations[i] + 1, strides[i], pads[i], pads[i + count]))
    return windows


def _kernel(node: Node, weight: Shape | None) -> Shape | None:
    attribute: tuple[int, ...] | None = node.attribute("kernel_shape")
    return attribute or (None if weight is None else weight[2:])


def _is_same_pad(node: Node) -> bool:
    return str(node.attribute("auto_pad", "NOTSET")).startswith("SAME")


def _convolved_dim(dim: Dim, window: Window) -> Dim:
    """Positions of a window: floor((dim + pads - extent) / stride) + 1, at least 0 where it runs."""
    if window.is_neutral and is_nonnegative(dim):
        return dim
    return maximum(0, floordiv(dim + (window.begin + window.end - window.extent), window.stride) + 1)


def _pooled_dim(dim: Dim, window: Window) -> Dim:
    """The same rounded toward zero: pooling also runs when the window is larger than the padded input.

    Source: onnxruntime 1.32 and the inference of onnx 1.23 give 1 for size 1, kernel 2, stride 2.
    """
    if window.is_neutral and is_nonnegative(dim):
        return dim
    return maximum(0, truncdiv(dim + (window.begin + window.end - window.extent), window.stride) + 1)


def _pooled_dim_up(dim: Dim, window: Window) -> Dim | None:
    """The pooled dim rounded up, where nothing depends on whether a window may start in the end padding.

    Versions of the standard and of runtimes differ about such a last window, so its axis is left open.
    """
    up = ceildiv(dim + (window.begin + window.end - window.extent), window.stride) + 1
    is_inside = is_nonnegative(dim + window.begin - 1 - (up - 1) * window.stride)
    return up if is_inside or up == _pooled_dim(dim, window) else None


def _convolved(node: Node, x: Shape | None, weight: Shape | None) -> Shape | None:
    kernel = _kernel(node, weight)
    if x is None or weight is None or kernel is None or len(x) != len(kernel) + 2:
        return None
    windows = _windows(node, kernel)
    if windows is None:
        return (x[0], weight[0], *(unknown_dim(node, i) for i in range(2, len(x))))
    if _is_same_pad(node):
        return (x[0], weight[0], *(ceildiv(d, w.stride) for d, w in zip(x[2:], windows, strict=True)))
    return (x[0], weight[0], *(_convolved_dim(d, w) for d, w in zip(x[2:], windows, strict=True)))


def _conv(node: Node, facts: Facts) -> Shape | None:
    return _convolved(node, shape_at(node, facts, 0), shape_at(node, facts, 1))


def _quantized_conv(node: Node, facts: Facts) -> Shape | None:
    return _convolved(node, shape_at(node, facts, 0), shape_at(node, facts, 3))


def _conv_transpose(node: Node, facts: Facts) -> Shape | None:
    """Size stride * (dim - 1) + output_padding + extent - pads, unless `output_shape` says it.

    Source: ONNX operator ConvTranspose; with auto_pad SAME_* versions and kernels differ, so it is left open.
    """
    x, weight = shape_at(node, facts, 0), shape_at(node, facts, 1)
    kernel = _kernel(node, weight)
    if x is None or weight is None or kernel is None or len(x) != len(kernel) + 2:
        return None
    channels = weight[1] * node.attribute("group", 1)
    windows = _windows(node, kernel)
    given: tuple[int, ...] = node.attribute("output_shape") or ()
    extra = node.attribute("output_padding") or (0,) * len(kernel)
    if given:
        return (x[0], channels, *given[-len(kernel) :])
    if windows is None or len(extra) != len(kernel):
        return (x[0], channels, *(unknown_dim(node, i) for i in range(2, len(x))))
    if _is_same_pad(node):
        return (x[0], channels, *(unknown_dim(node, i) for i in range(2, len(x))))
    dims: list[Dim] = []
    for dim, window, more in zip(x[2:], windows, extra, strict=True):
        full = (dim - 1) * window.stride + (more + window.extent - window.begin - window.end)
        dims.append(maximum(0, full))
    return (x[0], channels, *dims)


def _pool(node: Node, facts: Facts) -> Shape | None:
    x = shape_at(node, facts, 0)
    kernel: tuple[int, ...] = node.attribute("kernel_shape") or ()
    windows = _windows(node, kernel)
    if x is None or windows is None or len(x) != len(kernel) + 2:
        return None
    dims: list[Dim] = []
    is_dilated = any(d != 1 for d in node.attribute("dilations") or ())
    for axis, (dim, window) in enumerate(zip(x[2:], windows, strict=True), 2):
        if _is_same_pad(node):
            result: Dim | None = None if is_dilated else ceildiv(dim, window.stride)
        elif node.attribute("ceil_mode", 0):
            result = _pooled_dim_up(dim, window)
        else:
            result = _pooled_dim(dim, window)
        dims.append(unknown_dim(node, axis) if result is None else result)
    return (*x[:2], *dims)


def _max_pool(node: Node, facts: Facts) -> list[Shape | None]:
    return [_pool(node, facts)] * len(node.outputs)


def _global_pool(node: Node, facts: Facts) -> Shape | None:
    x = shape_at(node, facts, 0)
    return None if x is None else x[:2] + (1,) * (len(x) - 2)


def _resize(node: Node, facts: Facts) -> Shape | None:
    """Sizes as given; with scales only dims whose product with the scale is an integer by proof.

    The others are rounded differently by kernels and by shape inference.
    """
    x = shape_at(node, facts, 0)
    if x is None:
        return None
    axes: tuple[int, ...] = tuple(a % len(x) for a in node.attribute("axes") or range(len(x)))
    sizes = elements_of(node, facts, "", 3) if node.input(3) is not None else None
    dims: list[Element] = list(x)
    if sizes is not None:
        is_stretch = node.attribute("keep_aspect_ratio_policy", "stretch") == "stretch"
        results: list[Element] = list(sizes) if is_stretch else [None] * len(sizes)
    else:
        scales = _scales(node, facts)
        if scales is None or len(scales) != len(axes):
            results = [None] * len(axes)
        else:
            results = [_scaled(x[a], s) for a, s in zip(axes, scales, strict=True)]
    if len(results) != len(axes):
        return unknown_shape(node, len(x))
    for axis, result in zip(axes, results, strict=True):
        dims[axis] = result
    return tuple(
        unknown_dim(node, i) if d is None or not is_nonnegative(d) else d for i, d in enumerate(dims)
    )


def _scales(node: Node, facts: Facts) -> tuple[float, ...] | None:
    """Attribute of Upsample below version 9, else a constant: the last input of Upsample and Resize 10."""
    attribute: tuple[float, ...] | None = node.attribute("scales")
    if attribute is not None:
        return attribute
    value = node.input(1 if len(node.inputs) == 2 else 2)
    shape = None if value is None else facts.static_shape(value)
    if value is None or shape is None or prod(shape) == 0:
        return None
    array = facts.array(value, 16)
    return None if array is None else tuple(array.astype(float).ravel().tolist())


def _scaled(dim: Dim, scale: float) -> Dim | None:
    ratio = Fraction(scale) if 0 < scale < 2**31 else Fraction(0)
    return exact_quotient(dim * ratio.numerator, ratio.denominator) if ratio else None


SHAPES: dict[str, ShapeFunction] = {
    **dict.fromkeys(("AveragePool", "LpPool"), _pool),
    **dict.fromkeys(("Conv", "ConvInteger"), _conv),
    **dict.fromkeys(("GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool"), _global_pool),
    **dict.fromkeys(("Resize", "Upsample"), _resize),
    "ConvTranspose": _conv_transpose,
    "QLinearConv": _quantized_conv,
}
OUTPUT_SHAPES: dict[str, ShapesFunction] = {"MaxPool": _max_pool}
