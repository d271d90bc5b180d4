"""An If with a decided condition: its branch takes its place, under names that clash with nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import onnx.reference
import pytest
from index_checks import assert_consistent
from one_rule import rewritten
from onnx import ModelProto, helper, numpy_helper
from onnx_text import nodes_of
from witnesses import assert_equal_outputs

from onnxsim_ci.model import build_graph, interface_difference, interface_of, load
from onnxsim_ci.rewrite import Plan, ResultClass, rewrite

Make = Callable[..., ModelProto]


def spliced(source: ModelProto, left: int = 0) -> ModelProto:
    """The result, in which so many If are left, checked in every way."""
    onnx.checker.check_model(source, full_check=True)
    loaded = load(source)
    graph = build_graph(loaded.proto)
    rewrite(graph, loaded.proto, loaded.weights, Plan())
    assert_consistent(graph)
    result = loaded.proto
    onnx.checker.check_model(result, full_check=True)
    assert [n.op_type for n in nodes_of(result)].count("If") == left, onnx.printer.to_text(result)
    assert interface_difference(interface_of(source), interface_of(result)) is None
    assert_equal_outputs(source, result, ResultClass.EXACT)
    return result


CASES = {
    "plain": """g (float[N] x) => (float[N] y) <bool c = {1}> {
        y = If(c)<then_branch = t () => (float[N] a) { a = Sin(x) },
        else_branch = e () => (float[N] b) { b = Cos(x) }> }""",
    "the other branch": """g (float[N] x) => (float[N] y) <bool c = {0}> {
        y = If(c)<then_branch = t () => (float[N] a) { a = Sin(x) },
        else_branch = e () => (float[N] b) { b = Cos(x) }> }""",
    "a name of the outer graph": """g (float[N] x) => (float[N] y) <bool c = {1}> {
        h = Abs(x)
        r = If(c)<then_branch = t () => (float[N] a) { z = Sin(h)  a = Sqrt(z) },
        else_branch = e () => (float[N] b) { b = Cos(h) }>
        z = Exp(x)
        y = Add(r, z) }""",
    "a name of another branch": """g (float[N] x, bool d) => (float[N] y) <bool c = {1}> {
        r = If(c)<then_branch = t () => (float[N] a) { p = Sin(x)  a = Sqrt(p) },
        else_branch = e () => (float[N] b) { b = Cos(x) }>
        s = If(d)<then_branch = t2 () => (float[N] a) { p = Cos(r)  a = Exp(p) },
        else_branch = e2 () => (float[N] b) { p = Sin(r)  b = Exp(p) }>
        y = Neg(s) }""",
    "the name of the output": """g (float[N] x) => (float[N] y) <bool c = {1}> {
        r = If(c)<then_branch = t () => (float[N] y) { p = Sin(x)  y = Sqrt(p) },
        else_branch = e () => (float[N] y) { y = Cos(x) }>
        y = Neg(r) }""",
    "two outputs, one of them unused": """g (float[N] x) => (float[N] y) <bool c = {1}> {
        r, s = If(c)<then_branch = t () => (float[N] a, float[N] b) { a = Sin(x)  b = Cos(x) },
        else_branch = e () => (float[N] a2, float[N] b2) { a2 = Cos(x)  b2 = Sin(x) }>
        y = Neg(r) }""",
    "an output that is an outer value": """g (float[N] x) => (float[N] y) <bool c = {1}> {
        h = Sin(x)
        r = If(c)<then_branch = t () => (float[N] a) { a = Identity(h) },
        else_branch = e () => (float[N] b) { b = Cos(h) }>
        y = Neg(r) }""",
    "the graph's output is an input": """g (float[N] x) => (float[N] y) <bool c = {1}> {
        y = If(c)<then_branch = t () => (float[N] a) { a = Identity(x) },
        else_branch = e () => (float[N] b) { b = Cos(x) }> }""",
    "an output that is a constant": """g (float[2] x) => (float[2] y) <bool c = {1}> {
        r = If(c)<then_branch = t () => (float[2] a) { a = Constant<value = float[2] {1,2}>() },
        else_branch = e () => (float[2] b) { b = Cos(x) }>
        y = Add(r, x) }""",
    "the graph's output is a constant": """g (float[2] x) => (float[2] y, float[2] z) <bool c = {1}> {
        z = Sin(x)
        y = If(c)<then_branch = t () => (float[2] a) { a = Constant<value = float[2] {1,2}>() },
        else_branch = e () => (float[2] b) { b = Cos(x) }> }""",
    "nested": """g (float[N] x) => (float[N] y) <bool c = {1}, bool d = {0}> {
        h = Sin(x)
        y = If(c)<then_branch = t () => (float[N] a) {
            p = Cos(h)
            a = If(d)<then_branch = tt () => (float[N] q) { q = Add(p, h) },
                else_branch = te () => (float[N] q) { p2 = Neg(p)  q = Mul(p2, h) }> },
        else_branch = e () => (float[N] b) { b = Cos(h) }> }""",
    "an undecided one inside": """g (float[N] x, bool d) => (float[N] y) <bool c = {1}> {
        h = Sin(x)
        y = If(c)<then_branch = t () => (float[N] a) {
            p = Cos(h)
            w = Where(d, p, h)
            a = Loop(, d, w)<body = l (int64 i, bool g0, float[N] s) => (bool k, float[N] u) {
                k = Less(i, i)  u = Add(s, p) }> },
        else_branch = e () => (float[N] b) { b = Cos(h) }> }""",
    "a loop that captures a renamed value": """g (float[N] x, bool d) => (float[N] y) <bool c = {1}> {
        p = Exp(x)
        r = If(c)<then_branch = t () => (float[N] a) {
            q = Cos(x)
            a = Loop(, d, q)<body = l (int64 i, bool g0, float[N] s) => (bool k, float[N] u) {
                k = Less(i, i)  u = Add(s, q) }> },
        else_branch = e () => (float[N] b) { b = Cos(x) }>
        q = Sin(p)
        y = Add(r, q) }""",
    "in a loop": """g (float[N] x, bool d) => (float[N] y) <bool c = {1}> {
        y = Loop(, d, x)<body = l (int64 i, bool g0, float[N] s) => (bool k, float[N] u) {
            k = Less(i, i)
            u = If(c)<then_branch = t () => (float[N] a) { p = Sin(s)  a = Add(p, x) },
                else_branch = e () => (float[N] b) { b = Cos(s) }> }> }""",
    "in a function": """<ir_version: 10, opset_import: ["" : 21, "my" : 1]>
        g (float[N] x) => (float[N] y) { y = my.F(x) }
        <domain: "my", opset_import: ["" : 21]> F (p) => (q) {
            c = Constant<value = bool {1}>()
            q = If(c)<then_branch = t () => (float[N] a) {
                k = Constant<value = float {3}>()  a = Mul(p, k) },
            else_branch = e () => (float[N] b) { b = Cos(p) }> }""",
    "a condition that is computed": """g (float[2,3] x) => (float[2,3] y) {
        s = Shape(x)
        i = Constant<value = int64 {0}>()
        n = Gather(s, i)
        two = Constant<value = int64 {2}>()
        c = Equal(n, two)
        y = If(c)<then_branch = t () => (float[2,3] a) { a = Sin(x) },
        else_branch = e () => (float[2,3] b) { b = Cos(x) }> }""",
}


@pytest.mark.parametrize("name", CASES)
def test_a_branch_takes_the_place_of_its_if(name: str, model: Make) -> None:
    spliced(model(CASES[name]), left=1 if name == "a name of another branch" else 0)


def branch(
    name: str, nodes: list[onnx.NodeProto], output: str, **initializers: np.ndarray
) -> onnx.GraphProto:
    return helper.make_graph(
        nodes,
        name,
        [],
        [helper.make_tensor_value_info(output, 1, [2])],
        [numpy_helper.from_array(a, n) for n, a in initializers.items()],
    )


def with_branch(then: onnx.GraphProto, *, ir_version: int = 8, **initializers: np.ndarray) -> ModelProto:
    other = branch("other", [helper.make_node("Cos", ["x"], ["o"])], "o")
    nodes = [
        helper.make_node("If", ["c"], ["r"], then_branch=then, else_branch=other),
        helper.make_node("Add", ["r", "x"], ["y"]),
    ]
    info = helper.make_tensor_value_info
    stored = {"c": np.array(True), **initializers}
    inputs = [info("x", 1, [2])]
    if ir_version < 4:
        inputs += [info(n, 9 if a.dtype == bool else 1, a.shape) for n, a in stored.items()]
    graph = helper.make_graph(
        nodes, "g", inputs, [info("y", 1, [2])], [numpy_helper.from_array(a, n) for n, a in stored.items()]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=ir_version)


WEIGHT, OTHER = np.array([3, 5], np.float32), np.array([7, 11], np.float32)


def test_initializers_of_a_branch_come_along() -> None:
    then = branch("then", [helper.make_node("Mul", ["x", "k"], ["a"])], "a", k=WEIGHT)
    result = spliced(with_branch(then, w=OTHER))
    assert [t.name for t in result.graph.initializer] == ["k"]


def test_a_branch_initializer_that_hides_an_outer_one_keeps_its_elements() -> None:
    """The standard forbids the same name; runtimes take the inner one, the reference evaluator the outer."""
    then = branch("then", [helper.make_node("Mul", ["x", "w"], ["a"])], "a", w=WEIGHT)
    result, _ = rewritten(with_branch(then, w=OTHER), Plan())
    arrays = {t.name: numpy_helper.to_array(t) for t in result.graph.initializer}
    (mul,) = (n for n in result.graph.node if n.op_type == "Mul")
    np.testing.assert_array_equal(arrays[mul.input[1]], WEIGHT)


def test_a_branch_may_return_its_initializer() -> None:
    spliced(with_branch(branch("then", [], "k", k=WEIGHT)))


def test_a_branch_may_return_an_outer_initializer() -> None:
    then = branch("then", [helper.make_node("Identity", ["w"], ["a"])], "a")
    spliced(with_branch(then, w=OTHER))


@pytest.mark.parametrize("size", [2, 700])
def test_constants_of_a_branch_come_along_before_ir_4(size: int) -> None:
    """Small ones stay Constant nodes; there may be no initializer that is no input."""
    weight = numpy_helper.from_array(np.random.default_rng(0).standard_normal((2, size)).astype(np.float32))
    nodes = [
        helper.make_node("Constant", [], ["k"], value=weight),
        helper.make_node("MatMul", ["x", "k"], ["m"]),
        helper.make_node("ReduceSum", ["m"], ["r"], keepdims=1),
        helper.make_node("Mul", ["r", "x"], ["a"]),
    ]
    spliced(with_branch(branch("then", nodes, "a"), ir_version=3))


def test_sparse_initializers_of_a_branch_are_not_lost() -> None:
    """Either the branch stays as it is, or the sparse weight comes along."""
    then = branch("then", [helper.make_node("Mul", ["x", "s"], ["a"])], "a")
    then.sparse_initializer.append(
        helper.make_sparse_tensor(
            numpy_helper.from_array(np.array([2.5], np.float32), "s"),
            numpy_helper.from_array(np.array([1])),
            [2],
        )
    )
    source = with_branch(then)
    loaded = load(source)
    graph = build_graph(loaded.proto)
    rewrite(graph, loaded.proto, loaded.weights, Plan())
    assert_consistent(graph)
    build_graph(loaded.proto)
    kept = [s.values.name for g in _graphs(loaded.proto) for s in g.sparse_initializer]
    assert len(kept) == 1


def _graphs(model: ModelProto) -> list[onnx.GraphProto]:
    found = [model.graph]
    for graph in found:
        found += [a.g for n in graph.node for a in n.attribute if a.HasField("g")]
    return found


def test_a_branch_that_lists_one_output_twice_gives_both_names() -> None:
    """ONNX Runtime 1.32 computes the source wrongly, so only the reference evaluator compares."""
    source = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["": 17]>
        g (float[2] x) => (float[2] y, float[2] z) <bool c = {1}> { y, z = If (c) <
            then_branch = t () => (float[2] p, float[2] p) { p = Neg(x) },
            else_branch = e () => (float[2] q, float[2] s) { q = Floor(x)  s = Ceil(x) }
        > }"""
    )
    loaded = load(source)
    graph = build_graph(loaded.proto)
    rewrite(graph, loaded.proto, loaded.weights, Plan())
    assert_consistent(graph)
    onnx.checker.check_model(loaded.proto, full_check=True)
    outputs = onnx.reference.ReferenceEvaluator(loaded.proto).run(None, {"x": np.float32([1, -2])})
    assert [o.tolist() for o in outputs] == [[-1.0, 2.0], [-1.0, 2.0]]
