"""Fill in what the C++ shape inference of onnx can prove about a model.

It runs on a light copy (`light_copy.py`) and may run again on a changed model: values keep what was known
better.

House: analysis. May import model and onnx.
Touch: `learning.py` refines what this leaves open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx import GraphProto, ModelProto, TensorShapeProto, TypeProto, ValueInfoProto, shape_inference

from onnxsim_ci.analysis.axes import axis_symbol, is_anonymous
from onnxsim_ci.analysis.dim import Dim, Shape, Symbolic, is_settled, is_vague
from onnxsim_ci.analysis.light_copy import inner_graphs_of, light_copy
from onnxsim_ci.model import element_type

if TYPE_CHECKING:
    from onnxsim_ci.model import Graph, Scope, Value

_ATTEMPTS: tuple[dict[str, bool], ...] = (
    {"check_type": True, "strict_mode": True},
    {"strict_mode": True},
    {},
)
"""Ways to run the inference, from the most to the least demanding.

Never with `data_prop`: it computes rank-1 contents of any size (onnx 1.23.2: 8 GB for 186 bytes of
ConstantOfShape([2**28]) and Mul), and our own transfer functions find the same on 217 real models.
"""
NOT_A_TENSOR = -1
_UNKNOWN_TYPE = "expected to have type but instead is null"
"""Said of a node behind an operator whose types the library cannot infer."""


@dataclass(frozen=True, slots=True)
class Inference:
    """The outcome of one inference.

    Attributes:
        problem: What strict inference found wrong with the model, as one sentence; None for nothing.
        learned: Values about which more is known than before.
    """

    problem: str | None
    learned: list[Value]


def infer(graph: Graph, model: ModelProto) -> Inference:
    """Fill dtype and shape of the values of `graph`, the index of `model`, in all its graphs.

    The facts are those of the most demanding way that did not fail; function bodies get none.
    """
    learn_constants(graph)
    names = _learn_inputs(graph.root)
    data = light_copy(graph, model).SerializeToString()
    problem = None
    taker = _Taker(names)
    for arguments in _ATTEMPTS:
        try:
            inferred = shape_inference.infer_shapes(data, **arguments)
        except Exception as error:  # whatever the library raises: facts are optional
            problem = problem or _sentence(error)
            continue
        taker.graph(graph.root, inferred.graph)
        break
    return Inference(problem, taker.learned)


def is_complete(graph: Graph) -> bool:
    """True when nothing is left to learn about the shape of any value that a live node computes."""
    return all(
        value is None or value.dtype == NOT_A_TENSOR or is_settled(value.shape)
        for scope in graph.scopes()
        for node in scope.nodes
        if node.is_alive
        for value in node.outputs
    )


def _sentence(error: Exception) -> str | None:
    """First finding of the library's message, without its tags; None when inference only knew too little."""
    for line in str(error).splitlines():
        text = re.sub(r"\[\w*Error\] ?|Inference error\(s\): ?", "", line).strip().rstrip(".")
        if text and _UNKNOWN_TYPE not in text:
            return text
    return None


def learn_constants(graph: Graph) -> None:
    """Types of constants are those of their tensors."""
    for scope in graph.scopes():
        for value in scope.values.values():
            tensor, data = value.tensor, value.data
            if (tensor is None and data is None) or value.shape is not None or value.overridable:
                continue
            if tensor is not None:
                value.dtype, value.shape = tensor.data_type, tuple(tensor.dims)
            elif data is not None:
                value.dtype, value.shape = element_type(data.dtype), data.shape


