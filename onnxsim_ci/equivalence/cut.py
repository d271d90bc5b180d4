"""Parts of models: without some nodes, or only the nodes around one value.

Both sides of a comparison are cut at the same quantities; where a node is left out, its outputs become
inputs of the part and its inputs become outputs.

House: equivalence; onnx.
Touch: islands.py and repro.py build their models here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping

import onnx
from onnx import AttributeProto, TensorProto

from onnxsim_ci.equivalence.weights import graphs_of, read


def value_types(model: onnx.ModelProto) -> dict[str, onnx.TypeProto]:
    """Types of top-scope values, by inference on a copy without weights and by declaration."""
    light = onnx.ModelProto()
    light.CopyFrom(model)
    for tensor in light.graph.initializer:
        if tensor.ByteSize() > 4096:
            kept = TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims)
            kept.data_location = TensorProto.EXTERNAL
            tensor.CopyFrom(kept)
    with contextlib.suppress(onnx.shape_inference.InferenceError, RuntimeError, ValueError):
        light = onnx.shape_inference.infer_shapes(light)
    known = (*light.graph.output, *light.graph.value_info, *light.graph.input)
    types = {value.name: value.type for value in known if value.type.WhichOneof("value")}
    for tensor in light.graph.initializer:
        types[tensor.name] = tensor_type(tensor.data_type, tensor.dims)
    return types


def tensor_type(element: int, dims: Iterable[int] | None = None) -> onnx.TypeProto:
    """The type of a tensor; without `dims` even the rank is open."""
    type_ = onnx.TypeProto()
    type_.tensor_type.elem_type = element
    if dims is not None:
        type_.tensor_type.shape.SetInParent()
        for size in dims:
            type_.tensor_type.shape.dim.add(dim_value=size)
    return type_


def reads(node: onnx.NodeProto) -> list[str]:
    """Everything a node reads from its scope: inputs, then captures of its bodies in order of appearance."""
    names = [name for name in node.input if name]
    for attribute in node.attribute:
        for body in [attribute.g] if attribute.type == AttributeProto.GRAPH else attribute.graphs:
            names += captures(body)
    return list(dict.fromkeys(names))


def captures(body: onnx.GraphProto) -> list[str]:
    """Names that a body (or a body inside it) reads and does not define."""
    defined, used = set[str](), list[str]()
    for graph in graphs_of(body):
        defined.update(value.name for value in graph.input)
        defined.update(tensor.name for tensor in graph.initializer)
        defined.update(name for node in graph.node for name in node.output)
        used += [name for node in graph.node for name in node.input if name]
        used += [value.name for value in graph.output]
    return [name for name in dict.fromkeys(used) if name not in defined]


def without_nodes(
    model: onnx.ModelProto, blocked: Callable[[onnx.NodeProto], bool], types: Mapping[str, onnx.TypeProto]
) -> onnx.ModelProto:
    """The model with blocked top-scope nodes taken out; a value without a known type becomes float.

    What the n-th blocked node reads is returned as output `<its first output>/read <k>`, so that two models
    with the same blocked nodes have the same outputs, whatever the values before them are called.
    """
    part = onnx.ModelProto()
    part.CopyFrom(model)
    graph = part.graph
    removed = [node for node in graph.node if blocked(node)]
    kept = [node for node in graph.node if not blocked(node)]
    made = {name for node in removed for name in node.output if name}
    del graph.node[:]
    graph.node.extend(kept)
    own = [value for value in graph.output if value.name not in made]
    del graph.output[:]
    graph.output.extend(own)
    for node in removed:
        for name in node.output:
            if name:
                graph.input.append(
                    onnx.ValueInfoProto(name=name, type=types.get(name, tensor_type(TensorProto.FLOAT)))
                )
    for node in removed:
        for index, name in enumerate(reads(node)):
            label = f"{node.output[0]}/read {index}"
            graph.node.add(op_type="Identity", input=[name], output=[label])
            graph.output.add(name=label)
    return part


def around(
    model: onnx.ModelProto, value: str, boundary: Collection[str], folder: str | None
) -> tuple[onnx.ModelProto, list[str]]:
    """The nodes between a boundary and one value, as a model with its weights inside, and its inputs.

    Args:
        model: The whole model.
        value: The only output of the part.
        boundary: Values at which the walk back from `value` stops.
        folder: Where external data lies.
    """
    producers = {name: node for node in model.graph.node for name in node.output if name}
    stored = {tensor.name: tensor for tensor in model.graph.initializer}
    wanted, inputs, constants, todo = set[int](), list[str](), list[str](), [value]
    seen = {value}
    while todo:
        name = todo.pop()
        if name in stored:
            constants.append(name)
        elif name not in producers or (name in boundary and name != value):
            inputs.append(name)
        else:
            wanted.add(id(producers[name]))
            fresh = [read_ for read_ in reads(producers[name]) if read_ not in seen]
            seen.update(fresh)
            todo += fresh
    part = onnx.ModelProto(ir_version=max(model.ir_version, 4), opset_import=model.opset_import)
    part.functions.extend(model.functions)
    part.graph.name = "cut"
    part.graph.node.extend(node for node in model.graph.node if id(node) in wanted)
    part.graph.initializer.extend(_inline(stored[name], folder) for name in sorted(constants))
    part.graph.output.add(name=value)
    return part, sorted(inputs)


def _inline(tensor: TensorProto, folder: str | None) -> TensorProto:
    if tensor.data_location != TensorProto.EXTERNAL:
        return tensor
    return onnx.numpy_helper.from_array(read(tensor, folder).copy(), tensor.name)
