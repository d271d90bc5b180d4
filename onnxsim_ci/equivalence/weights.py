"""The float constants of a model, read one at a time, and rounding-sized or planted changes of them.

Nothing copies a model: a change is an override of one constant by name, which the runtime takes beside
the untouched image. External tensors are mapped, and only the one in hand becomes anonymous memory.

House: equivalence; numpy and onnx.
Touch: runtime/session.py (overrides reach Constant nodes and subgraphs); noise.py and power.py read this.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

_HALF_ULP = {np.dtype(np.float16): 2.0**-11, np.dtype(np.float32): 2.0**-23, np.dtype(np.float64): 2.0**-52}
_PATTERN_SIZE = 65_537  # prime, so that a tiled pattern does not line up with tensor rows
_ELEMENTS: Mapping[int, np.dtype[Any]] = {
    TensorProto.FLOAT: np.dtype(np.float32),
    TensorProto.DOUBLE: np.dtype(np.float64),
    TensorProto.FLOAT16: np.dtype(np.float16),
}


@dataclass(frozen=True, slots=True)
class Constant:
    """One float constant that a session can override."""

    name: str
    tensor: TensorProto

    @property
    def count(self) -> int:
        """Elements."""
        return math.prod(self.tensor.dims)

    @property
    def byte_count(self) -> int:
        """Bytes of the values."""
        return self.count * _ELEMENTS[self.tensor.data_type].itemsize


def graphs_of(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """The graph and every graph nested in it."""
    todo = [graph]
    while todo:
        graph = todo.pop()
        yield graph
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    todo.append(attribute.g)
                todo.extend(attribute.graphs)


def float_constants(model: onnx.ModelProto) -> list[Constant]:
    """float16, float32 and float64 constants of all scopes whose name is unique and that no caller feeds."""
    inputs = {value.name for value in model.graph.input}
    found, names = [], Counter[str]()
    for graph in graphs_of(model.graph):
        for name, tensor in _constants_of(graph):
            names[name] += 1
            if tensor.data_type in _ELEMENTS and name not in inputs:
                found.append(Constant(name, tensor))
    return [constant for constant in found if names[constant.name] == 1]


def _constants_of(graph: onnx.GraphProto) -> Iterator[tuple[str, TensorProto]]:
    for tensor in graph.initializer:
        yield tensor.name, tensor
    for node in graph.node:
        if node.op_type == "Constant" and node.domain in ("", "ai.onnx"):
            for attribute in node.attribute:
                if attribute.name == "value":
                    yield node.output[0], attribute.t


def weight_bytes(model: onnx.ModelProto) -> int:
    """Bytes of all initializers, wherever they are stored."""
    total = 0
    for graph in graphs_of(model.graph):
        for tensor in graph.initializer:
            total += _stored_bytes(tensor)
    return total


def _stored_bytes(tensor: TensorProto) -> int:
    if tensor.data_location == TensorProto.EXTERNAL:
        count: int = math.prod(tensor.dims)
        return count * _width(tensor.data_type)
    size: int = len(tensor.raw_data) or tensor.ByteSize()
    return size


def _width(element: int) -> int:
    match element:
        case TensorProto.DOUBLE | TensorProto.INT64 | TensorProto.UINT64:
            return 8
        case TensorProto.FLOAT | TensorProto.INT32 | TensorProto.UINT32:
            return 4
        case TensorProto.FLOAT16 | TensorProto.BFLOAT16 | TensorProto.INT16 | TensorProto.UINT16:
            return 2
        case _:
            return 1


def read(tensor: TensorProto, folder: str | None) -> np.ndarray:
    """The values; external data stays mapped and must not be written to.

    Raises:
        OSError, ValueError: External data is missing or too short, or `folder` is None.
    """
    if tensor.data_location != TensorProto.EXTERNAL:
        return onnx.numpy_helper.to_array(tensor)
    if folder is None:
        raise ValueError(f"{tensor.name!r} is external, and the image has no folder")
    entries = {entry.key: entry.value for entry in tensor.external_data}
    count = math.prod(tensor.dims)
    if count == 0:
        return np.zeros(tuple(tensor.dims), _ELEMENTS[tensor.data_type])
    mapped = np.memmap(
        Path(folder) / entries["location"],
        dtype=np.uint8,
        mode="r",
        offset=int(entries.get("offset", 0)),
        shape=(count * _width(tensor.data_type),),
    )
    return np.asarray(mapped).view(_ELEMENTS[tensor.data_type]).reshape(tuple(tensor.dims))


def nudged(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A copy in which every element moves by up to one unit in the last place; infinities and zeros stay."""
    if array.dtype not in _HALF_ULP:
        return array
    return _scaled(array, _HALF_ULP[array.dtype] * rng.uniform(-1, 1, min(array.size, _PATTERN_SIZE)))


def disturbed(array: np.ndarray, rng: np.random.Generator, size: float) -> np.ndarray:
    """A copy with a relative error of `size` (standard deviation) on every element."""
    return _scaled(array, size * rng.standard_normal(min(array.size, _PATTERN_SIZE)))


def _scaled(array: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """A copy times 1 + errors, tiled; block by block, so that nothing but the copy becomes memory."""
    if not array.size:
        return array
    wide = np.float32 if array.dtype == np.float16 else array.dtype
    factors = (1 + errors).astype(wide)
    result = np.array(array, order="C")
    flat = result.reshape(-1)
    with np.errstate(all="ignore"):
        for start in range(0, flat.size, factors.size):
            block = flat[start : start + factors.size]
            moved = (block * factors[: block.size]).astype(array.dtype)
            block[...] = np.where(np.isfinite(moved), moved, block)
    return result
