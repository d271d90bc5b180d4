"""Cut constant nodes out of a model, as a model of their own that has no weights inside.

House: model. May import onnx and numpy.
Touch: `rewrite/folding.py` runs the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, ValueInfoProto

from onnxsim_ci.model.graph import Node, Value
from onnxsim_ci.model.tensors import element_type, tensor_from_array

FEED_FROM_BYTES = 1024
"""Larger constants are fed, not serialized; feeding shares the array's memory."""

FEEDABLE = frozenset("fiub")
"""Kinds of numpy dtype that a runtime takes as an input as they are."""

ReadArray = Callable[[Value], "np.ndarray[Any, Any] | None"]


def extract(
    nodes: Sequence[Node], wanted: Sequence[Value], read: ReadArray, ir_version: int
) -> tuple[bytes, dict[str, np.ndarray[Any, Any]], list[str]] | None:
    """A model of `nodes` (one scope, in order) whose outputs are `wanted`.

    Returns: (serialized model, what to feed, names of the outputs in the order of `wanted`), or None when a
        constant cannot be read. Values get names of their own, since inner scopes may repeat outer names.
    """
    scope = nodes[0].scope
    model = ModelProto(ir_version=max(ir_version, 8))
    for domain in dict.fromkeys(["", *(n.domain for n in nodes)]):
        model.opset_import.add(domain=domain, version=scope.opsets.get(domain, 1))
    graph = model.graph
    graph.name = "constants"
    names: dict[Value, str] = {}
    feeds: dict[str, np.ndarray[Any, Any]] = {}
    inner = {v for n in nodes for v in n.outputs if v is not None}
    for node in nodes:
        for value in node.inputs:
            if value is None or value in names or value in inner:
                continue
            array = read(value)
            if array is None:
                return None
            name = names[value] = f"c{len(names)}"
            if array.nbytes > FEED_FROM_BYTES and array.dtype.kind in FEEDABLE and array.dtype.isnative:
                graph.input.append(_typed(name, element_type(array.dtype), array.shape))
                feeds[name] = array
            else:
                graph.initializer.append(tensor_from_array(array, name))
        graph.node.append(_renamed(node, names))
    for value in wanted:
        graph.output.append(ValueInfoProto(name=names[value]))
    return model.SerializeToString(), feeds, [names[v] for v in wanted]


def _renamed(node: Node, names: dict[Value, str]) -> NodeProto:
    proto = NodeProto()
    proto.CopyFrom(node.proto)
    proto.ClearField("name")
    proto.ClearField("input")
    proto.ClearField("output")
    proto.input.extend([names[v] if v is not None else "" for v in node.inputs])
    for value in node.outputs:
        if value is not None:
            names[value] = f"v{len(names)}"
    proto.output.extend([names[v] if v is not None else "" for v in node.outputs])
    return proto


def _typed(name: str, elem_type: int, shape: tuple[int, ...]) -> ValueInfoProto:
    info = ValueInfoProto(name=name)
    kind = info.type.tensor_type
    kind.elem_type = elem_type
    kind.shape.SetInParent()
    for dim in shape:
        kind.shape.dim.add(dim_value=dim)
    return info
