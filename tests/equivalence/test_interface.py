from __future__ import annotations

import onnx
import pytest

from onnxsim_ci.equivalence import ASPECTS, interface_difference

TEXT = """g (float[N,4] x, int64[2] i, float[4] w = {1, 2, 3, 4}) => (float[N,4] y, int64[2] j)
      { y = Mul(x, w) j = Neg(i) }"""


def rename_output(m):
    m.graph.output[0].name = "z"


def swap_inputs(m):
    first, second = m.graph.input[1], m.graph.input[0]
    order = [onnx.ValueInfoProto.FromString(v.SerializeToString()) for v in (first, second, m.graph.input[2])]
    del m.graph.input[:]
    m.graph.input.extend(order)


def retype(m):
    m.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.DOUBLE


def reshape(m):
    m.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1


def bake(m):
    del m.graph.input[2]


def raise_opset(m):
    m.opset_import[0].version = 18


def new_domain(m):
    m.opset_import.add(domain="com.microsoft", version=1)


def add_metadata(m):
    m.metadata_props.add(key="k", value="v")


CHANGES = [
    (lambda m: m.graph.input.pop(1), "inputs", "input 'i' is gone"),
    (swap_inputs, "inputs", "the order of inputs changed"),
    (rename_output, "outputs", "output 'y' is gone"),
    (retype, "types", "the type of output 'y'"),
    (reshape, "shapes", r"input 'x' changed from \[N, 4\] to \[1, 4\]"),
    (bake, "initializers", "overridable initializer 'w' is gone"),
    (raise_opset, "opset", "ai.onnx is 18 instead of 17"),
    (new_domain, "opset", "com.microsoft is 1 instead of none"),
    (add_metadata, "metadata", "'k'"),
]


@pytest.mark.parametrize(("change", "aspect", "message"), CHANGES)
def test_a_change_is_named_unless_it_was_ordered(model, change, aspect, message):
    import re

    source, result = model(TEXT), model(TEXT)
    change(result)
    assert re.search(message, interface_difference(source, result) or "")
    assert aspect in ASPECTS
    if aspect in ("shapes", "initializers", "opset", "metadata"):
        assert interface_difference(source, result, frozenset({aspect})) is None


def test_equal_interfaces_and_lost_domains(model):
    source = model(TEXT)
    assert interface_difference(source, model(TEXT)) is None
    source.opset_import.add(domain="local", version=1)
    assert interface_difference(source, model(TEXT)) is None


def test_sequence_types_are_compared_without_their_shapes(model):
    a = model("g (seq(float[N]) s) => (float[M] y) { y = ConcatFromSequence<axis = 0>(s) }")
    b = model("g (seq(float[3]) s) => (float[M] y) { y = ConcatFromSequence<axis = 0>(s) }")
    assert "declared shape" in interface_difference(a, b)
    c = model("g (seq(double[N]) s) => (float[M] y) { y = ConcatFromSequence<axis = 0>(s) }")
    assert "type of input 's'" in interface_difference(a, c)
