"""Runs of the engine on models given as text or as messages."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from onnx import ModelProto, numpy_helper
from onnx_text import parse

Make = Callable[..., ModelProto]


@pytest.fixture
def model() -> Make:
    """ONNX text to a model; every further pair is an initializer."""

    def make(text: str, **initializers: np.ndarray) -> ModelProto:
        built = parse(text)
        built.graph.initializer.extend(
            numpy_helper.from_array(np.asarray(a), name) for name, a in initializers.items()
        )
        return built

    return make
