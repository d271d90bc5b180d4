"""Read a streamed file back before it takes the place of another: it holds what was meant.

House: model. May import errors.
Touch: `save.py` writes such files.
"""

from __future__ import annotations

import mmap
from pathlib import Path

from onnx import ModelProto

from onnxsim_ci.errors import InternalError
from onnxsim_ci.model.weights import Weights, same_bytes
from onnxsim_ci.model.wire import parse_light, span_of


def check_written(path: Path, proto: ModelProto, weights: Weights) -> None:
    """Compare a file with the light model that it was written from.

    Raises:
        InternalError: They differ; the file must not be used.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as buffer:
        written = parse_light(buffer)
        found = Weights(buffer, path.parent)
        pairs = list(zip(proto.graph.initializer, written.graph.initializer, strict=False))
        same = len(proto.graph.initializer) == len(written.graph.initializer)
        for meant, read in pairs:
            head = (meant.name, meant.data_type, tuple(meant.dims))
            same = same and head == (read.name, read.data_type, tuple(read.dims))
            if span_of(meant) is not None or span_of(read) is not None:
                same = same and same_bytes(weights.raw(meant), found.raw(read))
        same = same and _shell(proto) == _shell(written)
        del found, pairs, read, meant
    if not same:
        raise InternalError(f"{path}: what was written is not what was proven; nothing was replaced")


def _shell(proto: ModelProto) -> bytes:
    shell = ModelProto()
    shell.CopyFrom(proto)
    del shell.graph.initializer[:]
    return bytes(shell.SerializeToString(deterministic=True))
