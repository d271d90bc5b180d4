"""Put a changed index back into its model's messages; what did not change is not touched.

House: model. May import onnx.
Touch: `graph.py`, `mutation.py`: every kind of change ends here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet

from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

from onnxsim_ci.model.build import IR_WITHOUT_INPUT_INITIALIZERS
from onnxsim_ci.model.graph import GRAPH, GRAPHS, Graph, Node, Scope, Value
from onnxsim_ci.model.mutation import hold_in_node, may_hold_in_node
from onnxsim_ci.model.tensors import tensor_from_array

SMALL_CONSTANT_BYTES = 1024
"""Before IR 4 new constants up to this size become Constant nodes, so that the IR version may stay."""

KeepInfo = Callable[[Value, ValueInfoProto], bool]


def write_back(graph: Graph, model: ModelProto, keep_info: KeepInfo | None) -> bool:
    """Bring `model` up to date with `graph`; its messages are linked anew, so work may go on.

    Returns: Whether any message changed.

    Args:
        graph: The index.
        model: The message that it was built from.
        keep_info: Whether a value_info of a surviving value may stay (it is dropped when facts contradict
        it).
    """
    writer = _Writer(keep_info)
    for function in graph.functions:
        writer.scope(function)
    writer.unused_functions(graph, model)
    settle_early_ir(graph, model)
    writer.scope(graph.root)
    return writer.changed


def settle_early_ir(graph: Graph, model: ModelProto) -> None:
    """Before IR 4 every initializer has to be an input: where do new constants go?

    Small ones become Constant nodes and the IR version stays. If a listed weight was replaced, or a new
    constant is large, the file becomes IR 4; the constants then leave the input list, else callers could
    override them.
    """
    if graph.ir_version >= IR_WITHOUT_INPUT_INITIALIZERS:
        return
    root = graph.root
    for scope in graph.scopes():
        if scope.parent is not None and not scope.is_function:
            _hold_in_nodes(scope)
    fresh = new_initializers(root)
    if not fresh:
        return
    is_replaced = any(v.tensor is not None and not v.is_read for v in root.inputs)
    if not is_replaced and all(_is_small(v) for v in fresh):
        _hold_in_nodes(root)
        return
    graph.ir_version = model.ir_version = IR_WITHOUT_INPUT_INITIALIZERS
    constants = {v.name for v in root.inputs if v.tensor is not None}
    infos = [i for i in model.graph.input if i.name not in constants]
    del model.graph.input[:]
    model.graph.input.extend(infos)
    root.inputs = [v for v in root.inputs if v.name not in constants]
    for name in constants:
        root.values[name].is_input = False


def _is_small(value: Value) -> bool:
    return value.data is not None and value.data.nbytes <= SMALL_CONSTANT_BYTES and may_hold_in_node(value)


def _hold_in_nodes(scope: Scope) -> None:
    for value in new_initializers(scope):
        if value.data is not None:
            hold_in_node(value)


def new_initializers(scope: Scope) -> list[Value]:
    """Constants of a graph scope that are read and stand in no initializer and no Constant node."""
    known = {t.name for t in scope.initializers}
    return [
        v
        for v in scope.values.values()
        if v.producer is None
        and (v.data is not None or v.tensor is not None)
        and not v.is_input
        and v.is_read
        and v.name not in known
    ]


class _Writer:
    def __init__(self, keep_info: KeepInfo | None) -> None:
        self.keep_info = keep_info
        self.changed = False

    def unused_functions(self, graph: Graph, model: ModelProto) -> None:
        """Functions that nothing calls any more go."""
        called: set[tuple[str, str, str]] = set()
        stack = [graph.root]
        bodies = {s.key: s for s in graph.functions}
        while stack:
            for node in stack.pop().nodes:
                if not node.is_alive:
                    continue
                stack += node.subgraphs
                if node.is_call and node.key not in called:
                    called.add(node.key)
                    stack.append(bodies[node.key])
        kept = [f for f in graph.functions if f.key in called]
        if len(kept) != len(graph.functions):
            messages = [f.proto for f in kept if isinstance(f.proto, FunctionProto)]
            del model.functions[:]
            model.functions.extend(messages)
            graph.functions = tuple(kept)
            for function, message in zip(kept, model.functions, strict=True):
                relink(function, message)
            self.changed = True

    def scope(self, scope: Scope) -> None:
        """Write one scope and those inside."""
        live = [n for n in scope.nodes if n.is_alive]
        if scope.is_reordered:
            live = topological(live, scope)
        for node in live:
            for inner in node.subgraphs:
                self.scope(inner)
            if node.is_changed:
                _write_names(node)
                self.changed = True
        proto = scope.proto
        moved = scope.is_reordered or len(live) != len(proto.node)
        if moved:
            for order, node in enumerate(live):
                node.order = order
            _arrange(proto, live, scope.nodes[len(proto.node) :])
        scope.nodes = live
        scope.is_reordered = False
        if isinstance(proto, GraphProto):
            moved = _write_initializers(scope, proto) or moved
            self.value_infos(scope, proto)
        else:
            self.function_infos(scope)
        self.changed = self.changed or moved

    def value_infos(self, scope: Scope, proto: GraphProto) -> None:
        if not proto.value_info or self.keep_info is None:
            return
        stored = {t.name for t in proto.initializer}
        kept = [p for p in proto.value_info if self.stays(scope, p, stored)]
        if len(kept) != len(proto.value_info):
            del proto.value_info[:]
            proto.value_info.extend(kept)
            self.changed = True

    def function_infos(self, scope: Scope) -> None:
        infos = getattr(scope.proto, "value_info", None)
        if infos and self.keep_info is not None:
            kept = [p for p in infos if self.stays(scope, p, frozenset())]
            if len(kept) != len(infos):
                del infos[:]
                infos.extend(kept)
                self.changed = True

    def stays(self, scope: Scope, info: ValueInfoProto, stored: AbstractSet[str]) -> bool:
        value = scope.values.get(info.name)
        if value is None:
            return False
        defined = value.producer is not None or value.is_input or value.name in stored
        return defined and self.keep_info is not None and self.keep_info(value, info)


def _arrange(proto: GraphProto | FunctionProto, live: list[Node], added: list[Node]) -> None:
    """Let `proto` hold the messages of `live` in this order; only those of `added` nodes are copied."""
    messages = proto.node
    for node in added:
        if node.is_alive:
            messages.append(node.proto)
            _relink_node(node, messages[-1])
    places = {id(n.proto): place for place, n in enumerate(live)}
    messages.sort(key=lambda m: places.get(id(m), len(live)))
    del messages[len(live) :]


def _write_names(node: Node) -> None:
    proto = node.proto
    proto.ClearField("input")
    proto.input.extend([v.name if v is not None else "" for v in node.inputs])
    proto.ClearField("output")
    proto.output.extend([v.name if v is not None else "" for v in node.outputs])
    node.is_changed = False


def _write_initializers(scope: Scope, proto: GraphProto) -> bool:
    """Drop dead initializers, append new ones in the order of their making; True when the list changed."""
    values, tensors = scope.values, proto.initializer
    dead: dict[int, TensorProto] = {}
    for tensor in tensors:
        value = values.get(tensor.name)
        if value is not None and not value.is_read and not value.is_input:
            value.tensor = None
            dead[id(tensor)] = tensor
    fresh = new_initializers(scope)
    if dead:
        tensors.sort(key=lambda t: id(t) in dead)
        del tensors[len(tensors) - len(dead) :]
    for value in fresh:
        if value.tensor is not None:
            tensors.append(_named(value.tensor, value.name))
        elif value.data is not None:
            tensors.append(tensor_from_array(value.data, value.name))
        value.tensor = tensors[-1]
    return bool(dead or fresh)


def _named(tensor: TensorProto, name: str) -> TensorProto:
    """A copy of `tensor` under the name of its value: a Constant node's tensor may have any other."""
    copy = TensorProto()
    copy.CopyFrom(tensor)
    copy.name = name
    return copy


