"""Is the content of a model whole? The checks that need no runtime.

House: model. May import onnx and errors.
Touch: the flow in `api.py` asks the runtime where the checker alone cannot tell.
"""

from __future__ import annotations

from onnx import ModelProto, TensorProto, ValueInfoProto, checker, defs

from onnxsim_ci.errors import BadInput, ExternalDataError, LimitExceeded, UnsupportedModel
from onnxsim_ci.model.borrow import copy_fields
from onnxsim_ci.model.graph import Graph, Node, Scope
from onnxsim_ci.model.load import Limits, LoadedModel
from onnxsim_ci.model.operators import STANDARD_DOMAINS, is_ever_standard
from onnxsim_ci.model.tensors import BITS, element_count, stored_bytes
from onnxsim_ci.model.walk import all_tensors, is_outside
from onnxsim_ci.model.wire import SPAN_FROM_BYTES, span_of

TYPED_FIELDS = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data")


def check_content(model: LoadedModel, graph: Graph, limits: Limits) -> None:
    """Refuse limits exceeded, tensors that lie about their size, unknown opsets and calls that never end.

    Raises:
        BadInput: With one sentence that names the place.
    """
    where = str(model.path) if model.path else "the model"
    _check_limits(graph, limits, where)
    _check_opsets(graph, where)
    for tensor in all_tensors(model.proto):
        _check_tensor(tensor, model, where)
    _check_calls(graph, where)


def checker_problem(model: ModelProto) -> str | None:
    """First line of what the ONNX checker says against `model`, weights aside; None when it is content."""
    try:
        checker.check_model(_checkable(model))
    except checker.ValidationError as error:
        return next(
            (line.strip() for line in str(error).splitlines() if line.strip()), "the checker refuses it"
        )
    return None


def _checkable(model: ModelProto) -> ModelProto:
    """`model`, or a copy in which initializers that lie in files or are large became inputs of their type.

    The checker would look for the files beside the current folder, and hold the large ones twice.
    """
    graph = model.graph
    heavy = [_is_heavy(t) for t in graph.initializer]
    if not any(heavy):
        return model
    copy = ModelProto()
    copy_fields(model, copy, "graph")
    copy_fields(graph, copy.graph, "initializer")
    listed = {i.name for i in graph.input}
    for tensor, is_heavy in zip(graph.initializer, heavy, strict=True):
        if not is_heavy:
            copy.graph.initializer.append(tensor)
        elif tensor.name not in listed:
            copy.graph.input.append(typed_info(tensor))
    return copy


def _is_heavy(tensor: TensorProto) -> bool:
    if tensor.data_location == TensorProto.EXTERNAL:
        return span_of(tensor) is None
    return stored_bytes(tensor.data_type, tensor.dims) > SPAN_FROM_BYTES


def typed_info(tensor: TensorProto) -> ValueInfoProto:
    """ValueInfoProto with the name, element type and dims of `tensor`."""
    info = ValueInfoProto(name=tensor.name)
    kind = info.type.tensor_type
    kind.elem_type = tensor.data_type
    kind.shape.SetInParent()
    for dim in tensor.dims:
        kind.shape.dim.add(dim_value=dim)
    return info


def _check_limits(graph: Graph, limits: Limits, where: str) -> None:
    count = 0
    for scope in graph.scopes():
        count += len(scope.nodes)
        if _depth(scope) > limits.depth:
            raise LimitExceeded(f"{where}: nests subgraphs deeper than {limits.depth} (limits.depth)")
    if count > limits.nodes:
        raise LimitExceeded(f"{where}: has {count} nodes, over the limit of {limits.nodes} (limits.nodes)")


def _depth(scope: Scope) -> int:
    depth, parent = 0, scope.parent
    while parent is not None:
        depth, parent = depth + 1, parent.parent
    return depth