def _learn_inputs(root: Scope) -> dict[str, Dim]:
    """Shapes of the main graph's inputs, with a symbol for each axis that is not static; symbols by name."""
    names: dict[str, Dim] = {}
    for value in root.inputs:
        declared = value.declared
        if value.shape is None and declared is not None:
            kind = declared.type.WhichOneof("value")
            tensor = declared.type.tensor_type
            value.dtype = tensor.elem_type if kind == "tensor_type" else NOT_A_TENSOR if kind else 0
            if kind == "tensor_type" and tensor.HasField("shape"):
                value.shape = tuple(_input_dim(value, i, d) for i, d in enumerate(tensor.shape.dim))
        names.update((str(d), d) for d in value.shape or () if isinstance(d, Symbolic))
    return names


def _input_dim(value: Value, axis: int, dim: TensorShapeProto.Dimension) -> Dim:
    """Static sizes are checked by every runtime; names are claims, and exporters write 0 for "not known"."""
    if dim.HasField("dim_value") and dim.dim_value > 0:
        return dim.dim_value
    claim = "" if is_anonymous(dim.dim_param) else dim.dim_param
    return axis_symbol(value, axis, claim=claim, is_vague=False)


class _Taker:
    """Takes inferred types over; equal serialized types are decoded once.

    Args:
        names: Dims of the light copy's inputs by the name they have there. Names of the inference's own
            making become the symbol of the first axis that shows them.
    """

    def __init__(self, names: dict[str, Dim]) -> None:
        self.names = names
        self.decoded: dict[bytes, tuple[int, Shape | None]] = {}
        self.learned: list[Value] = []

    def graph(self, scope: Scope, proto: GraphProto) -> None:
        """Facts of one graph and of the graphs inside it."""
        values = scope.values
        for infos in (proto.value_info, proto.input if scope.owner is not None else (), proto.output):
            for info in infos:
                value = values.get(info.name)
                if value is not None:
                    self.value(value, info)
        if not any(n.subgraphs for n in scope.nodes):
            return
        for node in proto.node:
            first = next((values.get(name) for name in node.output if name), None)
            owner = first.producer if first is not None else None
            if owner is not None and owner.subgraphs and owner.op_type == node.op_type:
                for inner, inner_proto in zip(owner.subgraphs, inner_graphs_of(node), strict=False):
                    self.graph(inner, inner_proto)

    def value(self, value: Value, info: ValueInfoProto) -> None:
        """Merge one inferred type into the value's facts."""
        kind = info.type
        key = kind.SerializeToString()
        known = self.decoded.get(key)
        if known is None:
            known, is_complete = self.decode(value, kind)
            if is_complete:
                self.decoded[key] = known
        dtype, shape = known
        if value.dtype == 0:
            value.dtype = dtype
        if shape is None or value.shape == shape:
            return
        refined = shape if value.shape is None else _refined(value.shape, shape)
        if refined != value.shape:
            value.shape = refined
            self.learned.append(value)

    def decode(self, value: Value, kind: TypeProto) -> tuple[tuple[int, Shape | None], bool]:
        """Element type and shape; with False when the shape belongs to this value alone."""
        which = kind.WhichOneof("value")
        if which != "tensor_type":
            return (NOT_A_TENSOR if which else 0, None), True
        tensor = kind.tensor_type
        if not tensor.HasField("shape"):
            return (tensor.elem_type, None), True
        dims: list[Dim] = []
        is_complete = True
        for axis, dim in enumerate(tensor.shape.dim):
            if dim.HasField("dim_value"):
                dims.append(dim.dim_value)
                continue
            name = dim.dim_param
            found = self.names.get(name) if name else None
            if found is None:
                found = axis_symbol(value, axis)
                is_complete &= bool(name)
                if name:
                    self.names[name] = found
            dims.append(found)
        return (tensor.elem_type, tuple(dims)), is_complete


def _refined(old: Shape, new: Shape) -> Shape:
    """Known integers stay, symbols that later facts may resolve give way."""
    if len(old) != len(new):
        return old
    return tuple(
        n if isinstance(o, Symbolic) and (isinstance(n, int) or (is_vague(o) and not is_vague(n))) else o
        for o, n in zip(old, new, strict=True)
    )
