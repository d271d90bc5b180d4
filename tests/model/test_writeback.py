"""Only what changed is written: everything else keeps its bytes, its order and what we do not understand."""

import numpy as np
import onnx
import pytest
from index_checks import assert_consistent, assert_same_as_built_anew
from onnx import ModelProto, numpy_helper
from onnx_text import parse

from onnxsim_ci.model import Graph, Node, build_graph, write_back
from onnxsim_ci.model.mutation import (
    hold_constant,
    new_constant,
    new_node,
    new_value,
    remove_node,
    replace_uses,
    set_input,
    take_name,
)


def keep_all(*_: object) -> bool:
    return True


def node(graph: Graph, op_type: str) -> Node:
    return next(n for s in graph.scopes() for n in s.nodes if n.op_type == op_type and n.is_alive)


def written(graph: Graph, model: ModelProto) -> list[str]:
    """Write back, check the index against a new one, and the model with the checker; its operators."""
    assert write_back(graph, model, keep_all)
    assert_consistent(graph)
    assert_same_as_built_anew(graph, model)
    onnx.checker.check_model(model, full_check=True)
    assert not write_back(graph, model, keep_all)
    return [n.op_type for n in model.graph.node]


CHAIN = """g (float[2] x) => (float[2] y) <float[2] w = {1.0,2.0}> {
a = Abs(x)  b = Neg(a)  c = Add(b, w)  y = Relu(c) }"""


def test_an_untouched_model_is_its_own_bytes() -> None:
    model = parse(CHAIN)
    strange = ModelProto.FromString(model.SerializeToString() + b"\xfa\x3f\x02hi")
    before = strange.SerializeToString()
    assert not write_back(build_graph(strange), strange, keep_all)
    assert strange.SerializeToString() == before


def test_untouched_nodes_keep_their_bytes_and_unknown_fields() -> None:
    model = parse(CHAIN)
    data = model.graph.node[0].SerializeToString() + b"\xfa\x3f\x02hi"
    model.graph.node[0].ParseFromString(data)
    model.graph.node[3].doc_string = "kept"
    before = [n.SerializeToString() for n in model.graph.node]
    graph = build_graph(model)
    neg = node(graph, "Neg")
    for touched in replace_uses(neg.outputs[0], neg.inputs[0]):
        assert touched.op_type == "Add"
    remove_node(neg)
    assert written(graph, model) == ["Abs", "Add", "Relu"]
    after = [n.SerializeToString() for n in model.graph.node]
    assert (after[0], after[2]) == (before[0], before[3])
    assert list(model.graph.node[1].input) == ["a", "w"]


def test_a_new_node_stands_where_its_operands_are_ready() -> None:
    model = parse(CHAIN)
    graph = build_graph(model)
    scope, relu = graph.root, node(graph, "Relu")
    value = new_value(graph, scope, "late")
    new_node(scope, "Sin", [node(graph, "Add").outputs[0]], [value], {}, order=0)
    set_input(relu, 0, value)
    assert written(graph, model) == ["Abs", "Neg", "Add", "Sin", "Relu"]


def test_new_constants_are_appended_and_dead_ones_dropped() -> None:
    model = parse(
        """g (float[2] x) => (float[2] y) <float[2] w = {1.0,2.0}, float[2] v = {3.0,4.0}> {
        a = Add(x, w)  y = Mul(a, v) }"""
    )
    graph = build_graph(model)
    fresh = new_constant(graph, graph.root, np.array([5.0, 6.0], np.float32), "w")
    set_input(node(graph, "Add"), 1, fresh)
    assert written(graph, model) == ["Add", "Mul"]
    assert [t.name for t in model.graph.initializer] == ["v", "w_1"]


def test_an_interface_name_moves_to_the_producer_that_stands_for_it() -> None:
    model = parse("g (float[2] x) => (float[2] y) { a = Abs(x)  y = Identity(a)  }")
    graph = build_graph(model)
    identity = node(graph, "Identity")
    take_name(identity.outputs[0] or graph.root.values["y"], graph.root.values["a"])
    remove_node(identity)
    assert written(graph, model) == ["Abs"]
    assert list(model.graph.node[0].output) == ["y"]


def test_bodies_are_written_and_captures_stay() -> None:
    model = parse(
        """g (bool c, float[2] x) => (float[2] y) { h = Abs(x)  n = Neg(h)
        y = If(c)<then_branch = t () => (float[2] a) { k = Identity(n)  a = Relu(k) },
        else_branch = e () => (float[2] b) { b = Identity(n) }> }"""
    )
    graph = build_graph(model)
    value = graph.root.values["n"]
    replace_uses(value, graph.root.values["h"])
    remove_node(node(graph, "Neg"))
    assert written(graph, model) == ["Abs", "If"]
    bodies = [a.g for a in model.graph.node[1].attribute]
    assert sorted(n.input[0] for g in bodies for n in g.node if n.op_type == "Identity") == ["h", "h"]