def relink(scope: Scope, proto: GraphProto | FunctionProto) -> None:
    """Point the index of a scope at the message that now holds it: a copy of the one that did."""
    scope.proto = proto
    for node, message in zip(scope.nodes, proto.node, strict=True):
        _relink_node(node, message)
    for tensor in scope.initializers:
        value = scope.values.get(tensor.name)
        if value is not None:
            value.tensor = tensor


def _relink_node(node: Node, message: NodeProto) -> None:
    node.proto = message
    constant = node.outputs[0] if node.op_type == "Constant" and node.outputs else None
    if constant is not None and len(message.attribute) == 1 and message.attribute[0].name == "value":
        constant.tensor = message.attribute[0].t
    if node.subgraphs:
        for inner, graph in zip(node.subgraphs, subgraph_messages(node), strict=True):
            relink(inner, graph)


def subgraph_messages(node: Node) -> Iterator[GraphProto]:
    """The graphs among a node's attributes, in attribute order."""
    for attribute in node.proto.attribute:
        if attribute.type == GRAPH:
            yield attribute.g
        elif attribute.type == GRAPHS:
            yield from attribute.graphs


def topological(nodes: list[Node], scope: Scope) -> list[Node]:
    """Stable order in which each node follows its producers, those that its subgraphs capture included."""
    done: set[Node] = set()
    result: list[Node] = []
    for first in sorted(nodes, key=lambda n: n.order):
        stack = [first]
        while stack:
            node = stack[-1]
            waiting = [] if node in done else [p for p in _producers(node, scope) if p not in done]
            if waiting:
                stack += waiting
                continue
            stack.pop()
            if node not in done:
                done.add(node)
                result.append(node)
    return result


def _producers(node: Node, scope: Scope) -> Iterator[Node]:
    for value in _reads(node):
        producer = value.producer if value is not None and value.scope is scope else None
        if producer is not None and producer is not node:
            yield producer


def _reads(node: Node) -> Iterator[Value | None]:
    yield from node.inputs
    for scope in node.subgraphs:
        for inner in scope.nodes:
            if inner.is_alive:
                yield from _reads(inner)
        yield from scope.outputs
