"""Models for the tests of runtime/."""

from __future__ import annotations

from collections.abc import Callable

import onnx
import pytest

from onnxsim_ci.runtime import ModelImage

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'


@pytest.fixture
def image() -> Callable[[str], ModelImage]:
    """ONNX text (the header may be left out) to an image."""

    def make(text: str) -> ModelImage:
        model = onnx.parser.parse_model(text if text.lstrip().startswith("<") else HEADER + text)
        return ModelImage(data=model.SerializeToString())

    return make