def test_a_body_is_changed_without_its_owner() -> None:
    model = parse(
        """g (bool c, float[2] x) => (float[2] y) {
        y = If(c)<then_branch = t () => (float[2] a) { k = Identity(x)  a = Relu(k) },
        else_branch = e () => (float[2] b) { b = Abs(x) }> }"""
    )
    untouched = next(
        a.g for a in model.graph.node[0].attribute if a.name == "else_branch"
    ).SerializeToString()
    graph = build_graph(model)
    identity = node(graph, "Identity")
    replace_uses(identity.outputs[0], identity.inputs[0])
    remove_node(identity)
    assert written(graph, model) == ["If"]
    bodies = {a.name: a.g for a in model.graph.node[0].attribute}
    assert [n.op_type for n in bodies["then_branch"].node] == ["Relu"]
    assert bodies["else_branch"].SerializeToString() == untouched


FUNCTIONS = """<ir_version: 8, opset_import: ["" : 17, "my" : 1]>
g (float[N] x) => (float[N] y) { a = my.F(x)  y = my.G(a) }
<domain: "my", opset_import: ["" : 17]> F (p) => (q) { r = Identity(p)  q = Relu(r) }
<domain: "my", opset_import: ["" : 17, "my" : 1]> G (p) => (q) { q = my.H(p) }
<domain: "my", opset_import: ["" : 17]> H (p) => (q) { q = Abs(p) }"""


def test_functions_are_written_and_unused_ones_go() -> None:
    model = parse(FUNCTIONS)
    graph = build_graph(model)
    identity = node(graph, "Identity")
    replace_uses(identity.outputs[0], identity.inputs[0])
    remove_node(identity)
    last = node(graph, "G")
    replace_uses(last.outputs[0], last.inputs[0])
    take_name(last.outputs[0], last.inputs[0])
    remove_node(last)
    assert write_back(graph, model, keep_all)
    assert_same_as_built_anew(graph, model)
    assert [(f.name, [n.op_type for n in f.node]) for f in model.functions] == [("F", ["Relu"])]


def test_constants_of_functions_are_nodes() -> None:
    model = parse(FUNCTIONS)
    graph = build_graph(model)
    relu = node(graph, "Relu")
    value = relu.outputs[0]
    function = relu.scope
    remove_node(relu)
    relu.outputs[0] = None
    hold_constant(value, np.ones(2, np.float32))
    remove_node(node(graph, "Identity"))
    assert write_back(graph, model, keep_all)
    assert_same_as_built_anew(graph, model)
    assert [n.op_type for n in function.proto.node] == ["Constant"]


def test_value_info_of_what_is_gone_is_dropped() -> None:
    model = parse(CHAIN)
    for name in ("a", "b", "nowhere"):
        model.graph.value_info.append(onnx.helper.make_tensor_value_info(name, 1, [2]))
    graph = build_graph(model)
    neg = node(graph, "Neg")
    replace_uses(neg.outputs[0], neg.inputs[0])
    remove_node(neg)
    del graph.root.values["b"]
    written(graph, model)
    assert [i.name for i in model.graph.value_info] == ["a"]


# ---- files before IR 4, in which every initializer is an input


def early(array: np.ndarray) -> ModelProto:
    model = parse("g (float[N] x, float[2] w) => (float[N] y) { a = Neg(w)  y = Sum(x, a) }")
    model.ir_version = 3
    model.graph.initializer.append(numpy_helper.from_array(np.array([1, 2], np.float32), "w"))
    return model


def test_before_ir_4_small_constants_become_nodes_and_the_version_stays() -> None:
    model = early(np.ones(2))
    graph = build_graph(model)
    fresh = new_constant(graph, graph.root, np.array([9.0], np.float32), "k")
    set_input(node(graph, "Sum"), 1, fresh)
    graph.root.values["w"].pins += 1
    assert write_back(graph, model, keep_all)
    assert model.ir_version == 3
    assert sorted(n.op_type for n in model.graph.node) == ["Constant", "Neg", "Sum"]
    assert [i.name for i in model.graph.input] == ["x", "w"]


def test_a_replaced_weight_makes_it_ir_4_and_leaves_the_input_list() -> None:
    model = early(np.ones(2))
    graph = build_graph(model)
    neg = node(graph, "Neg")
    value = neg.outputs[0]
    neg.outputs[0] = None
    value.producer = None
    remove_node(neg)
    hold_constant(value, np.array([-1, -2], np.float32))
    assert write_back(graph, model, keep_all)
    assert model.ir_version == 4
    assert [t.name for t in model.graph.initializer] == ["a"]
    assert [i.name for i in model.graph.input] == ["x"]
    onnx.checker.check_model(model)


@pytest.mark.parametrize("size", [2, 100_000])
def test_an_unchanged_early_model_stays_as_it_is(size: int) -> None:
    model = early(np.ones(size))
    before = model.SerializeToString()
    assert not write_back(build_graph(model), model, keep_all)
    assert model.SerializeToString() == before
