"""Folding: what the runtime computes, never more bytes than it frees, never what must not be fixed."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import pytest
from one_rule import rewritten
from onnx import ModelProto, TensorProto, helper, numpy_helper

from onnxsim_ci.rewrite import Outcome, Plan
from onnxsim_ci.runtime import ModelImage, run_once

Make = Callable[..., ModelProto]
HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'
FOLD_ALONE = Plan(rounding=False)


def graph_of(
    nodes: list[onnx.NodeProto], outputs: str = "y", opset: int = 17, **initializers: np.ndarray
) -> ModelProto:
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "g",
        [info("x", 1, ["N"])],
        [info(name, 1, None) for name in outputs.split()],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in initializers.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def read_by_unknown(
    nodes: list[onnx.NodeProto], value: str = "c", opset: int = 17, **initializers: np.ndarray
) -> ModelProto:
    """A model in which an operator that nobody knows reads `value`, so that only folding can happen to it."""
    built = graph_of(
        [*nodes, helper.make_node("Odd", [value], ["y"], domain="my")], opset=opset, **initializers
    )
    built.opset_import.add(domain="my", version=1)
    return built


def folded(source: ModelProto, plan: Plan = FOLD_ALONE) -> tuple[np.ndarray | None, Outcome]:
    """What the unknown operator reads in the result, if it is a constant; and what the run did."""
    result, outcome = rewritten(source, plan)
    name = [n for n in result.graph.node if n.op_type == "Odd"][-1].input[0]
    stored = {t.name: numpy_helper.to_array(t) for t in result.graph.initializer}
    return stored.get(name), outcome


def node(op_type: str, inputs: str, outputs: str = "c", **attributes: object) -> onnx.NodeProto:
    return helper.make_node(op_type, inputs.split(), outputs.split(), **attributes)


def test_a_chain_becomes_one_tensor() -> None:
    nodes = [node("Neg", "w", "a"), node("Abs", "a", "b"), node("Add", "b w")]
    found, outcome = folded(read_by_unknown(nodes, w=np.array([1, -2], np.float32)))
    np.testing.assert_array_equal(found, [2, 0])
    assert [r.rule for r in outcome.journal.records] == ["fold-constants"]


def test_a_fold_has_the_bits_of_the_runtime() -> None:
    """Kernels decide: reductions, transcendental functions, extrema of NaN."""
    rng = np.random.default_rng(0)
    w = rng.standard_normal((7, 33)).astype(np.float32)
    special = np.array([np.nan, 1, -0.0, np.inf, 3], np.float32)
    cases = {
        "Exp": ([node("Exp", "w")], {"w": w}),
        "Tanh": ([node("Tanh", "w")], {"w": w}),
        "ReduceMean": ([node("ReduceMean", "w", axes=[1])], {"w": w}),
        "MatMul": ([node("MatMul", "w v")], {"w": w, "v": w.T.copy()}),
        "Softmax": ([node("Softmax", "w")], {"w": w}),
        "ArgMax": ([node("ArgMax", "s")], {"s": special}),
        "Max": ([node("Max", "s z")], {"s": special, "z": np.zeros(5, np.float32)}),
        "Cast": ([node("Cast", "s", to=TensorProto.INT32)], {"s": special}),
    }
    for name, (nodes, arrays) in cases.items():
        found, _ = folded(read_by_unknown(nodes, **arrays))
        assert found is not None, name
        source = graph_of(nodes, outputs="c", **arrays)
        source.graph.output[0].ClearField("type")
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(
            source.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        (expected,) = session.run(["c"], {"x": np.zeros(1, np.float32)})
        assert found.tobytes() == expected.tobytes(), name


@pytest.mark.parametrize(
    ("op_type", "machine"), [("Exp", True), ("Reshape", False), ("Transpose", False), ("ReduceSum", True)]
)
def test_folds_that_depend_on_the_machine_are_marked(op_type: str, machine: bool) -> None:
    inputs = "w s" if op_type == "Reshape" else "w"
    source = read_by_unknown([node(op_type, inputs)], w=np.ones((2, 3), np.float32), s=np.array([3, 2]))
    _, outcome = folded(source)
    (record,) = outcome.journal.records
    assert record.machine is machine


# ---- never more bytes

LARGE = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)


@pytest.mark.parametrize(
    ("nodes", "arrays"),
    [
        ([node("ConstantOfShape", "s")], {"s": np.array([64, 64])}),
        ([node("Expand", "w s")], {"w": np.float32(3), "s": np.array([64, 64])}),
        ([node("Tile", "w s")], {"w": np.ones((1, 64), np.float32), "s": np.array([64, 1])}),
        ([node("Range", "a b d")], {"a": np.int64(0), "b": np.int64(5000), "d": np.int64(1)}),
        ([node("Cast", "w", to=1)], {"w": np.ones((128, 128), np.int8)}),
        ([node("DequantizeLinear", "w s")], {"w": np.ones((128, 128), np.int8), "s": np.float32(0.1)}),
        ([node("Concat", "w w", axis=0)], {"w": LARGE}),
        ([node("EyeLike", "w", dtype=1)], {"w": np.ones((100, 100), np.int8)}),
        (
            [node("OneHot", "i d v")],
            {"i": np.arange(64), "d": np.int64(64), "v": np.array([0, 1], np.float32)},
        ),
    ],
    ids=lambda p: p[0].op_type if isinstance(p, list) else "",
)
def test_what_would_grow_the_file_stays(nodes: list[onnx.NodeProto], arrays: dict[str, np.ndarray]) -> None:
    source = read_by_unknown(nodes, **arrays)
    found, outcome = folded(source)
    assert found is None
    assert not outcome.changed


def test_a_shared_weight_that_would_be_stored_twice_stays() -> None:
    nodes = [node("Transpose", "w", "c"), node("Odd", "w", "z", domain="my")]
    assert folded(read_by_unknown(nodes, w=LARGE))[0] is None
    assert folded(read_by_unknown(nodes[:1], w=LARGE))[0] is not None


def test_a_weight_that_only_a_body_reads_too_is_shared(model: Make) -> None:
    """The bytes of an outer weight are counted over all scopes."""
    source = model(
        HEADER
        + """g (bool c, float[N,64] x) => (float[N,64] y) { t = Transpose(w)
        a = MatMul(x, t)
        y = If(c)<then_branch = p () => (float[N,64] q) { q = MatMul(a, w) },
        else_branch = e () => (float[N,64] b) { b = Abs(a) }> }""",
        w=LARGE,
    )
    result, _ = rewritten(source, Plan(rounding=False, skip=frozenset({"layout", "matmul"})))
    assert result.graph.node[0].op_type == "Transpose"


def test_large_inner_tensors_with_a_small_end_are_folded() -> None:
    nodes = [node("ConstantOfShape", "s", "a"), node("ReduceSum", "a", "c", keepdims=0)]
    found, _ = folded(read_by_unknown(nodes, s=np.array([300, 300])))
    np.testing.assert_array_equal(found, 0)


@pytest.mark.parametrize(
    ("plan", "is_folded"),
    [
        (Plan(), True),
        (Plan(fold=False), False),
        (Plan(fold_max_bytes=7), False),
        (Plan(fold_max_bytes=8), True),
        (Plan(fold_work=1), False),
        (Plan(skip=frozenset({"fold-constants"})), False),
    ],
)
def test_the_plan_bounds_folds(plan: Plan, is_folded: bool) -> None:
    found, _ = folded(read_by_unknown([node("Exp", "w")], w=np.ones(2, np.float32)), plan)
    assert (found is not None) is is_folded


# ---- never


def test_overridable_weights_are_no_constants(model: Make) -> None:
    source = model(
        HEADER + "g (float[2] x, float[2] w) => (float[2] y) { a = Exp(w)  y = Add(x, a) }",
        w=np.ones(2, np.float32),
    )
    assert not rewritten(source, Plan())[1].changed
    source.ir_version = 3
    result, _ = rewritten(source, Plan())
    assert "Exp" not in [n.op_type for n in result.graph.node]


@pytest.mark.parametrize(
    "nodes",
    [
        [node("Div", "w z")],
        [node("Mod", "w z")],
        [node("Div", "m n")],
        [node("Div", "w k", "c"), node("Cast", "z", "k", to=7)][::-1],
    ],
)
def test_integer_divisions_that_may_trap_stay(nodes: list[onnx.NodeProto]) -> None:
    source = read_by_unknown(
        nodes,
        w=np.array([1, 2]),
        z=np.array([1, 0]),
        m=np.array([np.iinfo(np.int64).min]),
        n=np.array([-1]),
    )
    assert folded(source)[0] is None


def test_integer_division_by_others_is_folded() -> None:
    found, _ = folded(read_by_unknown([node("Div", "w z")], w=np.array([-7, 7]), z=np.array([2, -2])))
    np.testing.assert_array_equal(found, [-3, -3])


def test_nodes_in_training_mode_stay() -> None:
    drop = read_by_unknown(
        [node("Dropout", "w r t", "c")], w=np.ones(4, np.float32), r=np.float32(0.5), t=np.array(True)
    )
    assert folded(drop, Plan(skip=frozenset({"eliminate-dropout"})))[0] is None
    ones = {n: np.ones(2, np.float32) for n in "sbmv"}
    norm = read_by_unknown(
        [node("BatchNormalization", "w s b m v", "c p q", training_mode=1)],
        w=np.ones((3, 2), np.float32),
        **ones,
    )
    assert folded(norm)[0] is None


def test_quantization_pairs_stay() -> None:
    nodes = [node("QuantizeLinear", "w s", "q"), node("DequantizeLinear", "q s")]
    source = read_by_unknown(nodes, w=np.array([1, 2], np.float32), s=np.float32(0.1))
    result, _ = rewritten(source, Plan(rounding=False))
    assert [n.op_type for n in result.graph.node] == ["QuantizeLinear", "DequantizeLinear", "Odd"]


def test_strings_and_sequences_are_never_stored() -> None:
    text = read_by_unknown([node("Cast", "w", to=TensorProto.STRING)], w=np.array([1, 2]))
    assert folded(text)[0] is None
    sequence = read_by_unknown([node("SequenceConstruct", "w w")], w=np.array([1, 2]))
    assert folded(sequence)[0] is None


def test_a_tensor_out_of_a_sequence_is_folded() -> None:
    nodes = [node("SequenceConstruct", "w v", "s"), node("SequenceAt", "s i")]
    found, _ = folded(read_by_unknown(nodes, w=np.array([1, 2]), v=np.array([3, 4]), i=np.int64(1)))
    if found is not None:
        np.testing.assert_array_equal(found, [3, 4])


def test_optional_values_stay() -> None:
    nodes = [node("Optional", "w", "o"), node("OptionalGetElement", "o")]
    rewritten(read_by_unknown(nodes, w=np.array([1, 2])), Plan())


# ---- where a kernel is missing or fails


def test_one_node_that_fails_does_not_stop_the_others() -> None:
    """Gather out of range fails when it is run; what stands beside it in the wave is folded."""
    nodes = [
        node("Gather", "w i", "bad"),
        node("Exp", "w", "good"),
        node("Odd", "bad", "z", domain="my"),
    ]
    source = read_by_unknown(nodes, "good", w=np.array([1, 2], np.float32), i=np.array([7]))
    result, outcome = rewritten(source, Plan(rounding=False))
    assert [n.op_type for n in result.graph.node] == ["Gather", "Odd", "Odd"]
    assert len(outcome.journal) == 1


def test_a_chain_behind_a_node_that_fails_stays() -> None:
    nodes = [node("Gather", "w i", "bad"), node("Neg", "bad", "c")]
    source = read_by_unknown(nodes, w=np.array([1, 2], np.float32), i=np.array([7]))
    result, _ = rewritten(source, Plan(rounding=False))
    assert [n.op_type for n in result.graph.node] == ["Gather", "Neg", "Odd"]


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16, np.float64, np.int8, np.uint16, np.bool_])
def test_types_with_and_without_a_kernel(dtype: type) -> None:
    """Where the runtime has no kernel the reference evaluator computes, or the node stays."""
    source = read_by_unknown([node("Transpose", "w", perm=[1, 0])], w=np.array([[1, 0, 1]]).astype(dtype))
    found, _ = folded(source)
    if found is not None:
        assert (found.dtype, found.ravel().tolist()) == (
            np.dtype(dtype),
            np.array([1, 0, 1]).astype(dtype).tolist(),
        )


@pytest.mark.parametrize("data_type", [TensorProto.INT4, TensorProto.UINT4, TensorProto.FLOAT8E4M3FN])
def test_narrow_weights_are_left_or_right(data_type: int) -> None:
    tensor = helper.make_tensor("w", data_type, [4], [1, 0, 1, 1])
    source = read_by_unknown([node("Cast", "w", to=1)], opset=21)
    source.graph.initializer.append(tensor)
    found, _ = folded(source)
    if found is not None:
        np.testing.assert_array_equal(found, [1, 0, 1, 1])


def test_operators_newer_than_the_opset_and_unknown_ones_are_not_folded() -> None:
    source = read_by_unknown(
        [node("Odd2", "w", "a", domain="my"), node("Neg", "a")], w=np.ones(2, np.float32)
    )
    assert folded(source)[0] is None


def test_functions_fold_into_constant_nodes(model: Make) -> None:
    source = model(
        """<ir_version: 10, opset_import: ["" : 21, "my" : 1]>
        g (float[2] x) => (float[2] y) { y = my.F(x) }
        <domain: "my", opset_import: ["" : 21]> F (p) => (q) {
            k = Constant<value = float[2] {1,4}>()  s = Sqrt(k)  q = Mul(p, s) }"""
    )
    result, _ = rewritten(source, Plan())
    onnx.checker.check_model(result, full_check=True)
    (function,) = result.functions
    assert [n.op_type for n in function.node] == ["Constant", "Mul"]
    np.testing.assert_array_equal(numpy_helper.to_array(function.node[0].attribute[0].t), [1, 2])


def test_attribute_references_of_functions_are_not_folded(model: Make) -> None:
    source = model(
        """<ir_version: 10, opset_import: ["" : 21, "my" : 1]>
        g (float[2] x) => (float[2] y) { y = my.F<k = 2.0>(x) }
        <domain: "my", opset_import: ["" : 21]> F <k> (p) => (q) {
            w = Constant<value = float[2] {1,4}>()  s = Elu<alpha: float = @k>(w)  q = Mul(p, s) }"""
    )
    result, _ = rewritten(source, Plan())
    assert [n.op_type for n in result.functions[0].node] == ["Constant", "Elu", "Mul"]


def test_bodies_fold_constants_of_the_outer_graph(model: Make) -> None:
    source = model(
        HEADER
        + """g (bool c, float[2] x) => (float[2] y) {
        y = If(c)<then_branch = t () => (float[2] a) { n = Neg(w)  a = Add(x, n) },
        else_branch = e () => (float[2] b) { b = Abs(x) }> }""",
        w=np.array([1, 2], np.float32),
    )
    result, _ = rewritten(source, Plan())
    then = next(a.g for a in result.graph.node[0].attribute if a.name == "then_branch")
    assert [n.op_type for n in then.node] == ["Add"]
    onnx.checker.check_model(result, full_check=True)


def test_a_name_that_a_body_uses_again_stays_behind_that_body(model: Make) -> None:
    source = model(
        """<ir_version: 10, opset_import: ["" : 17]>
        g (bool b) => (bool y, int64[1] v) <int64[1] w = {3}, int64[1] k = {4}> {
        y = If(b)<then_branch = g1() => (bool v) { v = Identity(b) },
                  else_branch = g2() => (bool q) { q = Not(b) }>
        a = Add(w, k)  c = Mul(a, w)  v = Neg(c) }"""
    )
    result, _ = rewritten(source, Plan())
    for answer in (True, False):
        feeds = {"b": np.array(answer)}
        before, after = (run_once(ModelImage(data=m.SerializeToString()), feeds) for m in (source, result))
        assert before["v"].tolist() == after["v"].tolist() == [-21]
        assert before["y"].tolist() == after["y"].tolist()


def test_a_name_of_the_interface_does_not_move_in_front_of_a_body_that_uses_it(model: Make) -> None:
    source = model(
        """<ir_version: 10, opset_import: ["" : 17]>
        g (bool b, float[N] x) => (bool y, float[N] v) {
        r = Relu(x)
        y = If(b)<then_branch = g1() => (bool v) { v = Identity(b) },
                  else_branch = g2() => (bool q) { q = Not(b) }>
        v = Identity(r) }"""
    )
    result, _ = rewritten(source, Plan())
    feeds = {"b": np.array(True), "x": np.ones(2, np.float32)}
    assert run_once(ModelImage(data=result.SerializeToString()), feeds)["v"].tolist() == [1, 1]


def test_no_constant_target_has_zero_and_minus_one_under_allowzero(model: Make) -> None:
    source = model(
        """<ir_version: 9, opset_import: ["" : 20]>
        g (float[4,N] x) => (int64[4] y) <int64[1] o = {1}, int64[1] m = {-1}, int64[1] i = {0}> {
        s = Shape(x)  v = Gather(s, i)  z = Sub(v, v)  p = Add(z, o)  t = Concat<axis = 0>(z, m, p, p)
        q = Reshape<allowzero = 1>(x, t)  y = Shape(q) }"""
    )
    result, _ = rewritten(source, Plan())
    feeds = {"x": np.ones((4, 0), np.float32)}
    assert run_once(ModelImage(data=result.SerializeToString()), feeds)["y"].tolist() == [0, 4, 1, 1]


def test_a_constant_that_takes_the_name_of_an_output_is_still_known(model: Make) -> None:
    source = model(
        """<ir_version: 9, opset_import: ["" : 13]>
        g (float[1] x) => (float[1] a, float[1] b) {
        c = Constant<value = float[1] {3}>()  b = Identity(c)  d = Relu(c)  a = Add(x, d) }"""
    )
    result, _ = rewritten(source, Plan())
    assert sorted(n.op_type for n in result.graph.node) == ["Add", "Constant"]
    assert not rewritten(result, Plan())[1].changed
