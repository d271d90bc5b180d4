from __future__ import annotations

import onnx
import pytest

from onnxsim_ci.feeds import Kind, input_specs
from onnxsim_ci.feeds.specs import size_of, symbols_of


def test_fixed_named_and_nameless_dimensions(model):
    (spec,) = input_specs(model('g (float[2,N,"?","None","unk__7"] x) => (float[2] y) { y = Identity(x) }'))
    assert spec.dims == (2, "N", "x#2", "x#3", "x#4")


@pytest.mark.parametrize("value", [0, -1])
def test_sizes_that_are_not_positive_are_free(model, value):
    broken = model("g (float[2] x) => (float[2] y) { y = Identity(x) }")
    broken.graph.input[0].type.tensor_type.shape.dim[0].dim_value = value
    assert input_specs(broken)[0].dims == ("x#0",)


def test_undeclared_rank_is_none(model):
    free = model("g (float[2] x) => (float[2] y) { y = Identity(x) }")
    free.graph.input[0].type.tensor_type.ClearField("shape")
    assert input_specs(free)[0].dims is None


def test_kinds(model):
    text = "g (seq(float[N]) s, optional(float[2]) o, float x) => (float y) { y = Identity(x) }"
    assert [spec.kind for spec in input_specs(model(text))] == [Kind.SEQUENCE, Kind.OPTIONAL, Kind.TENSOR]


def test_initializers_are_overridable_from_ir_4_on(model):
    text = "g (float[2] x, float[2] w = {1, 2}) => (float[2] y) { y = Add(x, w) }"
    assert [spec.overridable for spec in input_specs(model(text))] == [False, True]
    old = onnx.ModelProto()
    old.CopyFrom(model(text))
    old.ir_version = 3
    assert [spec.name for spec in input_specs(old)] == ["x"]


@pytest.mark.parametrize(
    ("dim", "expected"),
    [
        ("past + seq", 8),
        ("past+1", 4),
        ("floor(seq/2)", 2),
        ("2*seq - past", 7),
        ("max(past, seq)", 5),
        ("-past + seq", 2),
        ("past - seq", 0),
        ("seq % 2", 1),
        ("seq / (past - 3)", 1),
        ("other", 1),
        (4, 4),
        ("a.b.Dim.0", 1),
        ("__import__('os')", 1),
        ("seq ** 99", 1),
    ],
)
def test_arithmetic_of_sizes(dim, expected):
    assert size_of(dim, {"past": 3, "seq": 5}) == expected


def test_symbols_of_arithmetic_and_of_plain_names():
    assert set(symbols_of("floor(h/2) + past")) == {"h", "past"}
    assert symbols_of("p2o.DynamicDimension.0") == ("p2o.DynamicDimension.0",)
    assert symbols_of("f(x)") == ("f(x)",)
    assert symbols_of(3) == ()
