"""Names, numbers, texts, types and tensors as they stand in the canonical text of a model.

Every piece is one line without control characters, whatever a hostile file holds.

House: model. May import onnx and numpy.
Touch: `text.py` puts the pieces together; tests/model/test_text.py shows each form.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np
from onnx import SparseTensorProto, TensorProto, TensorShapeProto, TypeProto

from onnxsim_ci.model.tensors import stored_bytes
from onnxsim_ci.model.weights import Weights

ELEMENTS_SHOWN = 16
"""Tensors with more elements are shown as type, dims and digest."""

LIST_ITEMS_SHOWN = 64
BYTES_SHOWN = 4096
"""Longer lists and texts of attributes are shown as their length and digest."""

_PLAIN = re.compile(r"[A-Za-z_./][\w./:@+-]*", re.ASCII)
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def name(text: str) -> str:
    """A name as it is when it is plain, else quoted."""
    return text if _PLAIN.fullmatch(text) else quoted(text)


def quoted(text: str | bytes) -> str:
    """In double quotes, with escapes for quotes, what does not print, and bytes that are no UTF-8."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    return '"' + "".join(_escaped(c) for c in text) + '"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # surrogateescape: one byte that is no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"


def text_or_digest(content: bytes) -> str:
    """A text attribute, quoted; a long one as its length and digest."""
    if len(content) <= BYTES_SHOWN:
        return quoted(content)
    return f"string of {len(content)} bytes sha256:{_digest(content)}"


def number(value: Any) -> str:
    """Shortest text that reads back to the same bits; a NaN other than the usual one with its bits."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (complex, np.complexfloating)):
        return f"{number(value.real)}{'' if str(value.imag).startswith('-') else '+'}{number(value.imag)}j"
    if value != value:  # noqa: PLR0124 - true for the NaN of every element type
        stored = np.asarray(value)
        usual = np.array(np.nan).astype(stored.dtype)
        return "nan" if stored.tobytes() == usual.tobytes() else f"nan(0x{stored.tobytes()[::-1].hex()})"
    return str(value)


def floats(values: Iterable[float]) -> list[str]:
    """Float attributes, which protobuf keeps with 32 bits."""
    return [number(np.float32(v)) for v in values]


def listed(items: list[str]) -> str:
    """`[a, b]`; a long list as its length and digest."""
    if len(items) <= LIST_ITEMS_SHOWN:
        return f"[{', '.join(items)}]"
    return f"[{len(items)} items sha256:{_digest(chr(10).join(items).encode('utf-8', 'surrogatepass'))}]"


def element_name(data_type: int) -> str:
    """`float`, `int64`; `type<n>` for one that the installed library does not know."""
    try:
        return str(TensorProto.DataType.Name(data_type)).lower()
    except ValueError:
        return f"type<{data_type}>"


def shape_text(shape: TensorShapeProto) -> str:
    """`[N, 3, ?]` with denotations."""
    dims = []
    for dim in shape.dim:
        kind = dim.WhichOneof("value")
        text = "?" if kind is None else str(dim.dim_value) if kind == "dim_value" else name(dim.dim_param)
        dims.append(f"{text} as {quoted(dim.denotation)}" if dim.denotation else text)
    return f"[{', '.join(dims)}]"


def type_text(kind: TypeProto) -> str:
    """`float[N, 3]`, `seq(float)`, `map(int64, float)`, `optional(...)`, `sparse float[8]`."""
    which = kind.WhichOneof("value")
    part = getattr(kind, which) if which else None
    if part is None:
        text = "untyped"
    elif which in ("tensor_type", "sparse_tensor_type"):
        shape = shape_text(part.shape) if part.HasField("shape") else ""
        text = ("sparse " if which == "sparse_tensor_type" else "") + element_name(part.elem_type) + shape
    elif which == "map_type":
        text = f"map({element_name(part.key_type)}, {type_text(part.value_type)})"
    elif which == "opaque_type":
        text = f"opaque({name(part.domain)}, {name(part.name)})"
    else:
        text = f"{'seq' if which == 'sequence_type' else 'optional'}({type_text(part.elem_type)})"
    return f"{text} as {quoted(kind.denotation)}" if kind.denotation else text


def tensor_text(tensor: TensorProto, weights: Weights) -> str:
    """Type, dims and elements, a digest of many elements, or where external ones lie."""
    head = f"{element_name(tensor.data_type)}{list(tensor.dims)}"
    if tensor.HasField("segment"):
        head += f" segment {tensor.segment.begin}:{tensor.segment.end}"
    if tensor.data_location == TensorProto.EXTERNAL and not weights.is_inside(tensor):
        entries = ", ".join(f"{name(e.key)}={quoted(e.value)}" for e in tensor.external_data)
        return f"{head} external({entries})"
    if 0 <= prod(tensor.dims) <= ELEMENTS_SHOWN:
        shown = _elements(tensor, weights)
        if shown is not None:
            return f"{head} {shown}"
    return f"{head} sha256:{_tensor_digest(tensor, weights)}"


def sparse_text(sparse: SparseTensorProto, weights: Weights) -> str:
    """Dims, values and indices of a sparse tensor."""
    values, indices = tensor_text(sparse.values, weights), tensor_text(sparse.indices, weights)
    return f"sparse{list(sparse.dims)} values {values} indices {indices}"


def _elements(tensor: TensorProto, weights: Weights) -> str | None:
    """All elements; None when what is stored does not fit the type and dims."""
    if tensor.data_type == TensorProto.STRING:
        items = [quoted(s) for s in tensor.string_data]
        return f"{{{', '.join(items)}}}" if len(items) == prod(tensor.dims) else None
    try:
        array = weights.array(tensor)
    except (ValueError, TypeError, KeyError):
        return None
    if array.size != prod(tensor.dims):
        return None
    return f"{{{', '.join(number(v) for v in array.ravel())}}}"


def _tensor_digest(tensor: TensorProto, weights: Weights) -> str:
    """Of the raw elements, so that raw and typed storage read the same; of the message if they do not fit."""
    try:
        raw = weights.raw(tensor)
        if tensor.data_type == TensorProto.STRING or len(raw) == stored_bytes(tensor.data_type, tensor.dims):
            return _digest(raw)
    except (ValueError, TypeError, KeyError):
        pass
    return f"{_digest(tensor.SerializeToString(deterministic=True))} (of a tensor that does not fit its type)"


def _digest(content: bytes | memoryview) -> str:
    return hashlib.sha256(content).hexdigest()
