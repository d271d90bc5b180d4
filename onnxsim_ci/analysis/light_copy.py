"""A copy of a model for shape inference: without weights, and without claims that are no proof.

Dropped: value_info, types of outputs, types of the inputs of inner graphs, overridable initializers'
contents. Renamed: every dim of the main graph's inputs, so that no dim name joins two axes. Hidden:
operands from which the C++ inference would compute a size that kernels round in their own way.

House: analysis. May import model and onnx.
Touch: `inference.py` reads the result; `transfer/window.py` knows the sizes that are hidden here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    TypeProto,
    numpy_helper,
)

from onnxsim_ci.analysis.dim import Shape

if TYPE_CHECKING:
    from onnxsim_ci.model import Graph, Scope, Value

_KEPT_ELEMENTS = 64
"""Initializers with more elements become inputs: no shape is read from them."""
_LARGE = 2**31 - 1
_HIDDEN_DOMAIN = "onnxsim_ci.hidden"
_WITH_GRAPHS = frozenset({"If", "Loop", "Scan", "SequenceMap"})
_FLOATING = frozenset({TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16})


def light_copy(graph: Graph, model: ModelProto) -> ModelProto:
    """The copy of `model`, whose index is `graph`; inputs must have their symbolic shapes already."""
    light = ModelProto()
    light.ir_version = max(model.ir_version, 4)
    light.opset_import.extend(model.opset_import)
    for function in model.functions:
        _copy_function(function, light.functions.add())
    target = light.graph
    target.name = model.graph.name or "g"
    for value in graph.root.inputs:
        _add_input(target, value)
    copier = _Copier(light, graph)
    for tensor in model.graph.initializer:
        copier.initializer(tensor, target, graph.root.values.get(tensor.name))
    for sparse in model.graph.sparse_initializer:
        copier.as_input(sparse.values.name, sparse.values.data_type, sparse.dims)
    target.node.extend(model.graph.node)
    for node in _nodes_to_change(graph.root, target):
        _CHANGES[node.op_type](copier, node)
    for output in model.graph.output:
        target.output.add().name = output.name
    return light


def _copy_function(source: FunctionProto, target: FunctionProto) -> None:
    target.CopyFrom(source)
    target.ClearField("value_info")
    for node in target.node:
        for inner in inner_graphs_of(node):
            _drop_claims(inner)


def _drop_claims(graph: GraphProto) -> None:
    graph.ClearField("value_info")
    for info in (*graph.input, *graph.output):
        info.ClearField("type")
    for node in graph.node:
        if node.op_type in _WITH_GRAPHS:
            for inner in inner_graphs_of(node):
                _drop_claims(inner)


def _add_input(target: GraphProto, value: Value) -> None:
    """An input with its declared element type and the index's dims; other kinds of types are copied."""
    info = target.input.add()
    info.name = value.name
    declared = value.declared
    if declared is None or not declared.HasField("type"):
        return
    if declared.type.WhichOneof("value") != "tensor_type":
        info.type.CopyFrom(declared.type)
        return
    write_type(info.type.tensor_type, declared.type.tensor_type.elem_type, value.shape)


def write_type(target: TypeProto.Tensor, dtype: int, shape: Shape | None) -> None:
    """Write an element type and symbolic dims."""
    target.elem_type = dtype
    if shape is not None:
        target.shape.SetInParent()
        for dim in shape:
            if isinstance(dim, int):
                target.shape.dim.add().dim_value = dim
            else:
                target.shape.dim.add().dim_param = str(dim)


