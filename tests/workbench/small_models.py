"""Small models on disk, for tests that run whole commands."""

from pathlib import Path

import numpy as np
import onnx.parser
from onnx import numpy_helper

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'
BLOATED = HEADER + "g (float[N,3] x) => (float[N,3] y) { a = Identity(x)  b = Relu(a)  y = Relu(b) }"
SIMPLE = HEADER + "g (float[N,3] x) => (float[N,3] y) { y = Relu(x) }"


def save(path: Path, text: str = BLOATED, **tensors: np.ndarray) -> Path:
    """The model of `text` with `tensors` as float initializers, written to `path`."""
    model = onnx.parser.parse_model(text)
    for name, array in tensors.items():
        model.graph.initializer.append(numpy_helper.from_array(array.astype(np.float32), name))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())
    return path
