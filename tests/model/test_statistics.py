"""Figures of a model: one definition of nodes, bodies and calls included."""

import numpy as np
from onnx import TensorProto, numpy_helper
from onnx_text import parse

from onnxsim_ci.model import load, statistics_of


def test_nodes_of_all_scopes_count_and_constants_do_not() -> None:
    model = parse(
        """g (bool c, float[N] x) => (float[N] y) { k = Constant<value = float[3] {1,2,3}>()
        y = If(c)<then_branch = t () => (float[N] a) { a = Relu(x) },
        else_branch = e () => (float[N] b) { d = Constant<value_int = 1>()  n = Neg(x)  b = Abs(n) }> }"""
    )
    found = statistics_of(model, 123)
    assert (found.nodes, found.constant_nodes, found.parameters, found.file_bytes) == (4, 2, 3, 123)
    assert found.operators == {"Abs": 1, "If": 1, "Neg": 1, "Relu": 1}


def test_a_functions_body_counts_for_each_call_and_others_by_domain() -> None:
    model = parse(
        """<ir_version: 8, opset_import: ["" : 17, "my" : 1]>
        g (float[N] x) => (float[N] y) { a = my.F(x)  b = my.F(a)  y = my.Odd(b) }
        <domain: "my", opset_import: ["" : 17, "my" : 1]> F (p) => (q) { r = my.G(p)  q = Relu(r) }
        <domain: "my", opset_import: ["" : 17]> G (p) => (q) { q = Abs(p) }
        <domain: "my", opset_import: ["" : 17]> Unused (p) => (q) { q = Neg(p) }"""
    )
    found = statistics_of(model, 0)
    assert found.operators == {"Abs": 2, "Relu": 2, "my::Odd": 1}
    assert (found.nodes, found.functions, found.opsets) == (5, 3, {"": 17, "my": 1})


def test_weights_count_once_wherever_they_lie() -> None:
    model = parse("g (float[N] x) => (float[N] y) { y = Sum(x, a, b) }")
    model.graph.initializer.append(numpy_helper.from_array(np.ones((2, 3), np.float32), "w"))
    for name in ("a", "b"):
        tensor = model.graph.initializer.add(
            name=name, data_type=1, dims=[8], data_location=TensorProto.EXTERNAL
        )
        for key, value in (("location", "w.bin"), ("offset", "64"), ("length", "32")):
            tensor.external_data.add(key=key, value=value)
    sparse = model.graph.sparse_initializer.add()
    sparse.values.CopyFrom(numpy_helper.from_array(np.ones(4, np.float32), "s"))
    found = statistics_of(model, 100)
    assert (found.parameters, found.initializers) == (6 + 16 + 4, 4)
    assert (found.external_bytes, found.total_bytes) == (32, 132)


def test_a_light_model_has_the_figures_of_the_whole_one() -> None:
    model = parse("g (float[N] x) => (float[N] y) { y = Sum(x, w) }")
    model.graph.initializer.append(numpy_helper.from_array(np.ones(2 << 20, np.float32), "w"))
    data = model.SerializeToString()
    assert statistics_of(load(data).proto, len(data)) == statistics_of(model, len(data))