class _Copier:
    """Copies nodes and initializers, turning into inputs what inference shall not see."""

    def __init__(self, light: ModelProto, graph: Graph) -> None:
        self.light = light
        self.index = graph
        self.hidden: dict[tuple[int, int], str] = {}

    @cached_property
    def constants(self) -> dict[str, list[Value]]:
        """Constants of all scopes by name; inner scopes may use a name again."""
        found: dict[str, list[Value]] = {}
        for scope in self.index.scopes():
            for value in scope.values.values():
                if value.is_constant:
                    found.setdefault(value.name, []).append(value)
        return found

    def initializer(self, tensor: TensorProto, target: GraphProto, value: Value | None) -> None:
        """Small inline ones stay constants unless they can be overridden; others are known by type only."""
        if value is not None and value.overridable:
            return
        if tensor.data_location != TensorProto.EXTERNAL and prod(tensor.dims) <= _KEPT_ELEMENTS:
            target.initializer.append(tensor)
        elif value is None or not value.is_input:
            self.as_input(tensor.name, tensor.data_type, tensor.dims)

    def as_input(self, name: str, dtype: int, dims: Iterable[int]) -> None:
        info = self.light.graph.input.add()
        info.name = name
        write_type(info.type.tensor_type, dtype, tuple(dims))

    def inner_graphs(self, node: NodeProto) -> None:
        for graph in inner_graphs_of(node):
            _drop_claims(graph)
            for inner in graph.node:
                change = _CHANGES.get(inner.op_type)
                if change is not None:
                    change(self, inner)

    def resize(self, node: NodeProto) -> None:
        """Hide fractional scales, and sizes that a policy about the aspect ratio rounds."""
        for attribute in node.attribute:
            if attribute.name == "scales":
                node.domain = _HIDDEN_DOMAIN
            if (
                attribute.name == "keep_aspect_ratio_policy"
                and attribute.s != b"stretch"
                and len(node.input) > 3
            ):
                node.input[3] = self.hidden_input(TensorProto.INT64, 1)
        index = 1 if node.op_type == "Upsample" or len(node.input) == 2 else 2
        if index < len(node.input) and not self.is_whole(node.input[index]):
            node.input[index] = self.hidden_input(TensorProto.FLOAT, 1)

    def range(self, node: NodeProto) -> None:
        """Hide the limit of a Range over constant floats."""
        for value in self.constants.get(node.input[1], ()) if len(node.input) == 3 else ():
            if value.dtype in _FLOATING:
                node.input[1] = self.hidden_input(value.dtype, 0)
                break

    def spectrum(self, node: NodeProto) -> None:
        """Hide STFT: inference takes its default for all bins, kernels for one half of them (onnx 1.23)."""
        node.domain = _HIDDEN_DOMAIN

    def attention(self, node: NodeProto) -> None:
        """Hide an Attention with its scores, which inference calls scalar when ranks are open (onnx 1.23)."""
        if len(node.output) > 3:
            node.domain = _HIDDEN_DOMAIN

    def window(self, node: NodeProto) -> None:
        """Hide windows that round up, have dilations, or are transposed to SAME or to a given size."""
        for attribute in node.attribute:
            name, is_same = attribute.name, attribute.s.startswith(b"SAME")
            if (
                (name == "ceil_mode" and attribute.i)
                or name == "output_shape"
                or (name == "auto_pad" and is_same and node.op_type == "ConvTranspose")
                or (name == "dilations" and set(attribute.ints) - {1})
            ):
                node.domain = _HIDDEN_DOMAIN

    def slice(self, node: NodeProto) -> None:
        """Hide steps backwards to an end beyond 32 bits, which kernels read as the front."""
        ends, steps = (self.numbers(node.input[i]) if i < len(node.input) else [] for i in (2, 4))
        if any(step < 0 for step in steps) and any(end >= _LARGE for end in ends):
            node.domain = _HIDDEN_DOMAIN

    def numbers(self, name: str) -> list[int]:
        """Elements of the small integer constants of that name."""
        found: list[int] = []
        for value in self.constants.get(name, ()):
            array = value.data if value.tensor is None else _small(value.tensor)
            found += [] if array is None or array.size > _KEPT_ELEMENTS else array.ravel().tolist()
        return found

    def squeeze(self, node: NodeProto) -> None:
        """Hide axes that are an empty list, for kernels every axis of size 1, or not in order."""
        listed = [list(a.ints) for a in node.attribute if a.name == "axes"]
        given = self.constants.get(node.input[1], ()) if len(node.input) > 1 else ()
        if any(axes != sorted(axes) or not axes for axes in listed) or any(v.shape == (0,) for v in given):
            node.domain = _HIDDEN_DOMAIN

    def is_whole(self, name: str) -> bool:
        """True when no constant is known, or when all its numbers are integers."""
        return all(_is_whole(value) for value in self.constants.get(name, ()))

    def hidden_input(self, dtype: int, rank: int) -> str:
        """Name of an input of unknown content."""
        key = (dtype, rank)
        if key not in self.hidden:
            name = f"{_HIDDEN_DOMAIN}.{dtype}.{rank}"
            while name in self.index.names:
                name += "_"
            self.hidden[key] = name
            info = self.light.graph.input.add()
            info.name = name
            write_type(info.type.tensor_type, dtype, ())
            for _ in range(rank):
                info.type.tensor_type.shape.dim.add()
        return self.hidden[key]


_CHANGES = {
    "Attention": _Copier.attention,
    **dict.fromkeys(("AveragePool", "ConvTranspose", "LpPool", "MaxPool"), _Copier.window),
    "Slice": _Copier.slice,
    "Resize": _Copier.resize,
    "Upsample": _Copier.resize,
    "Range": _Copier.range,
    "STFT": _Copier.spectrum,
    "Squeeze": _Copier.squeeze,
    **dict.fromkeys(_WITH_GRAPHS, _Copier.inner_graphs),
}
"""What is done to copies of these operators."""


def inner_graphs_of(node: NodeProto) -> Iterator[GraphProto]:
    """Graphs among the attributes of a node, in attribute order."""
    for attribute in node.attribute:
        yield from _graphs(attribute)


def _nodes_to_change(scope: Scope, graph: GraphProto) -> list[NodeProto]:
    """Nodes of `graph` with an entry in `_CHANGES`, found through its index where the two run in parallel."""
    nodes = [n for n in scope.nodes if n.is_alive]
    found = [graph.node[i] for i, n in enumerate(nodes) if n.op_type in _CHANGES and i < len(graph.node)]
    if len(nodes) == len(graph.node) and all(n.op_type in _CHANGES for n in found):
        return found
    return [n for n in graph.node if n.op_type in _CHANGES]


def _graphs(attribute: AttributeProto) -> Iterable[GraphProto]:
    if attribute.type == AttributeProto.GRAPH:
        return (attribute.g,)
    return attribute.graphs if attribute.type == AttributeProto.GRAPHS else ()


def _small(tensor: TensorProto) -> np.ndarray[Any, Any] | None:
    """The elements of a small inline tensor."""
    is_small = tensor.data_location != TensorProto.EXTERNAL and prod(tensor.dims) <= _KEPT_ELEMENTS
    return numpy_helper.to_array(tensor) if is_small else None


def _is_whole(value: Value) -> bool:
    """True when all elements of a small float constant are integers; False when they are elsewhere."""
    if value.dtype not in _FLOATING:
        return True
    numbers, tensor = value.data, value.tensor
    if numbers is None and tensor is not None:
        if prod(tensor.dims) == 0:
            return True
        if tensor.data_location == TensorProto.EXTERNAL:
            return False
        numbers = numpy_helper.to_array(tensor)
    return numbers is not None and bool((numbers == np.trunc(numbers)).all())
