"""Models for the tests of api/, and a cache of their own."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, numpy_helper

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'

CHAIN = "g (float[N,3] x) => (float[N,3] y) { a = Identity(x)  y = Relu(a) }"
"""One EXACT edit."""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("ONNXSIM_CI_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ONNXSIM_CI_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def model() -> Callable[..., onnx.ModelProto]:
    """ONNX text (the header may be left out) to a model; every further pair is an initializer."""

    def make(text: str = CHAIN, **initializers: np.ndarray) -> onnx.ModelProto:
        built = onnx.parser.parse_model(text if text.lstrip().startswith("<") else HEADER + text)
        built.graph.initializer.extend(numpy_helper.from_array(a, name) for name, a in initializers.items())
        return built

    return make


@pytest.fixture
def conv_batchnorm(model: Callable[..., onnx.ModelProto]) -> onnx.ModelProto:
    """A Conv and a BatchNormalization that a ROUNDING rule fuses."""
    rng = np.random.default_rng(3)
    return model(
        """g (float[N,3,8,8] x) => (float[N,4,6,6] y) {
        c = Conv(x, w)  y = BatchNormalization(c, scale, bias, mean, var) }""",
        w=rng.standard_normal((4, 3, 3, 3)).astype(np.float32),
        scale=rng.uniform(0.5, 2, 4).astype(np.float32),
        bias=rng.standard_normal(4).astype(np.float32),
        mean=rng.standard_normal(4).astype(np.float32),
        var=rng.uniform(0.5, 2, 4).astype(np.float32),
    )


@pytest.fixture
def external(tmp_path: Path, model: Callable[..., onnx.ModelProto]) -> Path:
    """A model file whose weights lie beside it; one weight of the data file is dead."""
    folder = tmp_path / "source"
    folder.mkdir()
    built = model(
        "g (float[N,1000] x) => (float[N,1000] y) { a = Identity(x)  b = Add(a, w)  y = Mul(b, v) }"
    )
    rng = np.random.default_rng(1)
    offset = 0
    with (folder / "weights.bin").open("wb") as file:
        for name in ("w", "dead", "v"):
            array = rng.standard_normal(1000).astype(np.float32)
            file.write(array.tobytes())
            if name != "dead":
                tensor = built.graph.initializer.add(
                    name=name, data_type=1, dims=[1000], data_location=TensorProto.EXTERNAL
                )
                entries = (("location", "weights.bin"), ("offset", str(offset)), ("length", "4000"))
                for key, value in entries:
                    tensor.external_data.add(key=key, value=value)
            offset += 4000
    path = folder / "m.onnx"
    path.write_bytes(built.SerializeToString())
    return path
