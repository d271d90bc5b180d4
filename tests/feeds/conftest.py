"""Models and the way from a model to its samples, for the tests of feeds/."""

from __future__ import annotations

from collections.abc import Callable

import onnx
import pytest

from onnxsim_ci.feeds import FeedRequest, Feeds, make_feeds
from onnxsim_ci.runtime import ModelImage, open_session

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'


@pytest.fixture
def model() -> Callable[[str], onnx.ModelProto]:
    """ONNX text (the header may be left out) to a model."""

    def make(text: str) -> onnx.ModelProto:
        return onnx.parser.parse_model(text if text.lstrip().startswith("<") else HEADER + text)

    return make


@pytest.fixture
def feed(model) -> Callable[..., Feeds]:
    """Samples of a model given as text; keywords are those of FeedRequest."""

    def make(text: str, **request) -> Feeds:
        image = ModelImage(data=model(text).SerializeToString())
        return make_feeds(image, open_session(image), FeedRequest(**request))

    return make
