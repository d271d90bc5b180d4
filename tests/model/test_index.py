"""The index: scopes, captures, calls, pins, contents of constants."""

import numpy as np
import pytest
import random_graphs
from index_checks import assert_consistent
from onnx import TensorProto, helper, numpy_helper
from onnx_text import parse

from onnxsim_ci.model import Graph, Node, build_graph
from onnxsim_ci.model.attributes import attribute_value
from onnxsim_ci.model.statistics import all_graphs

NESTED = """g (bool c, float[N] x) => (float[N] y) <float[1] w = {2.0}> {
    h = Abs(x)
    y = If(c) <
        then_branch = t () => (float[N] a) {
            a = If(c) <
                then_branch = tt () => (float[N] p) { p = Add(h, w) },
                else_branch = te () => (float[N] q) { x = Neg(h)  q = Mul(x, w) } > },
        else_branch = e () => (float[N] b) { b = Identity(h) } >
}"""
"""Captures over two levels; the innermost body has a value with the name of the model's input."""


def index(text: str) -> Graph:
    graph = build_graph(parse(text))
    assert_consistent(graph)
    return graph


def node(graph: Graph, op_type: str) -> Node:
    return next(n for s in graph.scopes() for n in s.nodes if n.op_type == op_type)


def test_names_mean_the_nearest_definition() -> None:
    graph = index(NESTED)
    paths = [s.path for s in graph.scopes()]
    assert paths == [
        "",
        "/If.then_branch",
        "/If.then_branch/If.then_branch",
        "/If.then_branch/If.else_branch",
        "/If.else_branch",
    ]
    root = graph.root
    assert len(root.values["h"].uses) == 3
    assert len(root.values["w"].uses) == 2
    assert [n.op_type for n in root.values["x"].uses] == ["Abs"]
    assert node(graph, "Mul").inputs[0].scope.path == "/If.then_branch/If.else_branch"
    assert graph.repeated == {"x"}
    assert {"h", "w", "x", "y", "a", "b", "p", "q", "c"} == graph.names


def test_scopes_see_outward_only() -> None:
    root, then, inner, *_ = index(NESTED).scopes()
    assert inner.sees(then)
    assert inner.sees(root)
    assert inner.sees(inner)
    assert not root.sees(inner)
    assert inner.find("h") is root.values["h"]
    assert root.find("p") is None


def test_functions_see_nothing_outside() -> None:
    graph = index(
        """<ir_version: 8, opset_import: ["" : 17, "my" : 1]>
        g (float[N] x) => (float[N] y) { y = my.F<k = 2.0>(x) }
        <domain: "my", opset_import: ["" : 15]> F <k> (x) => (b) { b = Elu<alpha: float = @k>(x) }"""
    )
    (function,) = graph.functions
    assert function.is_function
    assert (function.opset, graph.root.opset) == (15, 17)
    assert function.values["x"] is not graph.root.values["x"]
    assert node(graph, "F").is_call
    assert node(graph, "F").operator is None
    assert node(graph, "Elu").operator is None
    assert function.key == node(graph, "F").key


def test_a_function_named_like_a_standard_operator_is_a_call() -> None:
    graph = index(
        """<ir_version: 8, opset_import: ["" : 17]>
        g (float[N] x) => (float[N] y) { y = Relu(x) }
        <domain: "", opset_import: ["" : 17]> Relu (a) => (b) { b = Neg(a) }"""
    )
    assert node(graph, "Relu").is_call
    assert node(graph, "Relu").operator is None


def test_outputs_annotations_and_repetitions_pin() -> None:
    model = parse("g (float[N] x) => (float[N] y, float[N] x) { h = Abs(x)  y = Neg(h) }")
    model.graph.output.append(model.graph.output[0])
    annotation = model.graph.quantization_annotation.add(tensor_name="h")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="not here")
    graph = build_graph(model)
    assert_consistent(graph)
    assert {v.name: v.pins for v in graph.root.values.values()} == {"x": 1, "y": 2, "h": 1}
    assert not graph.root.values["h"].single_reader


