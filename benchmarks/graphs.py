"""Graphs for the benchmarks as protobuf messages: a GPT as exporters leave it, and a chain of weights.

Usage: graphs.py OUT.onnx [--nodes 1000] [--dynamic]

House: benchmarks. onnx and numpy only; knows nothing of onnxsim_ci.
Touch: growth.py (the GPT) and memory.py (the chain).
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

OPSET = 17
IR_VERSION = 8
WIDTH, HEADS, WORDS, POSITIONS = 32, 4, 101, 64
BATCH, STEPS = 2, 12
"""Sizes of the static form; the dynamic one has symbols in their place."""


class Tracer:
    """Collects nodes and weights as a tracing exporter does: one Constant node a use, nothing shared."""

    def __init__(self, seed: int = 0) -> None:
        self.nodes: list[NodeProto] = []
        self.weights: list[TensorProto] = []
        self._random = np.random.default_rng(seed)

    def node(self, operator: str, *inputs: str, outputs: int = 1, **attributes: Any) -> str:
        """Append a node; the name of its first output (the others end in _1, _2, ...)."""
        label = f"/{operator}_{len(self.nodes)}"
        node = NodeProto(op_type=operator, name=label, input=inputs)
        node.output.extend(f"{label}_output_{index}" for index in range(outputs))
        node.attribute.extend(attribute(name, value) for name, value in attributes.items())
        self.nodes.append(node)
        return node.output[0]

    def constant(self, value: object, dtype: type = np.int64) -> str:
        """A Constant node."""
        return self.node("Constant", value=tensor(np.asarray(value, dtype)))

    def weight(self, name: str, *shape: int, scale: float = 0.1) -> str:
        """A seeded float32 initializer."""
        values = self._random.standard_normal(shape) * scale
        self.weights.append(tensor(values.astype(np.float32), name))
        return name

    def size(self, value: str, axis: int) -> str:
        """One element with the length of one axis, by the usual three nodes."""
        length = self.node("Gather", self.node("Shape", value), self.constant(axis), axis=0)
        return self.node("Unsqueeze", length, self.constant([0]))

    @property
    def count(self) -> int:
        """Nodes without Constant nodes."""
        return sum(node.op_type != "Constant" for node in self.nodes)


def attribute(name: str, value: Any) -> AttributeProto:
    """An attribute of an int, float, list of ints, or tensor."""
    if isinstance(value, TensorProto):
        return AttributeProto(name=name, type=AttributeProto.TENSOR, t=value)
    if isinstance(value, float):
        return AttributeProto(name=name, type=AttributeProto.FLOAT, f=value)
    if isinstance(value, int):
        return AttributeProto(name=name, type=AttributeProto.INT, i=value)
    return AttributeProto(name=name, type=AttributeProto.INTS, ints=value)


def tensor(array: "np.ndarray[Any, Any]", name: str = "") -> TensorProto:
    """A tensor with raw data."""
    kinds = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64}
    return TensorProto(
        name=name, dims=array.shape, data_type=kinds[array.dtype.name], raw_data=array.tobytes()
    )


def value_info(name: str, kind: int, dims: Iterable[int | str]) -> ValueInfoProto:
    """The declaration of a graph input or output; a text is a symbol."""
    info = ValueInfoProto(name=name)
    info.type.tensor_type.elem_type = kind
    info.type.tensor_type.shape.SetInParent()
    for dim in dims:
        entry = info.type.tensor_type.shape.dim.add()
        if isinstance(dim, str):
            entry.dim_param = dim
        else:
            entry.dim_value = dim
    return info


def model_of(tracer: Tracer, inputs: list[ValueInfoProto], outputs: list[ValueInfoProto]) -> ModelProto:
    """The finished model."""
    model = ModelProto(ir_version=IR_VERSION, producer_name="benchmark")
    model.opset_import.add(domain="", version=OPSET)
    model.graph.name = "main"
    model.graph.node.extend(tracer.nodes)
    model.graph.initializer.extend(tracer.weights)
    model.graph.input.extend(inputs)
    model.graph.output.extend(outputs)
    return model


def gpt_like(nodes: int, *, dynamic: bool) -> ModelProto:
    """A decoder with at least `nodes` nodes (Constant nodes not counted), one layer more or less exact."""
    t = Tracer()
    batch: int | str = "batch" if dynamic else BATCH
    steps: int | str = "steps" if dynamic else STEPS
    table = t.weight("words", WORDS, WIDTH, scale=1.0)
    last = t.node("Gather", t.node("Shape", "ids"), t.constant(1), axis=0)
    places = t.node("Range", t.constant(0), last, t.constant(1))
    position = t.node(
        "Gather", t.weight("places", POSITIONS, WIDTH), t.node("Unsqueeze", places, t.constant([0]))
    )
    x = t.node("Add", t.node("Gather", table, "ids"), position)
    index = 0
    while t.count < nodes - 12:
        x = _layer(t, x, index)
        index += 1
    logits = t.node("MatMul", _norm(t, x, "last"), t.node("Transpose", table, perm=[1, 0]))
    t.nodes.append(NodeProto(op_type="Identity", name="/out", input=[logits], output=["logits"]))
    ids = value_info("ids", TensorProto.INT64, [batch, steps])
    return model_of(t, [ids], [value_info("logits", TensorProto.FLOAT, [batch, steps, WORDS])])


def _layer(t: Tracer, x: str, index: int) -> str:
    """Attention and a feed-forward part, each behind a norm and a shortcut."""
    name = f"layer{index}"
    y = t.node("Add", x, _leftover(t, _attention(t, _norm(t, x, f"{name}.a"), name), index))
    z = _gelu(t, _linear(t, _norm(t, y, f"{name}.b"), f"{name}.up", WIDTH, 2 * WIDTH))
    return t.node("Add", y, _linear(t, z, f"{name}.down", 2 * WIDTH, WIDTH))


def _attention(t: Tracer, x: str, name: str) -> str:
    heads = []
    for part in ("q", "k", "v"):
        y = _linear(t, x, f"{name}.{part}", WIDTH, WIDTH)
        target = t.node(
            "Concat", t.size(y, 0), t.size(y, 1), t.constant([HEADS]), t.constant([WIDTH // HEADS]), axis=0
        )
        heads.append(t.node("Transpose", t.node("Reshape", y, target), perm=[0, 2, 1, 3]))
    query, key, content = heads
    scores = t.node("MatMul", query, t.node("Transpose", key, perm=[0, 1, 3, 2]))
    scores = _masked(t, t.node("Div", scores, t.node("Sqrt", t.constant(WIDTH / HEADS, np.float32))))
    mixed = t.node(
        "Transpose", t.node("MatMul", t.node("Softmax", scores, axis=-1), content), perm=[0, 2, 1, 3]
    )
    target = t.node("Concat", t.size(mixed, 0), t.size(mixed, 1), t.constant([WIDTH]), axis=0)
    return _linear(t, t.node("Reshape", mixed, target), f"{name}.o", WIDTH, WIDTH)


def _masked(t: Tracer, scores: str) -> str:
    """Later steps are hidden by a mask that is built anew from the shape, as exporters do in each layer."""
    shape = t.node("Concat", t.size(scores, 2), t.size(scores, 3), axis=0)
    ones = t.node("ConstantOfShape", shape, value=tensor(np.ones(1, np.float32)))
    seen = t.node("Cast", t.node("Trilu", ones, upper=0), to=TensorProto.BOOL)
    return t.node("Where", seen, scores, t.constant(-10000.0, np.float32))


def _norm(t: Tracer, x: str, name: str) -> str:
    centred = t.node("Sub", x, t.node("ReduceMean", x, axes=[-1]))
    spread = t.node("ReduceMean", t.node("Pow", centred, t.constant(2.0, np.float32)), axes=[-1])
    root = t.node("Sqrt", t.node("Add", spread, t.constant(1e-5, np.float32)))
    scaled = t.node("Mul", t.node("Div", centred, root), t.weight(f"{name}.scale", WIDTH, scale=1.0))
    return t.node("Add", scaled, t.weight(f"{name}.shift", WIDTH))


def _linear(t: Tracer, x: str, name: str, rows: int, columns: int) -> str:
    product = t.node("MatMul", x, t.weight(f"{name}.weight", rows, columns))
    return t.node("Add", product, t.weight(f"{name}.bias", columns))


def _gelu(t: Tracer, x: str) -> str:
    inner = t.node("Erf", t.node("Div", x, t.constant(2**0.5, np.float32)))
    half = t.node("Mul", x, t.constant(0.5, np.float32))
    return t.node("Mul", half, t.node("Add", inner, t.constant(1.0, np.float32)))


def _leftover(t: Tracer, x: str, index: int) -> str:
    """What exporters leave behind here and there; every layer has one of five forms."""
    if index % 5 == 0:
        return t.node("Dropout", t.node("Identity", x))
    if index % 5 == 1:
        return t.node("Cast", x, to=TensorProto.FLOAT)
    if index % 5 == 2:
        return t.node("Transpose", t.node("Transpose", x, perm=[1, 0, 2]), perm=[1, 0, 2])
    if index % 5 == 3:
        return t.node("Squeeze", t.node("Unsqueeze", x, t.constant([0])), t.constant([0]))
    return t.node("Slice", x, t.constant([0]), t.constant([2**62]), t.constant([2]))


def write_chain(path: Path, total_bytes: int, *, external: bool, width: int = 2048) -> int:
    """MatMul, Add, Relu with `total_bytes` of weights and one redundant node a step; the number of nodes.

    The data file of an external model is written tensor by tensor, so that the writer stays small.
    """
    t = Tracer()
    random = np.random.default_rng(1)
    data = path.with_suffix(".data")
    x = "x"
    with data.open("wb") as stream:
        for index, matrix in enumerate(_matrices(random, total_bytes, width)):
            weight = tensor(matrix, f"w{index}")
            if external:
                _move_out(weight, data.name, stream.tell())
                stream.write(matrix)
            t.weights.append(weight)
            x = t.node("Relu", t.node("Add", t.node("MatMul", x, weight.name), t.weight(f"b{index}", width)))
            x = t.node("Identity", x) if index % 2 else t.node("Mul", x, t.constant(1.0, np.float32))
    if not external:
        data.unlink()
    t.nodes.append(NodeProto(op_type="Identity", name="/out", input=[x], output=["y"]))
    ends = [[value_info(name, TensorProto.FLOAT, ["batch", width])] for name in ("x", "y")]
    path.write_bytes(model_of(t, *ends).SerializeToString())
    return t.count + 1


def _matrices(random: np.random.Generator, total: int, width: int) -> "Iterator[np.ndarray[Any, Any]]":
    """Matrices with which the length of a vector neither grows nor fades behind a Relu."""
    for _ in range(max(1, total // (4 * width * width))):
        yield random.standard_normal((width, width), np.float32) * np.float32((2 / width) ** 0.5)


def _move_out(weight: TensorProto, location: str, offset: int) -> None:
    length = len(weight.raw_data)
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", str(offset)), ("length", str(length))):
        weight.external_data.add(key=key, value=value)


def main() -> int:
    """Write one GPT-like model."""
    parser = argparse.ArgumentParser(description="Write a GPT-like model as exporters leave it.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--dynamic", action="store_true")
    arguments = parser.parse_args()
    model = gpt_like(arguments.nodes, dynamic=arguments.dynamic)
    onnx.save(model, arguments.out)
    counted = sum(node.op_type != "Constant" for node in model.graph.node)
    print(f"{arguments.out}: {counted} nodes, {len(model.graph.node) - counted} Constant nodes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
