"""Every tensor of a model, wherever it stands: what containment checks and savers must not miss.

House: model. May import onnx.
Touch: `validity.py` checks these tensors, `save.py` moves the data of those that lie outside.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, SparseTensorProto, TensorProto

from onnxsim_ci.model.operators import may_hold_tensors
from onnxsim_ci.model.statistics import all_graphs, subgraphs
from onnxsim_ci.model.wire import span_of


def all_tensors(proto: ModelProto) -> Iterator[TensorProto]:
    """Initializers and attributes of all scopes, parts of sparse tensors, and those of training graphs."""
    for graph in all_graphs(proto):
        yield from _tensors(graph)
    stack = [g for t in proto.training_info for g in (t.initialization, t.algorithm)]
    while stack:
        graph = stack.pop()
        yield from _tensors(graph)
        stack += [inner for node in graph.node for inner in subgraphs(node)]


def is_outside(tensor: TensorProto) -> bool:
    """True when the tensor's data lie in a file beside the model."""
    return tensor.data_location == TensorProto.EXTERNAL and span_of(tensor) is None


def _tensors(graph: GraphProto | FunctionProto) -> Iterator[TensorProto]:
    if isinstance(graph, GraphProto):
        yield from graph.initializer
        for sparse in graph.sparse_initializer:
            yield from _parts(sparse)
    for node in graph.node:
        if may_hold_tensors(node.op_type, node.domain):
            for attribute in node.attribute:
                yield from _of_attribute(attribute)


def _of_attribute(attribute: AttributeProto) -> Iterator[TensorProto]:
    if attribute.HasField("t"):
        yield attribute.t
    if attribute.type == AttributeProto.TENSOR:
        return
    yield from attribute.tensors
    if attribute.HasField("sparse_tensor"):
        yield from _parts(attribute.sparse_tensor)
    for sparse in attribute.sparse_tensors:
        yield from _parts(sparse)


def _parts(sparse: SparseTensorProto) -> Iterator[TensorProto]:
    yield sparse.values
    yield sparse.indices
