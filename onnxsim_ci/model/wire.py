"""Read the top of a serialized model and leave large weights where they lie; write them back by streaming.

A light model is an ordinary ModelProto in which each large initializer of the main graph names a span of the
serialized source instead of holding its bytes: external data whose location is `INLINE`, with offset and
length. Odd wire (two graph fields, groups, a tensor's data in several pieces) is parsed whole instead: never
a guess.

House: model. May import onnx and numpy.
Touch: `weights.py` reads the spans, `save.py` streams them.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator

from google.protobuf.message import DecodeError
from onnx import ModelProto, TensorProto

INLINE = f"#\0{os.urandom(8).hex()}"
"""Location of a span of the source itself: no path, since it has a NUL byte, and no model can guess it.

The ONNX checker takes a location that starts with # for data in memory (onnx 1.23).
"""

SAID_DEFAULT = ("data_location", "DEFAULT")
"""Fourth entry of a span whose source spelled out where its data are, as `onnx.load` does."""

LIGHT_FROM_BYTES = 4 << 20
"""Smaller models are parsed whole: walking the wire costs 0.4 µs a field."""

SPAN_FROM_BYTES = 1 << 16
"""An initializer whose message is longer keeps its data in the source."""

HEAD_MAX_BYTES = 4096
GRAPH_TAG, INITIALIZER_TAG, RAW_DATA_TAG = 0x3A, 0x2A, 0x4A
LENGTH_DELIMITED = 2

Buffer = bytes | mmap.mmap


class OddWireError(ValueError):
    """The bytes are not laid out as serializers do it; parse them whole."""


def parse_light(buffer: Buffer) -> ModelProto:
    """The model in `buffer`, its large main-graph initializers as spans of `buffer`.

    Raises:
        DecodeError: The bytes are no protobuf message.
    """
    size = len(buffer)
    if size >= LIGHT_FROM_BYTES:
        try:
            return ModelProto.FromString(b"".join(_light_model(buffer, size)))
        except (OddWireError, IndexError):
            pass
        except DecodeError:
            if size >= 1 << 31:
                raise
    return ModelProto.FromString(bytes(buffer) if isinstance(buffer, bytes) else buffer[:])


def _light_model(buffer: Buffer, end: int) -> Iterator[bytes]:
    position, graphs = 0, 0
    while position < end:
        start = position
        tag, position = read_varint(buffer, position)
        if tag != GRAPH_TAG:
            position = _skip(buffer, position, tag & 7, end)
            yield buffer[start:position]
            continue
        graphs += 1
        if graphs > 1:
            raise OddWireError("several graphs")
        length, position = read_varint(buffer, position)
        if position + length > end:
            raise OddWireError("graph beyond the end")
        body = _light_graph(buffer, position, position + length)
        yield bytes([GRAPH_TAG]) + write_varint(sum(map(len, body)))
        yield from body
        position += length


def _light_graph(buffer: Buffer, position: int, end: int) -> list[bytes]:
    parts: list[bytes] = []
    kept = position
    while position < end:
        start = position
        tag, position = read_varint(buffer, position)
        if tag & 7 != LENGTH_DELIMITED:
            position = _skip(buffer, position, tag & 7, end)
            continue
        length, position = read_varint(buffer, position)
        if position + length > end:
            raise OddWireError("field beyond the end")
        if tag == INITIALIZER_TAG and length > SPAN_FROM_BYTES:
            head = _light_tensor(buffer, position, position + length)
            if head is not None:
                parts += [buffer[kept:start], bytes([INITIALIZER_TAG]), write_varint(len(head)), head]
                kept = position + length
        position += length
    parts.append(buffer[kept:end])
    return parts


def _light_tensor(buffer: Buffer, position: int, end: int) -> bytes | None:
    """The tensor's message with a span for its raw data; None when it has to stay as it is."""
    pieces: list[bytes] = []
    span: tuple[int, int] | None = None
    while position < end:
        start = position
        tag, position = read_varint(buffer, position)
        if tag == RAW_DATA_TAG:
            if span is not None:
                raise OddWireError("raw data twice")
            length, position = read_varint(buffer, position)
            span = (position, length)
            position += length
        else:
            position = _skip(buffer, position, tag & 7, end)
            pieces.append(buffer[start:position])
    if position != end:
        raise OddWireError("tensor beyond its end")
    head = b"".join(pieces)
    if span is None or len(head) > HEAD_MAX_BYTES:
        return None
    tensor = TensorProto.FromString(head)
    if tensor.external_data or tensor.data_location != TensorProto.DEFAULT:
        return None
    mark_span(tensor, *span)
    return tensor.SerializeToString()


def mark_span(tensor: TensorProto, offset: int, length: int) -> None:
    """Let `tensor` name `length` bytes at `offset` of the source as its raw data."""
    entries = [("location", INLINE), ("offset", str(offset)), ("length", str(length))]
    if tensor.HasField("data_location"):
        entries.append(SAID_DEFAULT)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in entries:
        tensor.external_data.add(key=key, value=value)


def span_of(tensor: TensorProto) -> tuple[int, int] | None:
    """(offset, length) of the raw data in the source; None for every other tensor."""
    if tensor.data_location != TensorProto.EXTERNAL or not tensor.external_data:
        return None
    if tensor.external_data[0].value != INLINE:
        return None
    return int(tensor.external_data[1].value), int(tensor.external_data[2].value)


def clear_span(tensor: TensorProto) -> None:
    """Let `tensor` be what the source had, without its raw data."""
    said_default = len(tensor.external_data) > 3
    tensor.ClearField("external_data")
    tensor.ClearField("data_location")
    if said_default:
        tensor.data_location = TensorProto.DEFAULT


def without_span(tensor: TensorProto) -> TensorProto:
    """A copy of `tensor` as the source had it, without its raw data."""
    head = TensorProto()
    head.CopyFrom(tensor)
    clear_span(head)
    return head


def read_varint(buffer: Buffer, position: int) -> tuple[int, int]:
    """(number, position behind it); IndexError at the end of the buffer, OddWireError beyond 64 bits."""
    number, shift = 0, 0
    while True:
        byte = buffer[position]
        position += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, position
        shift += 7
        if shift > 63:
            raise OddWireError("varint over 64 bits")


def write_varint(number: int) -> bytes:
    """Protobuf's base-128 form of a non-negative number."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def _skip(buffer: Buffer, position: int, wire_type: int, end: int) -> int:
    if wire_type == LENGTH_DELIMITED:
        length, position = read_varint(buffer, position)
        position += length
    elif wire_type == 0:
        _, position = read_varint(buffer, position)
    elif wire_type == 1:
        position += 8
    elif wire_type == 5:
        position += 4
    else:
        raise OddWireError("group")
    if position > end:
        raise OddWireError("field beyond the end")
    return position
