"""The driver: same journal and bytes each time, linear work, nothing lost that anybody needs."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
import random_graphs
from index_checks import assert_consistent
from one_rule import rewritten
from onnx import ModelProto, TensorProto, helper, numpy_helper

from onnxsim_ci.model import build_graph, interface_difference, interface_of, load
from onnxsim_ci.rewrite import Level, Plan, ResultClass, StopReason, rewrite
from onnxsim_ci.rewrite.workbench import Workbench

Make = Callable[..., ModelProto]


def operators(model: ModelProto) -> list[str]:
    return [n.op_type for n in model.graph.node]


def journal_of(source: ModelProto, plan: Plan) -> list[tuple[object, ...]]:
    _, outcome = rewritten(source, plan)
    return [(r.rule, r.scope, r.node, r.value, r.added, r.why) for r in outcome.journal.records]


# ---- replay and determinism


@pytest.mark.parametrize("seed", range(24))
def test_a_limit_cuts_the_journal_and_nothing_else(seed: int) -> None:
    source = random_graphs.make(seed)
    if source is None:
        return
    whole = journal_of(source, Plan())
    for limit in {0, 1, len(whole) // 2, max(len(whole) - 1, 0), len(whole)}:
        result, outcome = rewritten(source, Plan(limit=limit))
        found = [(r.rule, r.scope, r.node, r.value, r.added, r.why) for r in outcome.journal.records]
        assert found == whole[:limit]
        onnx.checker.check_model(result, full_check=True)
        assert interface_difference(interface_of(source), interface_of(result)) is None
    assert rewritten(source, Plan(limit=len(whole)))[0] == rewritten(source, Plan())[0]


@pytest.mark.parametrize("seed", range(24))
def test_the_intermediate_model_is_a_run_with_exact_rules_only(seed: int) -> None:
    source = random_graphs.make(seed)
    if source is None:
        return
    _, outcome = rewritten(source, Plan())
    exact = outcome.journal.records[: outcome.journal.exact_count]
    assert all(r.result is ResultClass.EXACT for r in exact)
    _, alone = rewritten(source, Plan(rounding=False))
    assert [(r.rule, r.node, r.value) for r in alone.journal.records] == [
        (r.rule, r.node, r.value) for r in exact
    ]


def test_two_runs_give_the_same_bytes() -> None:
    for seed in range(20):
        source = random_graphs.make(seed)
        if source is not None:
            first, second = (rewritten(source, Plan())[0].SerializeToString() for _ in range(2))
            assert first == second


HASHES = """
import hashlib, random_graphs
from one_rule import rewritten
from onnxsim_ci.rewrite import Plan
digest = hashlib.sha256()
for seed in range(60):
    source = random_graphs.make(seed)
    if source is not None:
        digest.update(rewritten(source, Plan())[0].SerializeToString())