def _check_opsets(graph: Graph, where: str) -> None:
    newest = defs.onnx_opset_version()
    for scope in (graph.root, *graph.functions):
        if scope.opset > newest:
            raise UnsupportedModel(
                f"{where}: imports opset {scope.opset}, newer than the installed onnx knows ({newest})"
            )
    for scope in graph.scopes():
        for node in scope.nodes:
            if node.operator is not None or node.is_call:
                continue
            domain = node.domain
            if domain not in scope.opsets and not (domain == "" and not scope.opsets):
                raise BadInput(
                    f"{where}: node {node.label!r} is of the domain {domain!r}, for which "
                    "no opset is imported"
                )
            if (
                domain in STANDARD_DOMAINS
                and not _refers(node.proto)
                and is_ever_standard(node.op_type, domain)
            ):
                raise BadInput(
                    f"{where}: node {node.label!r}: {node.op_type} does not exist "
                    f"in opset {scope.opsets.get(domain, 0)}"
                )


def _refers(proto: object) -> bool:
    return any(a.ref_attr_name for a in getattr(proto, "attribute", ()))


def _check_tensor(tensor: TensorProto, model: LoadedModel, where: str) -> None:
    dims, data_type = tuple(tensor.dims), tensor.data_type
    if min(dims, default=0) < 0:
        raise BadInput(f"{where}: tensor {tensor.name!r} has a negative dimension")
    if is_outside(tensor):
        try:
            model.weights.external.check(tensor)
        except ExternalDataError as error:
            error.where = where
            raise
        return
    declared = stored_bytes(data_type, dims)
    span = span_of(tensor)
    if span is not None:
        actual = span[1]
    elif tensor.HasField("raw_data"):
        actual = len(tensor.raw_data)
    elif data_type == TensorProto.STRING:
        declared, actual = element_count(dims), len(tensor.string_data)
    else:
        declared, actual = _typed_counts(tensor)
    if declared != actual:
        raise BadInput(
            f"{where}: tensor {tensor.name!r} declares {declared} bytes or elements but holds {actual}"
        )


def _typed_counts(tensor: TensorProto) -> tuple[int, int]:
    """(entries that the dims ask for, entries stored) of a tensor in typed fields."""
    count = element_count(tensor.dims)
    stored = sum(len(getattr(tensor, name)) for name in TYPED_FIELDS)
    if tensor.data_type in (TensorProto.COMPLEX64, TensorProto.COMPLEX128):
        return 2 * count, stored
    bits = BITS.get(tensor.data_type)
    if bits in (2, 4):  # packed like raw data; six-bit floats stand one an entry
        return (count * bits + 7) // 8, stored
    return count, stored


def _check_calls(graph: Graph, where: str) -> None:
    """Local functions must not call themselves, and take no more values than they declare."""
    calls: dict[tuple[str, str, str], set[tuple[str, str, str]]] = {}
    bodies = {f.key: f for f in graph.functions}
    for key, function in bodies.items():
        calls[key] = {n.key for s in _below(function) for n in s.nodes if n.is_call}
    for scope in graph.scopes() if bodies else ():
        for node in scope.nodes:
            called = bodies.get(node.key) if node.is_call else None
            if called is not None and not _fits(node, called):
                raise BadInput(f"{where}: node {node.label!r} passes more values than {called.path} declares")
    done: set[tuple[str, str, str]] = set()
    while True:
        ready = {
            k for k, callees in calls.items() if k not in done and callees <= done | (callees - calls.keys())
        }
        if not ready:
            break
        done |= ready
    stuck = sorted(calls.keys() - done)
    if stuck:
        raise BadInput(f"{where}: the local function {stuck[0][0]}::{stuck[0][1]} calls itself")


def _fits(node: Node, called: Scope) -> bool:
    return len(node.inputs) <= len(called.inputs) and len(node.outputs) <= len(called.outputs)


def _below(scope: Scope) -> list[Scope]:
    found = [scope]
    for current in found:
        found += [s for n in current.nodes for s in n.subgraphs]
    return found
