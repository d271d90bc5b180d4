"""Small random models, built node by node with the shapes known as far as the maker needs them.

What is random comes from one function, `choose`, so that hypothesis and a seeded generator can both drive it.

Touch: `patterns.py` (a pattern for each rule), `random_graphs.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

T = TypeVar("T")
Choose = Callable[[Sequence[Any]], Any]
Dims = tuple[int | str | None, ...]
FLOAT, DOUBLE, HALF = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16
INT8, UINT8, INT32, INT64, BOOL = (
    TensorProto.INT8,
    TensorProto.UINT8,
    TensorProto.INT32,
    TensorProto.INT64,
    TensorProto.BOOL,
)
FLOATS, INTEGERS = (FLOAT, FLOAT, DOUBLE, HALF), (INT32, INT64)


@dataclass(frozen=True, slots=True)
class Made:
    """A value of the model that is being made; a dim is a number, a name, or None for anything."""

    name: str
    dtype: int
    dims: Dims

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.dims)


class Sketch:
    """A model in the making.

    Args:
        choose: One element of a sequence, as the driver of the randomness wants.
        opset: Version of the standard operators.
        tails: Operators that may follow a float result; Reciprocal tells zeros apart, but magnifies noise.
    """

    def __init__(
        self, choose: Choose, opset: int = 21, tails: Sequence[str] = ("Neg", "Reciprocal", "Relu")
    ) -> None:
        self.choose = choose
        self.tails = tails
        self.opset = opset
        self.nodes: list[NodeProto] = []
        self.inputs: list[ValueInfoProto] = []
        self.initializers: list[TensorProto] = []
        self.made: list[Made] = []
        self.results: list[Made] = []
        self.count = 0

    def maybe(self, one_in: int = 2) -> bool:
        """True once in `one_in` times."""
        return bool(self.choose(range(one_in)) == one_in - 1)

    def name(self, base: str) -> str:
        """A new name."""
        self.count += 1
        return f"{base}{self.count}"

    def input(self, dtype: int, dims: Dims) -> Made:
        """A graph input."""
        value = Made(self.name("x"), dtype, dims)
        self.inputs.append(helper.make_tensor_value_info(value.name, dtype, dims))
        self.made.append(value)
        return value

    def source(self, dtype: int, dims: Dims) -> Made:
        """What a pattern starts from: a graph input, or something computed from one."""
        value = self.input(dtype, dims)
        if self.maybe():
            if dtype == BOOL:
                return self.node("Not", (value,), dtype, dims)
            if dtype in (FLOAT, DOUBLE, HALF, INT8, INT32, INT64):
                return self.node(self.choose(("Neg", "Abs")), (value,), dtype, dims)
        return value

    def shape(self, ranks: Sequence[int] = (1, 2, 3), *, named: bool = True) -> Dims:
        """Dims of a new input."""
        sizes: tuple[int | str, ...] = (1, 2, 3, 5, "N", "M") if named else (1, 2, 3, 5)
        return tuple(self.choose(sizes) for _ in range(self.choose(ranks)))

    def constant(self, array: Any, dtype: int | None = None) -> Made:
        """A constant: an initializer, or the output of a Constant node."""
        kind = helper.tensor_dtype_to_np_dtype(dtype) if dtype is not None else None
        tensor = numpy_helper.from_array(np.asarray(array, kind), self.name("c"))
        value = Made(tensor.name, tensor.data_type, tuple(tensor.dims))
        if self.maybe(3):
            self.nodes.append(helper.make_node("Constant", [], [value.name], value=tensor))
        else:
            self.initializers.append(tensor)
        return value

    def ints(self, *numbers: int) -> Made:
        """A constant vector of int64."""
        return self.constant(np.array(numbers, np.int64))

    def node(
        self, op_type: str, operands: Sequence[Made | None], dtype: int, dims: Dims, **attributes: Any
    ) -> Made:
        """A node with one output."""
        value = Made(self.name("v"), dtype, dims)
        names = [o.name if o is not None else "" for o in operands]
        self.nodes.append(helper.make_node(op_type, names, [value.name], **attributes))
        self.made.append(value)
        return value

    def nodes_of(
        self, op_type: str, operands: Sequence[Made], kinds: Sequence[tuple[int, Dims]], **attributes: Any
    ) -> list[Made]:
        """A node with several outputs."""
        values = [Made(self.name("v"), dtype, dims) for dtype, dims in kinds]
        self.nodes.append(
            helper.make_node(op_type, [o.name for o in operands], [v.name for v in values], **attributes)
        )
        self.made += values
        return values

    def result(self, value: Made) -> None:
        """`value`, or something computed from it, is a graph output."""
        if value.dtype in (FLOAT, DOUBLE, HALF) and self.maybe():
            value = self.node(self.choose(self.tails), (value,), value.dtype, value.dims)
        elif value.dtype in (INT32, INT64) and self.maybe():
            value = self.node("Neg", (value,), value.dtype, value.dims)
        self.results.append(value)

    def inner(self, value: Made) -> None:
        """A value inside a pattern: at times it has a second reader, or is a graph output."""
        what = self.choose(("nothing", "nothing", "nothing", "reader", "output"))
        if what == "output":
            self.results.append(value)
        elif what == "reader":
            self.results.append(self.node("Identity", (value,), value.dtype, value.dims))

    def model(self) -> ModelProto | None:
        """The model; None when shapes do not fit together, or an output has no rank or is an input."""
        names = list(dict.fromkeys(v.name for v in self.results))
        outputs = [onnx.ValueInfoProto(name=name) for name in names]
        nodes, inputs = self.nodes, self.inputs
        is_flat = not any(a.HasField("g") for node in nodes for a in node.attribute)
        if is_flat and self.choose(range(5)) == 0:
            nodes, inputs = self._in_branches(names)
        graph = helper.make_graph(nodes, "g", inputs, outputs, self.initializers)
        draft = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)
        if set(names) & {i.name for i in self.inputs}:
            return None
        return _typed(draft)

    def _in_branches(self, names: list[str]) -> tuple[list[NodeProto], list[ValueInfoProto]]:
        """The nodes as both branches of an If; the second one has other names inside."""
        produced = {name for node in self.nodes for name in node.output}
        branches = []
        for number in (0, 1):
            renamed = {name: f"{name}_{number}" for name in produced}
            nodes = []
            for node in self.nodes:
                copy = NodeProto()
                copy.CopyFrom(node)
                copy.input[:] = [renamed.get(n, n) for n in node.input]
                copy.output[:] = [renamed[n] for n in node.output]
                nodes.append(copy)
            outputs = [onnx.ValueInfoProto(name=renamed.get(name, name)) for name in names]
            branches.append(helper.make_graph(nodes, f"b{number}", [], outputs))
        condition = helper.make_tensor_value_info("condition", BOOL, [])
        chosen = helper.make_node(
            "If", ["condition"], names, then_branch=branches[0], else_branch=branches[1]
        )
        return [chosen], [condition, *self.inputs]


def _typed(draft: ModelProto) -> ModelProto | None:
    """The model with types at its outputs as inference finds them."""
    try:
        inferred = onnx.shape_inference.infer_shapes(draft, strict_mode=True, data_prop=True)
    except onnx.shape_inference.InferenceError:
        return None
    model = ModelProto()
    model.CopyFrom(draft)
    for place, info in enumerate(inferred.graph.output):
        if not info.type.tensor_type.HasField("shape"):
            return None
        model.graph.output[place].CopyFrom(info)
        for dim in model.graph.output[place].type.tensor_type.shape.dim:
            dim.Clear()
    for node, typed in zip(model.graph.node, inferred.graph.node, strict=True):
        if node.op_type == "If":
            node.CopyFrom(typed)
            for attribute in node.attribute:
                del attribute.g.value_info[:]
    return model
