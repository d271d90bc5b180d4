"""Sizes about which kernels, the standard and shape inference disagree: those of kernels are kept."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from one_rule import rewritten
from onnx import ModelProto

from onnxsim_ci.rewrite import Plan
from onnxsim_ci.runtime import ModelImage, run_once

CASES = {
    "pooling rounded up": (
        12,
        "float[1,2,7,3] x",
        "MaxPool<ceil_mode=1, kernel_shape=[2,2], strides=[2,3]>(x)",
    ),
    "pooling rounded up into end padding": (
        17,
        "float[1,2,7,6] x",
        "AveragePool<ceil_mode=1, kernel_shape=[2,2], pads=[1,0,0,1], strides=[1,2]>(x)",
    ),
    "norms rounded up": (18, "float[1,2,5,4] x", "LpPool<ceil_mode=1, kernel_shape=[1,3], strides=[3,2]>(x)"),
    "pooling to the same size with dilations": (
        13,
        "float[1,2,9,9] x",
        'MaxPool<auto_pad="SAME_UPPER", dilations=[2,2], kernel_shape=[3,3], strides=[2,2]>(x)',
    ),
    "transposed to a given size": (
        13,
        "float[1,2,4,7] x, float[2,2,3,1] w",
        "ConvTranspose<output_shape=[4,5], pads=[0,1,0,1]>(x, w)",
    ),
    "transposed to the same size with padding": (
        13,
        "float[1,2,4,7] x, float[2,2,3,1] w",
        'ConvTranspose<auto_pad="SAME_UPPER", strides=[2,2], output_padding=[1,1]>(x, w)',
    ),
    "transposed to the same size": (
        13,
        "float[1,2,7,7] x, float[2,2,3,1] w",
        'ConvTranspose<auto_pad="SAME_LOWER", strides=[2,2]>(x, w)',
    ),
    "squeezed axes out of order": (9, "float[1,1] x", "Squeeze<axes=[1,0]>(x)"),
    "squeezed without an axis": (13, "float[1,3] x, int64[0] axes", "Squeeze(x, axes)"),
    "sliced backwards to the largest end": (
        13,
        "float[6] x, int64[1] starts = {5}, int64[1] ends = {9223372036854775807}, int64[1] zero = {0},"
        " int64[1] steps = {-2}",
        "Slice(x, starts, ends, zero, steps)",
    ),
}


def model(opset: int, inputs: str, expression: str) -> ModelProto:
    """The shape of one expression; inputs with elements, and `axes` without any, are constants."""
    header = f'<ir_version: 9, opset_import: ["" : {opset}]>'
    built = onnx.parser.parse_model(
        f"{header} g ({inputs}) => (int64[r] n) {{ y = {expression}  n = Shape(y) }}"
    )
    graph = built.graph
    if "axes" in {i.name for i in graph.input}:
        graph.initializer.append(onnx.numpy_helper.from_array(np.zeros(0, np.int64), "axes"))
    stored = {t.name for t in graph.initializer}
    kept = [i for i in graph.input if i.name not in stored]
    del graph.input[:]
    graph.input.extend(kept)
    return built


@pytest.mark.parametrize("name", CASES)
def test_the_size_is_the_kernels(name: str) -> None:
    source = model(*CASES[name])
    result, _ = rewritten(source, Plan())
    feeds = {
        i.name: np.ones([d.dim_value for d in i.type.tensor_type.shape.dim], np.float32)
        for i in source.graph.input
    }
    before, after = (run_once(ModelImage(data=m.SerializeToString()), feeds) for m in (source, result))
    assert before["n"].tolist() == after["n"].tolist()