@pytest.mark.parametrize(("ir_version", "overridable"), [(3, False), (4, True), (10, True)])
def test_listed_initializers_are_overridable_from_ir_4_on(ir_version: int, overridable: bool) -> None:
    model = parse("g (float[2] x, float[2] w) => (float[2] y) { y = Add(x, w) }")
    model.ir_version = ir_version
    model.graph.initializer.append(numpy_helper.from_array(np.ones(2, np.float32), "w"))
    value = build_graph(model).root.values["w"]
    assert (value.overridable, value.is_constant, value.is_input) == (overridable, not overridable, True)


def test_absent_inputs_and_outputs_are_none() -> None:
    graph = index("g (float[N] x) => (float[N] y) { y, , = Dropout(x) }".replace(", , =", " ="))
    dropout = node(graph, "Dropout")
    assert dropout.input(5) is None
    assert dropout.output(5) is None
    clip = node(index("g (float[N] x, float m) => (float[N] y) { y = Clip(x, , m) }"), "Clip")
    assert [v.name if v else None for v in clip.inputs] == ["x", None, "m"]


def test_unknown_domains_newer_operators_and_references_are_opaque() -> None:
    graph = index(
        """<ir_version: 8, opset_import: ["" : 17, "com.x" : 1, "ai.onnx.ml" : 3]>
        g (float[N] x) => (float[N] y) { a = com.x.Odd(x)  b = Gelu(a)  y = ai.onnx.ml.Binarizer(b) }"""
    )
    assert node(graph, "Odd").operator is None
    assert node(graph, "Gelu").operator is None
    assert node(graph, "Binarizer").operator is not None


def test_the_two_spellings_of_the_default_domain_are_one() -> None:
    model = parse("g (float[N] x) => (float[N] y) { y = Relu(x) }")
    model.opset_import[0].domain = "ai.onnx"
    model.graph.node[0].domain = "ai.onnx"
    graph = build_graph(model)
    assert (graph.root.opset, graph.root.nodes[0].domain) == (21, "")
    assert graph.root.nodes[0].operator is not None


@pytest.mark.parametrize(
    ("attribute", "dtype", "expected"),
    [
        ("value_int = 3", np.int64, 3),
        ("value_ints = [3, 4]", np.int64, [3, 4]),
        ("value_float = 0.5", np.float32, 0.5),
        ("value_floats = [0.5, 1.5]", np.float32, [0.5, 1.5]),
    ],
)
def test_contents_of_constant_nodes(attribute: str, dtype: type, expected: object) -> None:
    graph = index(f"g (float[N] x) => (float[N] x) {{ c = Constant<{attribute}>() }}")
    data = graph.root.values["c"].data
    assert data is not None
    assert data.dtype == dtype
    assert data.shape == np.shape(expected)
    np.testing.assert_array_equal(data, expected)


def test_strings_and_sparse_constants_have_no_content() -> None:
    for attribute in ('value_string = "a"', 'value_strings = ["a", "b"]'):
        value = index(f"g (float[N] x) => (float[N] x) {{ c = Constant<{attribute}>() }}").root.values["c"]
        assert value.data is None
        assert value.tensor is None


def test_fresh_names_shadow_nothing() -> None:
    graph = index(NESTED)
    assert graph.fresh_name("p") == "p_1"
    assert graph.fresh_name("p") == "p_2"
    assert graph.fresh_name("new") == "new"
    assert graph.fresh_name("") not in ("", "new")


def test_attributes_in_their_python_form() -> None:
    attributes = {
        "i": 3,
        "f": 0.5,
        "s": "ü",
        "ints": (1, 2),
        "floats": (0.5, 1.5),
        "strings": ("a", "b"),
    }
    made = helper.make_node("X", [], [], **attributes)
    assert {a.name: attribute_value(a) for a in made.attribute} == attributes
    tensor = helper.make_attribute("t", numpy_helper.from_array(np.ones(2)))
    assert isinstance(attribute_value(tensor), TensorProto)


@pytest.mark.parametrize("seed", range(60))
def test_random_models_are_consistent(seed: int) -> None:
    model = random_graphs.make(seed)
    if model is not None:
        graph = build_graph(model)
        assert_consistent(graph)
        assert len(list(graph.scopes())) == len(list(all_graphs(model)))
