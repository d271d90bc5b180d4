"""Static figures of a model, with the one definition of each.

House: model. May import onnx.
Touch: the report shows these fields; docs explain them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod

from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto

from onnxsim_ci.model.graph import GRAPH, GRAPHS
from onnxsim_ci.model.operators import may_hold_graphs
from onnxsim_ci.model.tensors import stored_bytes
from onnxsim_ci.model.wire import INLINE

MAX_CALL_DEPTH = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Figures of one model.

    Attributes:
        nodes: Nodes of all scopes, without Constant nodes; a local function's body counts per call.
        constant_nodes: Constant nodes of all scopes.
        parameters: Elements of initializers and Constant tensors.
        initializers: Number of initializers in all scopes.
        file_bytes: Serialized model, without external data.
        external_bytes: External data that the model refers to, shared ranges once.
        operators: Nodes by operator; operators of other domains as `domain::Operator`.
        opsets: Imported opsets by domain.
        ir_version: IR version of the file.
        functions: Number of local functions.
    """

    nodes: int
    constant_nodes: int
    parameters: int
    initializers: int
    file_bytes: int
    external_bytes: int
    operators: Mapping[str, int] = field(default_factory=dict)
    opsets: Mapping[str, int] = field(default_factory=dict)
    ir_version: int = 0
    functions: int = 0

    @property
    def total_bytes(self) -> int:
        """File plus external data."""
        return self.file_bytes + self.external_bytes


def statistics_of(model: ModelProto, file_bytes: int) -> Statistics:
    """Figures of `model` (a light one will do), whose serialized form has `file_bytes` bytes."""
    counter = _Counter(model)
    counter.graph(model.graph, 0)
    return Statistics(
        nodes=counter.operators.total(),
        constant_nodes=counter.constant_nodes,
        parameters=counter.parameters,
        initializers=counter.initializers,
        file_bytes=file_bytes,
        external_bytes=sum(counter.external.values()),
        operators=dict(sorted(counter.operators.items())),
        opsets={"" if o.domain == "ai.onnx" else o.domain: o.version for o in model.opset_import},
        ir_version=model.ir_version,
        functions=len(model.functions),
    )


class _Counter:
    def __init__(self, model: ModelProto) -> None:
        self.functions = {(f.domain, f.name, f.overload): f for f in model.functions}
        self.calls = {(domain, name) for domain, name, _ in self.functions}
        self.operators: Counter[str] = Counter()
        self.constant_nodes = 0
        self.parameters = 0
        self.initializers = 0
        self.external: dict[tuple[str, int], int] = {}

    def graph(self, graph: GraphProto, depth: int) -> None:
        for tensor in graph.initializer:
            self.tensor(tensor)
        self.initializers += len(graph.initializer) + len(graph.sparse_initializer)
        for sparse in graph.sparse_initializer:
            self.tensor(sparse.values)
        self.nodes(graph.node, depth)

    def nodes(self, nodes: Iterable[NodeProto], depth: int) -> None:
        """Count nodes; only those that hold graphs or tensors, or call a function, are looked into."""
        kinds = Counter([(n.domain, n.op_type) for n in nodes])
        special = set()
        for (domain, op_type), count in kinds.items():
            standard = domain in ("", "ai.onnx")
            if standard and op_type == "Constant":
                self.constant_nodes += count
                special.add((domain, op_type))
            elif (domain, op_type) in self.calls:
                special.add((domain, op_type))
            else:
                self.operators[op_type if standard else f"{domain}::{op_type}"] += count
                if may_hold_graphs(op_type, domain):
                    special.add((domain, op_type))
        if special:
            for node in nodes:
                if (node.domain, node.op_type) in special:
                    self.special(node, depth)

    def special(self, node: NodeProto, depth: int) -> None:
        """A Constant, a node with bodies, or a call."""
        if node.op_type == "Constant" and node.domain in ("", "ai.onnx"):
            for attribute in node.attribute:
                if attribute.name == "value":
                    self.tensor(attribute.t)
            return
        function = self.functions.get((node.domain, node.op_type, node.overload))
        if function is not None and depth < MAX_CALL_DEPTH:
            self.nodes(function.node, depth + 1)
        elif (node.domain, node.op_type) in self.calls:
            self.operators[f"{node.domain}::{node.op_type}"] += 1
        for inner in subgraphs(node):
            self.graph(inner, depth)

    def tensor(self, tensor: TensorProto) -> None:
        self.parameters += prod(tensor.dims)
        if tensor.data_location == TensorProto.EXTERNAL:
            entries = {e.key: e.value for e in tensor.external_data}
            if entries.get("location") != INLINE:
                length = int(entries.get("length", stored_bytes(tensor.data_type, tensor.dims)))
                self.external[entries.get("location", ""), int(entries.get("offset", "0"))] = length


def subgraphs(node: NodeProto) -> Iterator[GraphProto]:
    """Graphs among the attributes of `node`, in order."""
    if not may_hold_graphs(node.op_type, node.domain):
        return
    for attribute in node.attribute:
        if attribute.type == GRAPH:
            yield attribute.g
        elif attribute.type == GRAPHS:
            yield from attribute.graphs


def all_graphs(model: ModelProto) -> Iterator[GraphProto | FunctionProto]:
    """Main graph, function bodies and every subgraph, outer before inner."""
    stack: list[GraphProto | FunctionProto] = [*reversed(model.functions), model.graph]
    while stack:
        graph = stack.pop()
        yield graph
        holders = [n for n in graph.node if may_hold_graphs(n.op_type, n.domain)]
        stack += [inner for node in reversed(holders) for inner in subgraphs(node)]