print(digest.hexdigest())
"""


def test_hash_seeds_change_no_byte() -> None:
    workbench = Path(__file__).parent.parent / "workbench"
    found = set()
    for seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(workbench)}
        found.add(
            subprocess.run(
                [sys.executable, "-c", HASHES], env=environment, check=True, capture_output=True
            ).stdout
        )
    assert len(found) == 1


@pytest.mark.parametrize("plan", [Plan(), Plan(rounding=False)], ids=["rounding", "exact"])
@pytest.mark.parametrize("batch", range(4))
def test_the_index_is_consistent_after_every_edit(
    batch: int, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    edits = 0
    finish = Workbench.finish

    def checked(self: Workbench) -> None:
        nonlocal edits
        finish(self)
        edits += 1
        assert_consistent(self.graph)

    monkeypatch.setattr(Workbench, "finish", checked)
    for seed in range(batch * 25, batch * 25 + 25):
        source = random_graphs.make(seed)
        if source is not None:
            rewritten(source, plan)
    assert edits > 100


# ---- work


def layers(count: int, *, dynamic: bool) -> ModelProto:
    """Blocks such as exporters make: shape chains, pairs of Transpose, Identity, MatMul and Add."""
    nodes: list[onnx.NodeProto] = []

    def add(op_type: str, inputs: str, output: str, **attributes: object) -> str:
        nodes.append(helper.make_node(op_type, inputs.split(), [output], **attributes))
        return output

    value = "x"
    for i in range(count):
        p = f"b{i}_"
        shape = add("Shape", value, p + "shape")
        dims = []
        for axis in range(2):
            add("Constant", "", f"{p}i{axis}", value_int=axis)
            gathered = add("Gather", f"{shape} {p}i{axis}", f"{p}g{axis}")
            dims.append(add("Unsqueeze", f"{gathered} zero", f"{p}u{axis}"))
        target = add("Concat", f"{dims[0]} {dims[1]} four four", p + "target", axis=0)
        split = add("Reshape", f"{value} {target}", p + "split")
        turned = add("Transpose", split, p + "turned", perm=[0, 2, 1, 3])
        back = add("Transpose", turned, p + "back", perm=[0, 2, 1, 3])
        joined = add("Concat", f"{dims[0]} {dims[1]} sixteen", p + "target2", axis=0)
        flat = add("Reshape", f"{back} {joined}", p + "flat")
        product = add("MatMul", f"{flat} w", p + "product")
        summed = add("Add", f"{product} bias", p + "sum")
        value = add("Relu", add("Identity", summed, p + "same"), p + "out")
    nodes.append(helper.make_node("Identity", [value], ["y"]))
    rng = np.random.default_rng(0)
    initializers = {
        "w": rng.standard_normal((16, 16)).astype(np.float32),
        "bias": rng.standard_normal(16).astype(np.float32),
        "zero": np.array([0]),
        "four": np.array([4]),
        "sixteen": np.array([16]),
    }
    shape = ["N", "S", 16] if dynamic else [2, 3, 16]
    graph = helper.make_graph(
        nodes,
        "layers",
        [helper.make_tensor_value_info("x", 1, shape)],
        [helper.make_tensor_value_info("y", 1, ["A", "B", 16])],
        [numpy_helper.from_array(a, n) for n, a in initializers.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_visits_a_node_stay_flat_as_models_grow(dynamic: bool) -> None:
    figures = []
    for count in (60, 600):
        source = layers(count, dynamic=dynamic)
        result, outcome = rewritten(source, Plan())
        assert outcome.stop is StopReason.FIXPOINT
        assert len(result.graph.node) <= 5 * count + 1
        figures.append(outcome.visits / len(source.graph.node))
    assert figures[1] <= 1.1 * figures[0]
    assert figures[1] < 4


@pytest.mark.parametrize("op_type", ["Identity", "Neg", "Sin"])
def test_deep_chains_need_no_recursion(op_type: str) -> None:
    count = 20_000
    nodes = [
        helper.make_node(op_type, [f"v{i}" if i else "x"], [f"v{i + 1}" if i < count - 1 else "y"])
        for i in range(count)
    ]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "deep", [info("x", 1, ["N"])], [info("y", 1, ["N"])])
    source = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    result, outcome = rewritten(source, Plan())
    assert outcome.stop is StopReason.FIXPOINT
    assert len(result.graph.node) == {"Identity": 1, "Neg": 2, "Sin": count}[op_type]
    assert outcome.visits < 4 * count


def test_a_fan_out_of_ten_thousand_readers() -> None:
    count = 10_000
    nodes = [helper.make_node("Identity", ["x"], ["a"])]
    nodes += [helper.make_node("Elu", ["a"], [f"e{i}"], alpha=float(i)) for i in range(count)]
    nodes.append(helper.make_node("Sum", [f"e{i}" for i in range(count)], ["y"]))
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "wide", [info("x", 1, ["N"])], [info("y", 1, ["N"])])
    source = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    result, outcome = rewritten(source, Plan())
    assert len(result.graph.node) == count + 1
    assert outcome.visits < 5 * count


def test_equal_branches_of_a_fan_out_become_one() -> None:
    count = 5_000
    nodes = [helper.make_node("Sin", ["x"], [f"e{i}"]) for i in range(count)]
    nodes.append(helper.make_node("Sum", [f"e{i}" for i in range(count)], ["y"]))
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "wide", [info("x", 1, ["N"])], [info("y", 1, ["N"])])
    source = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    result, _ = rewritten(source, Plan())
    assert operators(result) == ["Sin", "Sum"]


def test_too_many_visits_stop_the_run_with_a_whole_model() -> None:
    source = layers(5, dynamic=True)
    result, outcome = rewritten(source, Plan(visits=0))
    assert outcome.stop is StopReason.VISITS
    onnx.checker.check_model(result, full_check=True)


# ---- what the plan says

CHAIN = """g (float[N,3] x) => (float[N,3] y) {
t = Transpose<perm=[1,0]>(x)  u = Transpose<perm=[1,0]>(t)  y = Relu(u) }"""


def test_level_none_changes_nothing(model: Make) -> None:
    source = model(CHAIN)
    result, outcome = rewritten(source, Plan(level=None))
    assert not outcome.changed
    assert result.SerializeToString() == source.SerializeToString()


def test_models_with_training_information_are_left_alone(model: Make) -> None:
    source = model(CHAIN)
    source.training_info.add().algorithm.name = "step"
    result, outcome = rewritten(source, Plan())
    assert not outcome.changed
    assert result.SerializeToString() == source.SerializeToString()


@pytest.mark.parametrize("name", ["merge-transposes", "layout"])
def test_skipped_rules_and_families_do_not_fire(name: str, model: Make) -> None:
    result, _ = rewritten(model(CHAIN), Plan(skip=frozenset({name})))
    assert operators(result) == ["Transpose", "Transpose", "Relu"]
    assert operators(rewritten(model(CHAIN), Plan())[0]) == ["Relu"]


@pytest.mark.parametrize(
    ("name", "text", "kept"),
    [
        ("fold-constants", "{ a = Neg(w)  y = Add(x, a) }", ["Neg", "Add"]),
        ("merge-nodes", "{ a = Sin(x)  b = Sin(x)  y = Add(a, b) }", ["Sin", "Sin", "Add"]),
    ],
)
def test_the_drivers_own_work_can_be_skipped(name: str, text: str, kept: list[str], model: Make) -> None:
    source = model(f"g (float[2] x) => (float[2] y) {text}", w=np.array([1, 2], np.float32))
    assert operators(rewritten(source, Plan(skip=frozenset({name})))[0]) == kept
    assert operators(rewritten(source, Plan())[0]) != kept


def test_equal_constants_are_merged_unless_skipped(model: Make) -> None:
    weight = np.array([1, 2], np.float32)
    source = model("g (float[2] x) => (float[2] y) { a = Add(x, v)  y = Mul(a, w) }", v=weight, w=weight)
    skipped, _ = rewritten(source, Plan(skip=frozenset({"merge-constants"})))
    assert [t.name for t in skipped.graph.initializer] == ["v", "w"]
    assert [t.name for t in rewritten(source, Plan())[0].graph.initializer] == ["v"]


def test_subgraphs_are_left_alone_when_the_plan_says_so(model: Make) -> None:
    source = model(
        """g (bool c, float[N] x) => (float[N] y) { h = Identity(x)
        y = If(c)<then_branch = t () => (float[N] a) { k = Identity(h)  a = Relu(k) },
        else_branch = e () => (float[N] b) { b = Abs(h) }> }"""
    )

    def bodies(plan: Plan) -> list[list[str]]:
        result, _ = rewritten(source, plan)
        assert operators(result) == ["If"]
        by_name = {a.name: a.g for a in result.graph.node[0].attribute}
        return [[n.op_type for n in by_name[b].node] for b in ("then_branch", "else_branch")]

    assert bodies(Plan()) == [["Relu"], ["Abs"]]
    assert bodies(Plan(subgraphs=False)) == [["Identity", "Relu"], ["Abs"]]


def test_a_basic_level_fuses_nothing(model: Make) -> None:
    source = model(
        "g (float[N,2] x) => (float[N,2] y) { a = MatMul(x, w)  y = Add(a, b) }",
        w=np.eye(2, dtype=np.float32),
        b=np.ones(2, np.float32),
    )
    assert operators(rewritten(source, Plan(level=Level.BASIC))[0]) == ["MatMul", "Add"]


def test_kept_values_survive_under_their_names(model: Make) -> None:
    source = model(
        "g (float[2] x) => (float[2] y) { a = Identity(x)  b = Abs(a)  c = Neg(w)  y = Add(b, c) }",
        w=np.array([1, 2], np.float32),
        unused=np.array([3], np.float32),
    )
    result, _ = rewritten(source, Plan(keep=("a", "w", "unused", "nowhere")))
    names = {n.output[0] for n in result.graph.node} | {t.name for t in result.graph.initializer}
    assert {"a", "w", "unused"} <= names
    result, _ = rewritten(source, Plan())
    names = {n.output[0] for n in result.graph.node} | {t.name for t in result.graph.initializer}
    assert names.isdisjoint({"a", "w", "unused"})


# ---- outputs of every kind


def same_interface(source: ModelProto) -> ModelProto:
    result, outcome = rewritten(source, Plan())
    onnx.checker.check_model(result, full_check=True)
    assert interface_difference(interface_of(source), interface_of(result)) is None
    assert outcome.stop is StopReason.FIXPOINT
    return result


def test_an_output_may_be_an_input(model: Make) -> None:
    source = model("g (float[N] x) => (float[N] x, float[N] y) { a = Identity(x)  y = Relu(a) }")
    assert operators(same_interface(source)) == ["Relu"]


def test_an_output_may_be_a_copy_of_an_input(model: Make) -> None:
    assert operators(same_interface(model("g (float[N] x) => (float[N] y) { y = Identity(x) }"))) == [
        "Identity"
    ]


def test_an_output_may_be_an_initializer(model: Make) -> None:
    source = model("g (float[2] x) => (float[2] w, float[2] y) { y = Add(x, w) }", w=np.ones(2, np.float32))
    result = same_interface(source)
    assert [t.name for t in result.graph.initializer] == ["w"]


def test_an_output_may_be_a_folded_value(model: Make) -> None:
    source = model(
        "g (float[2] x) => (float[2] c, float[2] y) { c = Neg(w)  y = Add(x, c) }", w=np.ones(2, np.float32)
    )
    same_interface(source)


def test_two_outputs_may_have_equal_producers(model: Make) -> None:
    source = model("g (float[N] x) => (float[N] y, float[N] z) { y = Sin(x)  z = Sin(x) }")
    assert sorted(operators(same_interface(source))) in (["Sin", "Sin"], ["Identity", "Sin"])


def test_one_value_may_be_two_outputs(model: Make) -> None:
    source = model("g (float[N] x) => (float[N] y) { a = Identity(x)  y = Relu(a) }")
    source.graph.output.append(source.graph.output[0])
    result, _ = rewritten(source, Plan())
    assert operators(result) == ["Relu"]
    assert [o.name for o in result.graph.output] == ["y", "y"]


def test_a_chain_of_copies_between_outputs(model: Make) -> None:
    source = model(
        "g (float[N] x) => (float[N] y, float[N] z) { a = Sin(x)  y = Identity(a)  z = Identity(y) }"
    )
    result = same_interface(source)
    assert sorted(operators(result)) == ["Identity", "Sin"]


def test_unknown_operators_are_kept_and_dead_known_ones_go(model: Make) -> None:
    source = model(
        """<ir_version: 8, opset_import: ["" : 17, "my" : 1]>
        g (float[N] x) => (float[N] y) { a = my.Log(x)  b = Sin(x)  y = Relu(x) }"""
    )
    assert operators(rewritten(source, Plan())[0]) == ["Log", "Relu"]


def test_a_function_that_holds_an_unknown_operator_is_kept(model: Make) -> None:
    body = '<domain: "my", opset_import: ["" : 17, "my" : 1]> F (p) => (q) {{ {} }}'
    text = """<ir_version: 8, opset_import: ["" : 17, "my" : 1]>
        g (float[N] x) => (float[N] y) { a = my.F(x)  y = Relu(x) } """
    known = model(text + body.format("q = Abs(p)"))
    unknown = model(text + body.format("q = my.Log(p)"))
    assert operators(rewritten(known, Plan())[0]) == ["Relu"]
    assert not rewritten(known, Plan())[0].functions
    assert operators(rewritten(unknown, Plan())[0]) == ["F", "Relu"]


def test_survivors_name_what_stands_for_what_went(model: Make) -> None:
    source = model("g (float[N] x) => (float[N] y) { a = Identity(x)  b = Sin(x)  y = Relu(a) }")
    _, outcome = rewritten(source, Plan())
    assert outcome.journal.survivors == {"a": "x", "b": ""}


def test_a_run_on_a_light_model_gives_what_a_run_on_a_whole_one_gives(tmp_path: Path) -> None:
    """Weights that stay in the file are read where a rule needs them."""
    rng = np.random.default_rng(0)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node("BatchNormalization", ["c", "s", "b", "m", "v"], ["y"]),
    ]
    arrays = {"w": rng.standard_normal((1500, 800, 1, 1)).astype(np.float32)}
    arrays |= {n: rng.uniform(0.5, 2, 1500).astype(np.float32) for n in "sbmv"}
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 800, 4, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(a, n) for n, a in arrays.items()],
    )
    source = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path / "m.onnx"
    path.write_bytes(source.SerializeToString())
    digests = []
    for given in (path, source, source.SerializeToString()):
        loaded = load(given)
        rewrite(build_graph(loaded.proto), loaded.proto, loaded.weights, Plan())
        assert operators(loaded.proto) == ["Conv"]
        digests.append(hashlib.sha256(loaded.proto.SerializeToString()).hexdigest())
    assert len(set(digests)) == 1
