"""Small models and true and false rewrites of them, for the tests of equivalence/."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from onnxsim_ci.runtime import ModelImage

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'


@pytest.fixture
def model() -> Callable[[str], onnx.ModelProto]:
    """ONNX text (the header may be left out) to a model; every further pair is an initializer."""

    def make(text: str, **initializers: np.ndarray) -> onnx.ModelProto:
        built = onnx.parser.parse_model(text if text.lstrip().startswith("<") else HEADER + text)
        built.graph.initializer.extend(numpy_helper.from_array(a, name) for name, a in initializers.items())
        return built

    return make


@pytest.fixture
def image(model) -> Callable[[str], ModelImage]:
    """As `model`, but an image."""
    return lambda text, **initializers: ModelImage(data=model(text, **initializers).SerializeToString())


def _conv_batchnorm(seed: int) -> SimpleNamespace:
    """Weights of Conv (8 channels) and BatchNormalization, and what folding makes of them."""
    rng = np.random.default_rng(seed)
    weight = rng.standard_normal((8, 3, 3, 3)).astype(np.float32) * 0.3
    scale, bias, mean = (rng.standard_normal(8).astype(np.float32) for _ in range(3))
    scale = np.sign(scale) * np.maximum(np.abs(scale), 0.2).astype(np.float32)
    variance = rng.random(8).astype(np.float32) + 0.05

    def fold(epsilon: float = 1e-5, channel: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        factor = scale.astype(np.float64) / np.sqrt(variance.astype(np.float64) + epsilon)
        if channel is not None:
            factor[channel] *= 1.01
        folded = (weight * factor[:, None, None, None]).astype(np.float32)
        return folded, (bias - mean * factor).astype(np.float32)

    return SimpleNamespace(weight=weight, norm=(scale, bias, mean, variance), fold=fold)


@pytest.fixture
def conv_bn() -> Callable[..., ModelImage]:
    """A Conv, a BatchNormalization whose output is `n`, and a tail; folded when `fold` is given.

    Keywords: `fold` (dict of epsilon and channel), `tail` (operators from `n` to `y`), `seed`, `domain`
    (a custom operator between `n` and the tail).
    """

    def make(
        *, fold: dict | None = None, tail: tuple[str, ...] = ("Relu",), seed: int = 5, custom: bool = False
    ) -> ModelImage:
        parts = _conv_batchnorm(seed)
        if fold is None:
            nodes = [
                helper.make_node("Conv", ["x", "w"], ["c"], pads=[1] * 4),
                helper.make_node("BatchNormalization", ["c", "scale", "bias", "mean", "var"], ["n"]),
            ]
            arrays = dict(
                zip(("w", "scale", "bias", "mean", "var"), (parts.weight, *parts.norm), strict=True)
            )
        else:
            nodes = [helper.make_node("Conv", ["x", "w2", "b2"], ["n"], pads=[1] * 4)]
            arrays = dict(zip(("w2", "b2"), parts.fold(**fold), strict=True))
        last = "n"
        if custom:
            nodes.append(helper.make_node("Odd", [last], ["odd"], domain="my"))
            last = "odd"
        for number, operator in enumerate(tail):
            out = "y" if number == len(tail) - 1 else f"t{number}"
            nodes.append(helper.make_node(operator, [last], [out]))
            last = out
        graph = helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info("x", 1, ["N", 3, "H", "W"])],
            [helper.make_tensor_value_info("y", 7 if tail[-1] == "ArgMax" else 1, ["A", "B", "C", "D"])],
            [numpy_helper.from_array(array, name) for name, array in arrays.items()],
        )
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my", 1)]
        built = helper.make_model(graph, opset_imports=opsets[: 2 if custom else 1], ir_version=8)
        return ModelImage(data=built.SerializeToString())

    return make
