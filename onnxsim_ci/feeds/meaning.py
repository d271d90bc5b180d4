"""What integer inputs mean, read from the operators that they reach.

An input is followed through operators that keep its values (Cast, Reshape, Slice, …), into subgraphs as
well, up to an operator that limits it: an index into a table, a comparison with a constant, a divisor.

House: feeds; imports onnx.
Touch: values.py turns a meaning into numbers; tests/feeds/test_meaning.py has one model an operator.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import onnx
from onnx import numpy_helper

from onnxsim_ci.feeds.specs import InputSpec

_KEEPS_VALUES = frozenset(
    [
        "Abs",
        "Cast",
        "Clip",
        "Concat",
        "Expand",
        "Flatten",
        "Gather",
        "Identity",
        "Pad",
        "Relu",
        "Reshape",
        "Slice",
        "Split",
        "Squeeze",
        "Tile",
        "Transpose",
        "Unsqueeze",
    ]
)
_INDEXES = {
    "Gather": 1,
    "GatherElements": 1,
    "GatherND": 1,
    "ScatterElements": 1,
    "Scatter": 1,
    "ScatterND": 1,
}
_COMPARES = frozenset(["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"])
_COUNTS = {
    "ConstantOfShape": 0,
    "Expand": 1,
    "Loop": 0,
    "Reshape": 1,
    "Tile": 1,
    "Range": 1,
    "Resize": 3,
    "TopK": 1,
}
_DELICATE = frozenset(["Div", "Mod", "OneHot", "Pad", "BitShift", *_COUNTS])
_SMALL_CONSTANT = 8


@dataclass(slots=True)
class Meaning:
    """Limits on one input; empty when nothing was found."""

    low: int = 0
    high: int | None = None
    """Exclusive upper limit."""
    size_of: list[int | str] = field(default_factory=list)
    """Sizes (symbols) of the axes that it indexes: known only when sizes are chosen."""
    compared: list[int] = field(default_factory=list)
    """Constants it is compared with: they select branches."""
    mask: bool = False
    branch: bool = False
    """It is the condition of an If."""
    delicate: bool = False
    """It reaches, by any way, a division or a size: extremes would stop the process or fill the memory."""

    def limit(self, high: int) -> None:
        """Lower the upper limit."""
        self.high = high if self.high is None else min(self.high, high)


def input_meanings(model: onnx.ModelProto, specs: tuple[InputSpec, ...]) -> dict[str, Meaning]:
    """A meaning for every input of `specs`."""
    reader = _Reader(model)
    return {spec.name: reader.meaning(spec) for spec in specs}


class _Reader:
    """The model's operators by what they read, flat over all scopes (ONNX names are unique enough here)."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._model = model
        self._readers: dict[str, list[tuple[onnx.NodeProto, int]]] = defaultdict(list)
        self._constants: dict[str, onnx.TensorProto] = {}
        self._shapes: dict[str, list[int | str]] | None = None
        for graph in _graphs(model.graph):
            for tensor in graph.initializer:
                self._constants[tensor.name] = tensor
            for node in graph.node:
                for index, name in enumerate(node.input):
                    self._readers[name].append((node, index))
                if node.op_type == "Constant" and node.attribute and node.attribute[0].HasField("t"):
                    self._constants[node.output[0]] = node.attribute[0].t

    def meaning(self, spec: InputSpec) -> Meaning:
        """Follow one input forward; every value is visited once."""
        found, seen, todo = Meaning(), {spec.name}, [spec.name]
        while todo:
            for node, index in self._readers.get(todo.pop(), ()):
                self._limit(found, node, index)
                if node.op_type in _KEEPS_VALUES and (index == 0 or node.op_type == "Concat"):
                    fresh = [name for name in node.output if name and name not in seen]
                    seen.update(fresh)
                    todo.extend(fresh)
        found.delicate = self._is_delicate(spec.name)
        return found

    def _is_delicate(self, name: str) -> bool:
        seen, todo = {name}, [name]
        while todo:
            for node, _ in self._readers.get(todo.pop(), ()):
                if node.op_type in _DELICATE:
                    return True
                fresh = [output for output in node.output if output and output not in seen]
                seen.update(fresh)
                todo.extend(fresh)
        return False

    def _limit(self, found: Meaning, node: onnx.NodeProto, index: int) -> None:
        op = node.op_type
        if _INDEXES.get(op) == index:
            self._index(found, node)
        elif op in _COMPARES:
            found.compared.extend(self._numbers(node.input[1 - index]))
        elif op == "OneHot" and index == 0:
            for depth in self._numbers(node.input[1]):
                found.limit(depth)
        elif _COUNTS.get(op) == index:
            found.low = max(found.low, 1)
            found.limit(5)
        elif op in ("Div", "Mod") and index == 1:
            found.low = max(found.low, 1)
        elif (op == "Sub" and index == 1) or (op == "Where" and index == 0):
            found.mask = True
        elif op == "If" and index == 0:
            found.branch = True

    def _index(self, found: Meaning, node: onnx.NodeProto) -> None:
        axis = next((a.i for a in node.attribute if a.name == "axis"), 0)
        table = self._constants.get(node.input[0])
        dims = list(table.dims) if table is not None else self._shape(node.input[0])
        if "ND" in node.op_type:
            axis = 0
        if not -len(dims) <= axis < len(dims):
            return
        size = dims[axis]
        if isinstance(size, int):
            found.limit(size)
        elif size:
            found.size_of.append(size)

    def _numbers(self, name: str) -> list[int]:
        tensor = self._constants.get(name)
        if tensor is None or tensor.data_location == tensor.EXTERNAL:
            return []
        array = numpy_helper.to_array(tensor).ravel()
        if array.size > _SMALL_CONSTANT or array.dtype.kind not in "iufb":
            return []
        return [int(number) for number in array if abs(number) < 2**53]

    def _shape(self, name: str) -> list[int | str]:
        if self._shapes is None:
            self._shapes = _inferred(self._model)
        return self._shapes.get(name, [])


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    todo = [graph]
    while todo:
        graph = todo.pop()
        yield graph
        for node in graph.node:
            todo.extend(a.g for a in node.attribute if a.type == onnx.AttributeProto.GRAPH)


def _inferred(model: onnx.ModelProto) -> dict[str, list[int | str]]:
    """Shapes by C++ inference on a copy without weights; empty where it fails."""
    light = onnx.ModelProto()
    light.CopyFrom(model)
    for tensor in light.graph.initializer:
        if tensor.ByteSize() > 1024:
            tensor.ClearField("raw_data")
            tensor.ClearField("float_data")
            tensor.data_location = onnx.TensorProto.EXTERNAL
    try:
        graph = onnx.shape_inference.infer_shapes(light).graph
    except (onnx.shape_inference.InferenceError, RuntimeError, ValueError):
        return {}
    return {
        value.name: [dim.dim_value or dim.dim_param for dim in value.type.tensor_type.shape.dim]
        for value in (*graph.value_info, *graph.input)
    }
