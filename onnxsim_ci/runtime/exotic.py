"""Element types that numpy lacks (bfloat16, float8): into and out of ONNX Runtime without a cast.

House: runtime; imports onnx, numpy, ml_dtypes (onnx needs it too) and onnxruntime inside functions.
Touch: session.py is its only reader.
"""

from __future__ import annotations

from typing import Any

_EXOTIC = {
    "bfloat16": "BFLOAT16",
    "float8e4m3fn": "FLOAT8E4M3FN",
    "float8e4m3fnuz": "FLOAT8E4M3FNUZ",
    "float8e5m2": "FLOAT8E5M2",
    "float8e5m2fnuz": "FLOAT8E5M2FNUZ",
}


def needs_ort_values(type_text: str) -> bool:
    """True when a port of this type cannot pass through numpy, for example `tensor(bfloat16)`."""
    return any(f"({name})" in type_text for name in _EXOTIC)


def ort_value_of(value: Any) -> Any:
    """An OrtValue that shares the memory of a contiguous array; bfloat16 and float8 go in as raw bits."""
    import ml_dtypes
    import numpy as np
    import onnx
    import onnxruntime

    if isinstance(value, list):
        raise TypeError("a sequence cannot be fed beside bfloat16 or float8 values")
    array = np.ascontiguousarray(value).reshape(np.shape(value))
    if array.dtype.kind == "V" or array.dtype == ml_dtypes.bfloat16 or "float8" in array.dtype.name:
        name = array.dtype.name.replace("_", "")
        bits = array.view(np.dtype(f"u{array.dtype.itemsize}"))
        element = getattr(onnx.TensorProto, _EXOTIC[name])
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, element)
    return onnxruntime.OrtValue.ortvalue_from_numpy(array)


def array_of(value: Any) -> Any:
    """A numpy copy of an OrtValue; bfloat16 and float8 come out as ml_dtypes arrays."""
    import ctypes

    import numpy as np
    import onnx

    if not value.is_tensor() or not needs_ort_values(value.data_type()):
        return value.numpy() if value.is_tensor() else value.to_list()
    dtype = onnx.helper.tensor_dtype_to_np_dtype(value.element_type())
    shape = tuple(value.shape())
    count = int(np.prod(shape, dtype=np.int64))
    if count == 0:
        return np.zeros(shape, dtype)
    buffer = (ctypes.c_uint8 * (count * dtype.itemsize)).from_address(value.data_ptr())
    return np.frombuffer(bytes(buffer), dtype).reshape(shape)
