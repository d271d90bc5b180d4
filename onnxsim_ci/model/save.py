"""Write a model beside its target and rename it over, streaming weights from where they lie.

A data file is never changed under its name; at every instant either the old or the new model is whole.

House: model. May import onnx and errors.
Touch: `wire.py` (spans), `external.py` (containment), `temporary.py` (names and clean-up of temporary files).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from onnx import ModelProto, TensorProto

from onnxsim_ci.errors import BadInput
from onnxsim_ci.model.external import external_range
from onnxsim_ci.model.readback import check_written
from onnxsim_ci.model.temporary import temporary_beside
from onnxsim_ci.model.walk import all_tensors, is_outside
from onnxsim_ci.model.weights import Weights
from onnxsim_ci.model.wire import (
    GRAPH_TAG,
    INITIALIZER_TAG,
    RAW_DATA_TAG,
    Buffer,
    span_of,
    without_span,
    write_varint,
)

INLINE_MAX_BYTES = 1 << 20
"""New tensors of a model with external data go into the model file up to this sum."""

CHUNK_BYTES = 4 << 20
ALIGNMENT = 64


class SavedFiles:
    """A model written under temporary names, waiting for its proof.

    `commit` puts it in place, `discard` removes every trace.
    """

    def __init__(self, model: Path, target: Path, data: tuple[tuple[Path, Path], ...]) -> None:
        self.model = model
        self.target = target
        self.data = data

    def commit(self) -> tuple[Path, ...]:
        """Rename into place, data files first. Returns the new data files.

        Raises:
            BadInput: The target cannot be replaced; the old model is whole.
        """
        try:
            for temporary, final in self.data:
                os.replace(temporary, final)
            os.replace(self.model, self.target)
        except OSError as error:
            self.discard()
            raise BadInput(f"{self.target}: cannot be written ({error.strerror or error})") from error
        _sync_folder(self.target.parent)
        return tuple(final for _, final in self.data)

    def discard(self) -> None:
        """Remove the temporary files; what was there before is untouched."""
        for path in (self.model, *(t for t, _ in self.data)):
            path.unlink(missing_ok=True)


def save_beside(
    proto: ModelProto,
    weights: Weights,
    source_folder: Path | None,
    target: Path,
    *,
    untouched: Buffer | None = None,
) -> SavedFiles:
    """Write `proto` under a temporary name in the folder of `target`.

    Args:
        proto: Light model.
        weights: Where its spans and external data are read from.
        target: Final path.
        source_folder: Folder that external data of `proto` is relative to.
        untouched: The source's bytes, when `proto` is the source: they are written as they are.

    Raises:
        BadInput: The target cannot be written, or the disk is full; nothing is left behind.
    """
    data: tuple[tuple[Path, Path], ...] = ()
    temporary = temporary_beside(target)
    try:
        outside = [t for t in all_tensors(proto) if is_outside(t)]
        _refuse_own_data(outside, source_folder, target)
        if outside:
            same = source_folder is not None and source_folder.resolve() == target.parent.resolve()
            if not same or _fresh_bytes(proto) > INLINE_MAX_BYTES:
                proto, data = _with_own_data_file(proto, weights, target)
        pieces = [memoryview(untouched)] if untouched is not None and not data else serialized(proto, weights)
        with temporary.open("xb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        if untouched is None and has_spans(proto):
            check_written(temporary, proto, weights)
        if target.exists():
            os.chmod(temporary, target.stat().st_mode & 0o7777)
    except OSError as error:
        SavedFiles(temporary, target, data).discard()
        raise BadInput(f"{target}: cannot be written ({error.strerror or error})") from error
    except BaseException:
        SavedFiles(temporary, target, data).discard()
        raise
    return SavedFiles(temporary, target, data)


def _refuse_own_data(outside: list[TensorProto], folder: Path | None, target: Path) -> None:
    """A file that holds weights of the model must not be written over, not even by the model."""
    places = {external_range(t).location for t in outside}
    if folder is not None and any((folder / p).resolve() == target.resolve() for p in places):
        raise BadInput(f"{target}: holds weights of the model itself; nothing was written over it")


def serialized(proto: ModelProto, weights: Weights) -> Iterator[bytes | memoryview]:
    """The serialized model in pieces, spans filled in from the source."""
    tensors = list(proto.graph.initializer)
    if not any(span_of(t) for t in tensors):
        yield proto.SerializeToString()
        return
    shell = ModelProto()
    shell.CopyFrom(proto)
    del shell.graph.initializer[:]
    body = shell.graph.SerializeToString()
    shell.ClearField("graph")
    heads = [_head(t) for t in tensors]
    length = len(body) + sum(len(head) + size for head, size in heads)
    yield shell.SerializeToString()
    yield bytes([GRAPH_TAG]) + write_varint(length)
    yield body
    for tensor, (head, size) in zip(tensors, heads, strict=True):
        yield head
        if size:
            yield from _chunks(weights.view(tensor))


def _head(tensor: TensorProto) -> tuple[bytes, int]:
    """(everything of the initializer's field up to its streamed data, length of that data)."""
    span = span_of(tensor)
    message = (tensor if span is None else without_span(tensor)).SerializeToString()
    if span is None:
        return bytes([INITIALIZER_TAG]) + write_varint(len(message)) + message, 0
    data = bytes([RAW_DATA_TAG]) + write_varint(span[1])
    size = len(message) + len(data) + span[1]
    return bytes([INITIALIZER_TAG]) + write_varint(size) + message + data, span[1]


def has_spans(proto: ModelProto) -> bool:
    """True when some weights are still in the source and have to be streamed."""
    return any(span_of(t) is not None for t in proto.graph.initializer)


def serialized_bytes(proto: ModelProto) -> int:
    """Length of `serialized` without making it."""
    streamed = 0
    for tensor in proto.graph.initializer:
        if span_of(tensor) is not None:
            head, size = _head(tensor)
            light = tensor.ByteSize()
            streamed += len(head) + size - (1 + len(write_varint(light)) + light)
    if not streamed:
        return int(proto.ByteSize())
    light = proto.graph.ByteSize()
    return int(proto.ByteSize() + streamed + len(write_varint(light + streamed)) - len(write_varint(light)))


def filled(proto: ModelProto, weights: Weights) -> ModelProto:
    """A ModelProto of its own with the data of all spans inside; true external data stay outside."""
    full = ModelProto()
    full.CopyFrom(proto)
    for tensor in full.graph.initializer:
        if span_of(tensor) is not None:
            weights.fill(tensor)
    return full


def embedded(proto: ModelProto, weights: Weights) -> ModelProto:
    """`proto` itself, its external data read into it.

    Raises:
        BadInput: A data file is missing, too short, or outside the model's folder.
    """
    for tensor in all_tensors(proto):
        if is_outside(tensor):
            data = bytes(weights.view(tensor))
            tensor.ClearField("external_data")
            tensor.ClearField("data_location")
            tensor.raw_data = data
    return proto


def image_of(proto: ModelProto, weights: Weights, path: Path | None) -> tuple[bytes, str | None]:
    """(serialized model, folder) for a session that maps the weights instead of copying them.

    Spans of a file name that file as external data; spans of bytes in memory are filled in.
    """
    if not any(span_of(t) for t in proto.graph.initializer):
        return proto.SerializeToString(), None if path is None else str(path.parent.resolve())
    if path is None:
        return filled(proto, weights).SerializeToString(), None
    mapped = ModelProto()
    mapped.CopyFrom(proto)
    for tensor in mapped.graph.initializer:
        if span_of(tensor) is not None:
            tensor.external_data[0].value = path.name
            del tensor.external_data[3:]
    return mapped.SerializeToString(), str(path.parent.resolve())


def _fresh_bytes(proto: ModelProto) -> int:
    return sum(len(t.raw_data) for t in proto.graph.initializer if t.HasField("raw_data"))


def _with_own_data_file(
    proto: ModelProto, weights: Weights, target: Path
) -> tuple[ModelProto, tuple[tuple[Path, Path], ...]]:
    """A copy of `proto` whose outside tensors lie in one new file, live ranges only, shared ranges once."""
    moved = ModelProto()
    moved.CopyFrom(proto)
    temporary = temporary_beside(target.with_name(target.name + ".data"))
    digest = hashlib.sha256()
    places: dict[tuple[str, int, int], int] = {}
    tensors = [t for t in all_tensors(moved) if is_outside(t)]
    try:
        with temporary.open("xb") as file:
            for tensor in tensors:
                found = external_range(tensor)
                key = (found.location, found.offset, found.length)
                if key in places:
                    continue
                padding = b"\0" * (-file.tell() % ALIGNMENT)
                digest.update(padding)
                file.write(padding)
                places[key] = file.tell()
                for chunk in _chunks(weights.view(tensor)):
                    digest.update(chunk)
                    file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    name = f"{target.stem}.{digest.hexdigest()[:8]}.data"
    for tensor in tensors:
        found = external_range(tensor)
        _name_range(tensor, name, places[found.location, found.offset, found.length], found.length)
    return moved, ((temporary, target.with_name(name)),)


def _name_range(tensor: TensorProto, location: str, offset: int, length: int) -> None:
    others = [(e.key, e.value) for e in tensor.external_data if e.key not in ("location", "offset", "length")]
    del tensor.external_data[:]
    for key, value in (("location", location), ("offset", str(offset)), ("length", str(length)), *others):
        tensor.external_data.add(key=key, value=value)


def _chunks(view: memoryview) -> Iterator[memoryview]:
    for start in range(0, len(view), CHUNK_BYTES):
        yield view[start : start + CHUNK_BYTES]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
