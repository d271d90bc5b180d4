"""The primitive changes of an index; each keeps readers, producers and scopes consistent.

Only the driver calls these.

House: model. May import onnx and numpy.
Touch: `writeback.py` must put every kind of change back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import AttributeProto, GraphProto, NodeProto, SparseTensorProto, TensorProto, TypeProto, helper

from onnxsim_ci.model.graph import Graph, Node, Scope, Value
from onnxsim_ci.model.operators import find_operator
from onnxsim_ci.model.tensors import element_type, tensor_from_array


def new_value(graph: Graph, scope: Scope, base: str) -> Value:
    """A value of `scope` under a name that nothing in the model uses."""
    value = Value(graph.fresh_name(base), scope)
    scope.values[value.name] = value
    return value


def new_constant(graph: Graph, scope: Scope, array: np.ndarray[Any, Any], base: str) -> Value:
    """A constant of `scope`: an initializer, or a Constant node where there may be none."""
    value = new_value(graph, scope, base)
    hold_constant(value, array)
    return value


def hold_constant(value: Value, array: np.ndarray[Any, Any]) -> None:
    """Let `value`, whose producer is gone, be the constant `array` under its own name."""
    scope = value.scope
    value.data = array
    value.tensor = None
    value.dtype = element_type(array.dtype)
    value.shape = tuple(array.shape)
    value.content = None
    if scope.is_function or (value.pins and may_hold_in_node(value)):
        hold_in_node(value)


def may_hold_in_node(value: Value) -> bool:
    """True when the opset has a Constant node for this constant; before version 9 only for floats."""
    opset = value.scope.opset
    return opset >= 9 or (opset > 0 and value.data is not None and value.data.dtype.kind == "f")


def hold_in_node(value: Value) -> None:
    """Let a Constant node produce the constant `value`, at the front of its scope."""
    assert value.data is not None
    tensor = tensor_from_array(value.data, value.name)
    node = new_node(value.scope, "Constant", [], [value], {"value": tensor}, order=-1)
    value.tensor = node.proto.attribute[0].t


def make_node_proto(
    op_type: str, attributes: Mapping[str, Any], *, domain: str = "", like: Node | None = None
) -> NodeProto:
    """A NodeProto without inputs and outputs; `like` lends attributes not given, name, doc and metadata."""
    proto = NodeProto(op_type=op_type, domain=domain)
    if like is not None:
        proto.name = like.proto.name
        proto.doc_string = like.proto.doc_string
        proto.metadata_props.extend(like.proto.metadata_props)
        if like.op_type == op_type and like.domain == domain:
            proto.attribute.extend([a for a in like.proto.attribute if a.name not in attributes])
    proto.attribute.extend([make_attribute(n, v) for n, v in attributes.items() if v is not None])
    return proto


def make_attribute(name: str, value: Any) -> AttributeProto:
    """AttributeProto of an int, float, str, bytes, a sequence of them, or a message."""
    if isinstance(value, (TensorProto, GraphProto, SparseTensorProto, TypeProto)):
        return helper.make_attribute(name, value)
    attribute = AttributeProto(name=name)
    if isinstance(value, (bool, int)):
        attribute.type, attribute.i = AttributeProto.INT, int(value)
    elif isinstance(value, float):
        attribute.type, attribute.f = AttributeProto.FLOAT, value
    elif isinstance(value, str):
        attribute.type, attribute.s = AttributeProto.STRING, value.encode("utf-8", "surrogateescape")
    elif all(isinstance(v, int) for v in value):
        attribute.type = AttributeProto.INTS
        attribute.ints.extend(value)
    else:
        return helper.make_attribute(name, list(value))
    return attribute


def new_node(  # noqa: PLR0913 - the parts of a node
    scope: Scope,
    op_type: str,
    inputs: Sequence[Value | None],
    outputs: Sequence[Value | None],
    attributes: Mapping[str, Any],
    *,
    order: int,
    domain: str = "",
    like: Node | None = None,
) -> Node:
    """Make a node and put it into `scope`; its place is found by `order` and the topology at write-back."""
    proto = make_node_proto(op_type, attributes, domain=domain, like=like)
    proto.input.extend([v.name if v is not None else "" for v in inputs])
    proto.output.extend([v.name if v is not None else "" for v in outputs])
    node = Node(proto, scope, order)
    node.inputs = list(inputs)
    node.outputs = list(outputs)
    node.operator = find_operator(op_type, domain, scope.opsets.get(domain, 0))
    for value in node.inputs:
        if value is not None:
            value.uses[node] = None
    for value in node.outputs:
        if value is not None:
            value.producer = node
    scope.nodes.append(node)
    scope.is_reordered = True
    return node


def set_input(node: Node, index: int, value: Value | None) -> None:
    """Let input `index` of `node` be `value`; trailing absent inputs are dropped, a longer list is filled."""
    while len(node.inputs) <= index:
        node.inputs.append(None)
    old = node.inputs[index]
    node.inputs[index] = value
    if value is not None:
        value.uses[node] = None
    if old is not None and not any(v is old for v in node.inputs):
        old.uses.pop(node, None)
    while node.inputs and node.inputs[-1] is None:
        node.inputs.pop()
    node.is_changed = True


def remove_node(node: Node) -> list[Value]:
    """Take `node` and everything inside its subgraphs out of the index.

    Returns: The values that lost a reader or a pin, outer ones included.
    """
    touched: list[Value] = []
    node.is_alive = False
    for value in node.inputs:
        if value is not None:
            value.uses.pop(node, None)
            touched.append(value)
    for scope in node.subgraphs:
        for inner in scope.nodes:
            if inner.is_alive:
                touched += remove_node(inner)
        for value in scope.outputs:
            value.pins -= 1
            touched.append(value)
    for value in node.outputs:
        if value is not None and value.producer is node:
            value.producer = None
    return touched


def replace_uses(old: Value, new: Value) -> list[Node]:
    """Every node that reads `old` reads `new`. Returns those nodes."""
    readers = list(old.uses)
    for node in readers:
        node.inputs[:] = [new if v is old else v for v in node.inputs]
        node.is_changed = True
        new.uses[node] = None
    old.uses.clear()
    return readers


def is_reused_inside(graph: Graph, value: Value) -> bool:
    """True when a body inside the value's scope defines its name too.

    Such a name must not move to the front of that body: the names that the body sees would not be unique.
    """
    return value.name in graph.repeated and _defines(value.scope, value.name)


def _defines(scope: Scope, name: str) -> bool:
    bodies = (inner for node in scope.nodes for inner in node.subgraphs)
    return any(name in inner.values or _defines(inner, name) for inner in bodies)


def take_name(old: Value, new: Value) -> None:
    """The producer of `new` produces `old` instead, so that the interface keeps the name of `old`."""
    producer = new.producer
    assert producer is not None
    assert old.scope is new.scope
    producer.outputs[[v is new for v in producer.outputs].index(True)] = old
    producer.is_changed = True
    if old.producer is not None and old.producer is not producer:
        old.producer.outputs[:] = [None if v is old else v for v in old.producer.outputs]
    old.producer, new.producer = producer, None
    old.tensor, old.data, old.dtype = new.tensor, new.data, new.dtype or old.dtype
    if new.shape is not None:
        old.shape = new.shape
    if new.content is not None:
        old.content = new.content
    replace_uses(new, old)


def release(graph: Graph) -> None:
    """Cut values and nodes apart, so that they are freed at once; the index is of no use any more."""
    for scope in list(graph.scopes()):
        for value in scope.values.values():
            value.producer = None
            value.uses.clear()
        scope.values.clear()
        for node in scope.nodes:
            node.subgraphs = ()
        scope.nodes.clear()
