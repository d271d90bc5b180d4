"""The C++ inference as a source of facts: what is believed, what is not, and running it again."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

from onnxsim_ci.analysis import Facts, claimed, infer, is_anonymous, symbol
from onnxsim_ci.analysis.axes import axis_name
from onnxsim_ci.analysis.light_copy import light_copy
from onnxsim_ci.model import Graph, Value, Weights, build_graph


def _parsed(body: str, opset: int = 21) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": {opset}]> g {body}')


def _inferred(body: str, opset: int = 21) -> tuple[Graph, str | None]:
    model = _parsed(body, opset)
    graph = build_graph(model)
    return graph, infer(graph, model).problem


def _value(graph: Graph, name: str) -> Value:
    return graph.root.values[name]


def _inner(graph: Graph, owner: str, index: int, name: str) -> Value:
    node = _value(graph, owner).producer
    assert node is not None
    return node.subgraphs[index].values[name]


def test_static_shapes_and_types() -> None:
    graph, problem = _inferred("(float[2,3] x) => (float[3,2] y) { t = Relu(x) y = Transpose(t) }")
    assert problem is None
    assert (_value(graph, "t").dtype, _value(graph, "t").shape) == (TensorProto.FLOAT, (2, 3))
    assert _value(graph, "y").shape == (3, 2)


def test_each_axis_has_its_own_symbol() -> None:
    graph, _ = _inferred(
        "(float[N,4] x, float[N,4] w) => (float[N,4] y) { a = Relu(x) b = Relu(w) y = Add(a, b) }"
    )
    x, w = _value(graph, "a").shape, _value(graph, "b").shape
    assert x == (symbol("x[0]"), 4)
    assert w == (symbol("w[0]"), 4)
    assert x is not None
    assert w is not None
    assert claimed(x[0]) == claimed(w[0])


@pytest.mark.parametrize("name", ["", "?", "None", "-1", "unk__7", "NONE"])
def test_anonymous_dims_claim_nothing(name: str) -> None:
    assert is_anonymous(name)
    model = _parsed("(float[N] x, float[N] w) => (float y) { y = Add(x, w) }")
    for info in model.graph.input:
        info.type.tensor_type.shape.dim[0].dim_param = name
    graph = build_graph(model)
    infer(graph, model)
    x, w = _value(graph, "x").shape, _value(graph, "w").shape
    assert x is not None
    assert w is not None
    assert claimed(x[0]) != claimed(w[0])


def test_names_of_axes_never_collide() -> None:
    graph, _ = _inferred("(float[N,M] x) => (float y) { y = Relu(x) }")
    other = Value("x[0]", graph.root)
    assert axis_name(other, 1) != axis_name(_value(graph, "x"), 1)


def test_declared_output_and_value_info_are_claims() -> None:
    graph, _ = _inferred("(float[N,3] x) => (int64[7] y) <double[9] a> { a = Relu(x) y = Transpose(a) }")
    assert _value(graph, "y").dtype == TensorProto.FLOAT
    assert _value(graph, "y").shape == (3, symbol("x[0]"))
    assert _value(graph, "a").dtype == TensorProto.FLOAT


def test_claims_inside_branches_are_dropped() -> None:
    graph, problem = _inferred("""(bool c, float[N,3] x) => (float y) {
        y = If(c) <then_branch = t () => (int64[5] p) { p = Relu(x) },
                   else_branch = e () => (float[8] q) { q = Neg(x) }> }""")
    assert problem is None
    assert _inner(graph, "y", 0, "p").shape == (symbol("x[0]"), 3)
    assert _inner(graph, "y", 0, "p").dtype == TensorProto.FLOAT
    assert _value(graph, "y").shape == (symbol("x[0]"), 3)


def test_shapes_of_loop_states_are_not_trusted() -> None:
    graph, _ = _inferred("""(int64 n, bool c, float[1,3] x) => (float y) {
        y = Loop(n, c, x) <body = b (int64 i, bool k, float[1,3] s) => (bool k2, float[1,3] s2) {
            k2 = Identity(k)  s2 = Concat<axis=0>(s, s) }> }""")
    assert _inner(graph, "y", 0, "s").shape is None
    assert _inner(graph, "y", 0, "s2").shape is None
    assert _inner(graph, "y", 0, "s2").dtype == TensorProto.FLOAT
    assert _value(graph, "y").shape is None


def test_values_of_inner_scopes_have_other_symbols() -> None:
    graph, _ = _inferred("""(bool c, float[N] x) => (float y, float z) {
        y = If(c) <then_branch = t () => (float p) { u = NonZero(x) p = Cast<to=1>(u) },
                   else_branch = e () => (float q) { u = NonZero(x) q = Cast<to=1>(u) }>
        z = If(c) <then_branch = t () => (float p) { u = NonZero(x) p = Cast<to=1>(u) },
                   else_branch = e () => (float q) { u = NonZero(x) q = Cast<to=1>(u) }> }""")
    names = {axis_name(_inner(graph, owner, index, "u"), 1) for owner in "yz" for index in (0, 1)}
    assert len(names) == 4
    assert _inner(graph, "y", 0, "p").shape == _inner(graph, "y", 0, "u").shape


def test_overridable_initializers_are_no_constants() -> None:
    graph, _ = _inferred("(float[N,4] x, int64[2] s = {-1,2}) => (float y) { y = Reshape(x, s) }")
    shape = _value(graph, "y").shape
    assert shape is not None
    assert not any(isinstance(d, int) for d in shape)


def test_fractional_scales_leave_the_size_open() -> None:
    graph, _ = _inferred(
        "(float[1,1,9,8] x) => (float y) <float[4] s = {1.0,1.0,0.6,2.0}, float[4] t = {1.0,1.0,2.0,2.0}>"
        "{ z = Resize(x, , s) y = Resize(x, , t) }"
    )
    assert _value(graph, "y").shape == (1, 1, 18, 16)
    z = _value(graph, "z")
    facts = Facts(graph, Weights(b"", None))
    assert z.producer is not None
    facts.transfer(z.producer)
    shape = z.shape
    assert shape is not None
    assert (shape[0], shape[1], shape[3]) == (1, 1, 16)
    assert not isinstance(shape[2], int)


def test_fractional_scales_of_a_constant_node_leave_the_size_open() -> None:
    graph, _ = _inferred(
        "(float[9] x) => (float y) { s = Constant<value_floats=[0.6]>() y = Resize(x, , s) }"
    )
    shape = _value(graph, "y").shape
    assert shape is not None
    assert not isinstance(shape[0], int)
    assert _value(graph, "s").shape == (1,)


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (
            "(float[1,128,1] x) => (float y) <int64 step = {8}, int64 length = {16}>"
            "{ s = STFT(x, step, , length) y = Identity(s) }",
            "s",
        ),
        ("(float x, float k, float v) => (float y) { a, b, c, s = Attention(x, k, v) y = Add(s, a) }", "s"),
        ("(float[1,3] x) => (float y) <int64[0] axes = {}> { s = Squeeze(x, axes) y = Neg(s) }", "s"),
    ],
)
def test_what_kernels_size_in_another_way_is_left_open(body: str, name: str) -> None:
    model = _parsed(body, opset=24)
    for info in model.graph.input:
        if not info.type.tensor_type.shape.dim:
            info.type.tensor_type.ClearField("shape")
    graph = build_graph(model)
    infer(graph, model)
    assert _value(graph, name).shape is None


def test_squeeze_of_an_empty_axes_attribute_is_left_open() -> None:
    model = _parsed("(float[1,3] x) => (float y) { s = Squeeze(x) y = Neg(s) }", opset=11)
    model.graph.node[0].attribute.append(onnx.helper.make_attribute("axes", [], attr_type=7))
    graph = build_graph(model)
    infer(graph, model)
    assert _value(graph, "s").shape is None


def test_float_range_leaves_the_count_open() -> None:
    graph, _ = _inferred(
        "(float[N] x) => (float y) <float a = {0.0}, float b = {1.0}, float d = {0.1}>"
        "{ r = Range(a, b, d) y = Add(x, r) }"
    )
    shape = _value(graph, "r").shape
    assert shape is not None
    assert not isinstance(shape[0], int)


def test_a_type_error_is_reported_and_facts_remain() -> None:
    graph, problem = _inferred("(float[2] x, int64[2] i) => (float y) { a = Relu(x) y = Add(a, i) }")
    assert problem is not None
    assert "Add" in problem
    assert "\n" not in problem
    assert _value(graph, "a").shape == (2,)


def test_a_shape_error_is_reported_and_facts_remain() -> None:
    graph, problem = _inferred("(float[2,3] x, float[2,3] w) => (float y) { a = Relu(x) y = MatMul(a, w) }")
    assert problem is not None
    assert "MatMul" in problem
    assert _value(graph, "a").shape == (2, 3)


def test_an_operator_of_unknown_types_is_no_error() -> None:
    model = _parsed("(float[N,3] x) => (float y) { a = ZipMap(x) y = Relu(a) }")
    model.graph.node[0].domain = "com.example"
    model.opset_import.add(domain="com.example", version=1)
    graph = build_graph(model)
    assert infer(graph, model).problem is None
    assert _value(graph, "a").shape is None


def test_large_weights_are_known_by_type_and_not_copied() -> None:
    model = _parsed("(float[N,64] x) => (float y) { y = MatMul(x, w) }")
    model.graph.initializer.append(numpy_helper.from_array(np.ones((64, 32), np.float32), "w"))
    graph = build_graph(model)
    assert infer(graph, model).problem is None
    assert _value(graph, "y").shape == (symbol("x[0]"), 32)
    assert len(light_copy(graph, model).SerializeToString()) < 500


def test_initializers_of_old_models_are_constants() -> None:
    model = _parsed("(float[N,4] x) => (float y) { y = Reshape(x, s) }", opset=9)
    model.ir_version = 3
    model.graph.initializer.append(numpy_helper.from_array(np.array([2, -1]), "s"))
    model.graph.input.add(name="s").type.tensor_type.elem_type = TensorProto.INT64
    model.graph.input[-1].type.tensor_type.shape.dim.add().dim_value = 2
    graph = build_graph(model)
    assert infer(graph, model).problem is None
    shape = _value(graph, "y").shape
    assert shape is not None
    assert shape[0] == 2


def test_running_again_refines_and_never_forgets() -> None:
    text = "(float[N,4] x, int64[2] s) => (float y, float z) { y = Reshape(x, s) z = Relu(y) }"
    model = _parsed(text)
    graph = build_graph(model)
    infer(graph, model)
    before = _value(graph, "z").shape
    assert before is not None
    _value(graph, "y").shape = (6, before[1])
    infer(graph, model)
    shape = _value(graph, "y").shape
    assert shape is not None
    assert shape[0] == 6
    changed = _parsed(text.replace("Reshape(x, s)", "Relu(x)"))
    infer(graph, changed)
    assert _value(graph, "z").shape == (symbol("x[0]"), 4)


def test_a_proven_fact_stands_against_the_inference() -> None:
    model = _parsed("(float[2,4] x) => (float y) { y = Relu(x) }")
    graph = build_graph(model)
    _value(graph, "y").shape = (2, 5)
    infer(graph, model)
    assert _value(graph, "y").shape == (2, 5)


def test_values_that_are_no_tensors() -> None:
    graph, _ = _inferred(
        "(float[4] x) => (float y) { q = SequenceConstruct(x) y = ConcatFromSequence<axis=0>(q) }"
    )
    assert _value(graph, "q").dtype == -1
    assert _value(graph, "q").shape is None


def test_garbage_does_not_abort() -> None:
    model = _parsed("(float[2] x) => (float y) { y = Transpose<perm=[5,5,5]>(x) }")
    graph = build_graph(model)
    assert infer(graph, model).problem is not None
