"""The light form of a ModelProto in memory: its large weights stay in the caller's messages, uncopied.

A large initializer of the light model is a span whose offset is its place in the list of borrowed tensors.

House: model. May import onnx.
Touch: `wire.py` makes the same form of serialized models, `weights.py` reads both.
"""

from __future__ import annotations

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet
from onnx import ModelProto, TensorProto

from onnxsim_ci.model.tensors import stored_bytes
from onnxsim_ci.model.wire import SPAN_FROM_BYTES, mark_span


def borrow(model: ModelProto) -> tuple[ModelProto, list[TensorProto]]:
    """(light copy, borrowed tensors); a whole copy where no weight is large, or with unknown fields."""
    large = [_is_large(t) for t in model.graph.initializer]
    light = ModelProto()
    if not any(large) or len(UnknownFieldSet(model)) or len(UnknownFieldSet(model.graph)):
        light.CopyFrom(model)
        return light, []
    copy_fields(model, light, "graph")
    copy_fields(model.graph, light.graph, "initializer")
    borrowed: list[TensorProto] = []
    for tensor, is_large in zip(model.graph.initializer, large, strict=True):
        if not is_large:
            light.graph.initializer.append(tensor)
            continue
        head = light.graph.initializer.add()
        copy_fields(tensor, head, "raw_data")
        mark_span(head, len(borrowed), stored_bytes(tensor.data_type, tensor.dims))
        borrowed.append(tensor)
    return light, borrowed


def _is_large(tensor: TensorProto) -> bool:
    if tensor.data_location != TensorProto.DEFAULT or tensor.external_data or not tensor.HasField("raw_data"):
        return False
    size = stored_bytes(tensor.data_type, tensor.dims)
    return size > SPAN_FROM_BYTES and not len(UnknownFieldSet(tensor))


def copy_fields(source: Message, target: Message, left_out: str) -> None:
    """Copy every field that is set, except one, which is not even read."""
    for field in source.DESCRIPTOR.fields:
        name = field.name
        if name == left_out:
            continue
        if field.is_repeated:
            getattr(target, name).extend(getattr(source, name))
        elif source.HasField(name):
            if field.message_type is not None:
                getattr(target, name).CopyFrom(getattr(source, name))
            else:
                setattr(target, name, getattr(source, name))
