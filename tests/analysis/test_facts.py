"""Questions that rules ask: constants, contents, axes, broadcasts, claims."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

from onnxsim_ci.analysis import Content, Facts, infer, or_copied, product, symbol
from onnxsim_ci.model import Value, Weights, build_graph


def _facts(body: str, *arrays: tuple[str, object], opset: int = 21) -> Facts:
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": {opset}]> g {body}')
    model.graph.initializer.extend(numpy_helper.from_array(np.asarray(a), name) for name, a in arrays)
    graph = build_graph(model)
    infer(graph, model)
    return Facts(graph, Weights(b"", None))


def _constant(array: object) -> tuple[Facts, Value]:
    facts = _facts("(float[N] x) => (float y) { y = Identity(x) }", ("c", array))
    return facts, facts.graph.root.values["c"]


@pytest.mark.parametrize(
    "dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int32, np.uint8, np.bool_]
)
def test_filled_with_one(dtype: type) -> None:
    facts, value = _constant(np.ones((2, 3), dtype))
    assert facts.is_filled(value, 1)
    assert not facts.is_filled(value, 0)
    assert facts.scalar(value) is None


def test_filled_compares_bits() -> None:
    facts, zero = _constant(np.zeros(3, np.float32))
    assert facts.is_filled(zero, 0.0)
    assert not facts.is_filled(zero, -0.0)
    facts, negative = _constant(np.array([-0.0], np.float32))
    assert facts.is_filled(negative, -0.0)
    assert not facts.is_filled(negative, 0.0)
    facts, tenth = _constant(np.array([0.1], np.float32))
    assert facts.is_filled(tenth, 0.1)


def test_filled_of_other_constants() -> None:
    facts, empty = _constant(np.zeros(0, np.float32))
    assert not facts.is_filled(empty, 0.0)
    facts, text = _constant(np.array(["a"], object))
    assert not facts.is_filled(text, 0.0)
    assert facts.scalar(text) is None
    facts, number = _constant(np.array([3], np.int64))
    assert not facts.is_filled(number, 3.5)
    facts, small = _constant(np.array([255], np.uint8))
    assert not facts.is_filled(small, -1)


def test_scalar_of_any_rank() -> None:
    facts, value = _constant(np.full((1, 1), 2.5, np.float32))
    assert facts.scalar(value) == 2.5
    facts, value = _constant(np.array(7))
    assert facts.scalar(value) == 7
    assert isinstance(facts.scalar(value), int)
    facts, value = _constant(np.array([1.5], ml_dtypes.bfloat16))
    assert facts.scalar(value) == 1.5


def test_array_has_a_limit() -> None:
    facts, value = _constant(np.arange(10))
    assert facts.array(value, 9) is None
    array = facts.array(value, 10)
    assert array is not None
    assert array.tolist() == list(range(10))


def test_overridable_initializers_are_unknown() -> None:
    facts = _facts("(float[N] x, int64[1] c = {3}) => (float y) { y = Tile(x, c) }")
    value = facts.graph.root.values["c"]
    assert facts.array(value) is None
    assert facts.content(value) is None
    assert facts.scalar(value) is None
    assert not facts.is_filled(value, 3)
    assert facts.shape(value) == (1,)


def test_content_of_constants() -> None:
    facts, value = _constant(np.array([1, 2]))
    assert facts.content(value) == Content(1, (1, 2))
    assert facts.known(value) == (1, 2)
    facts, value = _constant(np.array([True, False]))
    assert facts.known(value) == (1, 0)
    facts, value = _constant(np.array(5, np.int32))
    assert facts.content(value) == Content(0, (5,))
    for array in (np.arange(65), np.ones((1, 1), np.int64), np.ones(2, np.float32)):
        facts, value = _constant(array)
        assert facts.content(value) is None


def test_content_of_computed_values() -> None:
    facts = _facts("(float[N,3] x) => (int64 s) { s = Shape(x) }")
    value = facts.graph.root.values["s"]
    assert value.producer is not None
    assert facts.transfer(value.producer)
    assert not facts.transfer(value.producer)
    assert facts.content(value) == Content(1, (symbol("x[0]"), 3))
    assert facts.known(value) is None


def test_facts_of_values_made_by_rewriting() -> None:
    facts = _facts("(float[N] x) => (float y) { y = Identity(x) }")
    value = Value("new", facts.graph.root)
    value.data = np.array([[1, 2]], np.int32)
    assert facts.dtype(value) == TensorProto.INT32
    assert facts.shape(value) == (1, 2)
    assert facts.static_shape(value) == (1, 2)
    assert facts.rank(value) == 2


def test_axes() -> None:
    facts = _facts(
        "(float[N,3,4] x, int64[1] u) => (float y)"
        "{ a = Squeeze(x, c) b = ReduceSum(x, u) d = ReduceSum(x) y = Squeeze(x, e) }",
        ("c", [-1, 0]),
        ("e", [3]),
    )
    a, b, d, y = facts.graph.root.nodes
    assert facts.axes(a, 3) == (2, 0)
    assert facts.axes(b, 3) is None
    assert facts.has_axes(b)
    assert facts.axes(d, 3) is None
    assert not facts.has_axes(d)
    assert facts.axes(y, 3) is None


def test_axes_attribute() -> None:
    facts = _facts("(float[N,3] x) => (float y) { y = ReduceMean<axes=[-1]>(x) }", opset=13)
    assert facts.axes(facts.graph.root.nodes[0], 2) == (1,)


def test_producer() -> None:
    facts = _facts("(float[N] x) => (float y) { a = Relu(x) y = Neg(a) }")
    a = facts.graph.root.values["a"]
    assert facts.producer(a, "Neg", "Relu") is a.producer
    assert facts.producer(a) is a.producer
    assert facts.producer(a, "Neg") is None
    assert facts.producer(facts.graph.root.values["x"]) is None
    assert facts.producer(None) is None


def test_claims_and_assumptions() -> None:
    facts = _facts("(float[N] x, float[N] w, float[M] v) => (float y) { y = Sum(x, w, v) }")
    x, w, v = (facts.graph.root.values[n] for n in "xwv")
    (a,), (b,), (c,) = (facts.shape(value) or () for value in (x, w, v))
    assert not facts.equal(a, b)
    assert facts.claimed_equal(a, b)
    assert not facts.claimed_equal(a, c)
    assert facts.assumed(a, a) is None
    sentence = facts.assumed(a * 2, b * 2)
    assert sentence is not None
    assert "dim names N means" in sentence
    assert "\n" not in sentence
    copied = or_copied(a, c)
    assert not facts.equal(copied, b)
    assert facts.claimed_equal(copied, b)
    assert not facts.same_shape(x, w)
    assert facts.same_shape(x, x)


def test_broadcast_and_size() -> None:
    facts = _facts("(float[N] x) => (float y) { y = Relu(x) }")
    n = symbol("x[0]")
    assert facts.broadcast((n, 1), (3,)) == (n, 3)
    assert facts.broadcast((2,), (3,)) is None
    assert facts.broadcast(None, (3,)) is None
    assert facts.size((n, 3)) == product((3, n))
