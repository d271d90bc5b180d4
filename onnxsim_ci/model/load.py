"""Open a model given as a path, bytes or ModelProto, refusing what is no model with one sentence.

House: model. May import onnx and errors.
Touch: `wire.py` (light form), `validity.py` (checks of the content).
"""

from __future__ import annotations

import hashlib
import mmap
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from google.protobuf.message import DecodeError
from onnx import IR_VERSION, ModelProto

from onnxsim_ci.errors import BadInput, LfsPointer, LimitExceeded, UnsupportedModel
from onnxsim_ci.model.borrow import borrow
from onnxsim_ci.model.save import serialized_bytes
from onnxsim_ci.model.weights import Weights
from onnxsim_ci.model.wire import Buffer, parse_light

LFS_PREFIX = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a model may cost before work on it begins.

    Attributes:
        file_bytes: Size of the model file.
        nodes: Nodes in all scopes, Constant nodes included.
        depth: Nesting of subgraphs.
        fold_work: Elements read and written by all folds of one run.
    """

    file_bytes: int = 64 << 30
    nodes: int = 2_000_000
    depth: int = 64
    fold_work: int = 10_000_000_000


@dataclass(eq=False)
class LoadedModel:
    """A model in its light form, with access to its weights.

    Attributes:
        proto: Light ModelProto (large main-graph initializers are spans of `buffer`); owned by this object.
        weights: Reader of all its tensors.
        origin: The serialized source, or the caller's message, which is read and never changed.
        path: Where it was read from; None for bytes and protos.
    """

    proto: ModelProto
    weights: Weights
    origin: Buffer | ModelProto
    path: Path | None

    @cached_property
    def buffer(self) -> Buffer:
        """The serialized source."""
        if isinstance(self.origin, ModelProto):
            return bytes(self.origin.SerializeToString())
        return self.origin

    @cached_property
    def size(self) -> int:
        """Bytes of the serialized source."""
        return serialized_bytes(self.proto) if isinstance(self.origin, ModelProto) else len(self.origin)

    @cached_property
    def sha256(self) -> str:
        """Hex digest of the serialized source."""
        return hashlib.sha256(self.buffer).hexdigest()

    def fresh_proto(self) -> ModelProto:
        """Another light copy of the source, over the same weights."""
        return borrow(self.origin)[0] if isinstance(self.origin, ModelProto) else parse_light(self.origin)

    def whole(self) -> ModelProto:
        """A ModelProto of its own that equals the source."""
        if not isinstance(self.origin, ModelProto):
            return ModelProto.FromString(bytes(self.origin[:]))
        copy = ModelProto()
        copy.CopyFrom(self.origin)
        return copy

    @property
    def folder(self) -> Path | None:
        """Folder that external data is relative to."""
        return None if self.path is None else self.path.parent


def load(model: str | os.PathLike[str] | bytes | ModelProto, limits: Limits | None = None) -> LoadedModel:
    """The model, opened; nothing of a ModelProto that is passed in is shared or changed.

    Raises:
        BadInput: It is no model, cannot be read, is over a limit, or is made for newer libraries.
    """
    if isinstance(model, ModelProto):
        proto, borrowed = borrow(model)
        _refuse_empty(proto, "the model")
        _refuse_newer(proto, "the model")
        loaded = LoadedModel(proto, Weights(b"", None, borrowed), model, None)
        loaded.size  # noqa: B018 - taken now: the light copy is going to change
        return loaded
    buffer, where = open_buffer(model, limits or Limits())
    proto = parse_model(buffer, where)
    _refuse_newer(proto, where)
    path = Path(model) if isinstance(model, (str, os.PathLike)) else None
    return LoadedModel(proto, Weights(buffer, path.parent if path else None), buffer, path)


def open_buffer(model: str | os.PathLike[str] | bytes | ModelProto, limits: Limits) -> tuple[Buffer, str]:
    """(serialized model, how messages name it).

    Raises:
        BadInput: It cannot be read, is over the limit, or is plainly something else.
    """
    buffer: Buffer
    if isinstance(model, ModelProto):
        buffer, where = model.SerializeToString(), "the model"
    elif isinstance(model, (bytes, bytearray, memoryview)):
        buffer, where = bytes(model), "the model"
    else:
        buffer, where = _map(Path(model), limits), str(Path(model))
    if not len(buffer):
        raise BadInput(f"{where}: is empty, not an ONNX model")
    if len(buffer) > limits.file_bytes:
        raise LimitExceeded(
            f"{where}: has {len(buffer)} bytes, over the limit of {limits.file_bytes} (limits.file)"
        )
    _refuse_other_files(buffer, where)
    return buffer, where


def parse_model(buffer: Buffer, where: str) -> ModelProto:
    """The light model in `buffer`.

    Raises:
        BadInput: It is no ONNX model.
    """
    try:
        proto = parse_light(buffer)
    except DecodeError as error:
        raise BadInput(
            f"{where}: is not an ONNX model, is cut short, or nests deeper than protobuf allows"
        ) from error
    _refuse_empty(proto, where)
    return proto


def _refuse_empty(proto: ModelProto, where: str) -> None:
    if not proto.HasField("graph") or not (proto.ir_version or proto.opset_import):
        raise BadInput(f"{where}: parses as protobuf but holds no ONNX graph")


def _map(path: Path, limits: Limits) -> Buffer:
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise BadInput(f"{path}: is no regular file; use - for standard input")
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size == 0:
                raise BadInput(f"{path}: is empty, not an ONNX model")
            if size > limits.file_bytes:
                raise LimitExceeded(
                    f"{path}: has {size} bytes, over the limit of {limits.file_bytes} (limits.file)"
                )
            if size < 1 << 20:
                return file.read()
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except IsADirectoryError as error:
        raise BadInput(f"{path}: is a folder, not an ONNX model") from error
    except FileNotFoundError as error:
        raise BadInput(f"{path}: does not exist") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise BadInput(f"{path}: cannot be read ({reason})") from error


def _refuse_other_files(buffer: Buffer, where: str) -> None:
    head = buffer[:256]
    if head.startswith(LFS_PREFIX):
        raise LfsPointer(
            f"{where}: is a git-lfs pointer, not the model", hint="run `git lfs pull` to fetch the content"
        )
    text = head.lstrip()[:1]
    if text in (b"{", b"<", b"[") and b"\0" not in head and head.isascii():
        raise BadInput(f"{where}: is a text file (JSON, HTML or XML), not an ONNX model")


def _refuse_newer(proto: ModelProto, where: str) -> None:
    if proto.ir_version < 0:
        raise BadInput(f"{where}: has IR version {proto.ir_version}, which no ONNX model has")
    if proto.ir_version > IR_VERSION:
        raise UnsupportedModel(
            f"{where}: has IR version {proto.ir_version}, newer than the installed onnx knows ({IR_VERSION})"
        )
