"""Sizes and element types of tensors, and arrays made into tensors.

House: model. May import onnx and numpy. The only place that makes TensorProto from arrays.
Touch: nothing else; a new element type needs a line in `BITS` only if its numpy item size misleads.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

BITS = {
    TensorProto.INT4: 4,
    TensorProto.UINT4: 4,
    TensorProto.FLOAT4E2M1: 4,
    **{getattr(TensorProto, n): 2 for n in ("INT2", "UINT2") if hasattr(TensorProto, n)},
    **{getattr(TensorProto, n): 6 for n in ("FLOAT6E2M3", "FLOAT6E3M2") if hasattr(TensorProto, n)},
}
"""Bits an element in raw data where that is not eight times the numpy item size."""


@lru_cache(maxsize=64)
def numpy_dtype(data_type: int) -> np.dtype[Any] | None:
    """Numpy's dtype of a TensorProto element type (ml_dtypes for narrow ones); None when it has none."""
    try:
        return helper.tensor_dtype_to_np_dtype(data_type)
    except (KeyError, ValueError):
        return None


@lru_cache(maxsize=64)
def element_type(dtype: np.dtype[Any]) -> int:
    """TensorProto element type of a numpy dtype; strings and objects are STRING."""
    if dtype.kind in "OUS":
        return int(TensorProto.STRING)
    return int(helper.np_dtype_to_tensor_dtype(dtype))


def element_count(dims: Any) -> int:
    """Product of `dims`; 1 for a scalar."""
    return prod(dims)


def stored_bytes(data_type: int, dims: Any) -> int:
    """Bytes of a tensor's raw data; 0 for strings, whose size no shape tells."""
    dtype = numpy_dtype(data_type)
    if dtype is None or data_type == TensorProto.STRING:
        return 0
    count = prod(dims)
    bits = BITS.get(data_type)
    return int(count * dtype.itemsize) if bits is None else int(count * bits + 7) // 8


def tensor_from_array(array: np.ndarray[Any, Any], name: str) -> TensorProto:
    """TensorProto with the elements of `array` as raw data (strings as string data)."""
    if array.dtype.kind in "OUS":
        tensor = TensorProto(name=name, data_type=TensorProto.STRING, dims=array.shape)
        tensor.string_data.extend(
            s if isinstance(s, bytes) else str(s).encode("utf-8", "surrogateescape")
            for s in array.ravel().tolist()
        )
        return tensor
    return numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
