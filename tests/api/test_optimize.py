"""`optimize`: what goes in, what comes out, what is written."""

import gc
import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from onnxsim_ci import BadInput, Policy, optimize
from onnxsim_ci.model import Node

Make = Callable[..., onnx.ModelProto]


def operators(model: onnx.ModelProto) -> list[str]:
    return [n.op_type for n in model.graph.node]


def outcome(result: object) -> str:
    return str(result.report.models[0].outcome)  # type: ignore[attr-defined]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("form", ["path", "text path", "bytes", "proto"])
def test_paths_bytes_and_protos_are_taken_and_not_changed(form: str, model: Make, tmp_path: Path) -> None:
    source = model()
    before = source.SerializeToString()
    path = tmp_path / "m.onnx"
    path.write_bytes(before)
    given = {"path": path, "text path": str(path), "bytes": before, "proto": source}[form]
    result = optimize(given)
    assert operators(result.model) == ["Relu"]
    assert (result.verdict.verdict, outcome(result), result.written) == ("equivalent", "simplified", None)
    assert [r.rule for r in result.journal.records] == ["eliminate-identity"]
    assert source.SerializeToString() == before
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["m.onnx"]


def test_the_index_is_free_without_the_cyclic_collector(conv_batchnorm: onnx.ModelProto) -> None:
    gc.collect()
    gc.disable()
    try:
        optimize(conv_batchnorm, policy=Policy.model_validate({"verify": {"mode": "off"}}))
        left = [o for o in gc.get_objects() if isinstance(o, Node)]
    finally:
        gc.enable()
    assert not left


def test_a_result_is_written_where_the_caller_says(model: Make, tmp_path: Path) -> None:
    result = optimize(model(), output=tmp_path / "out.onnx")
    assert result.written == tmp_path / "out.onnx"
    assert operators(onnx.load(result.written)) == ["Relu"]
    assert os.listdir(tmp_path) == ["out.onnx"]


def test_an_unchanged_model_is_written_as_its_own_bytes(model: Make, tmp_path: Path) -> None:
    odd = model("g (float[N] x) => (float[N] y) { y = Relu(x) }").SerializeToString() + b"\xfa\x3f\x02hi"
    result = optimize(odd, output=tmp_path / "out.onnx")
    assert outcome(result) == "unchanged"
    assert result.verdict.basis == "digest"
    assert (tmp_path / "out.onnx").read_bytes() == odd


def test_a_second_run_changes_no_byte(conv_batchnorm: onnx.ModelProto, tmp_path: Path) -> None:
    first, second = tmp_path / "first.onnx", tmp_path / "second.onnx"
    optimize(conv_batchnorm, output=first)
    result = optimize(first, output=second)
    assert outcome(result) == "unchanged"
    assert first.read_bytes() == second.read_bytes()


def test_in_place_keeps_the_mode_and_an_unchanged_file_is_not_touched(model: Make, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(model().SerializeToString())
    path.chmod(0o640)
    optimize(path, output=path)
    assert operators(onnx.load(path)) == ["Relu"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    before = path.stat()
    optimize(path, output=path)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_rounding_result_is_proven_by_samples_and_right(
    conv_batchnorm: onnx.ModelProto, tmp_path: Path
) -> None:
    result = optimize(conv_batchnorm)
    assert operators(result.model) == ["Conv"]
    assert (result.verdict.verdict, result.verdict.basis) == ("equivalent", "samples")
    x = np.random.default_rng(0).standard_normal((2, 3, 8, 8)).astype(np.float32)
    sides = [
        onnxruntime.InferenceSession(m.SerializeToString(), providers=["CPUExecutionProvider"]).run(
            None, {"x": x}
        )
        for m in (conv_batchnorm, result.model)
    ]
    np.testing.assert_allclose(sides[0][0], sides[1][0], rtol=1e-4, atol=1e-5)


def test_without_rounding_only_exact_edits_are_made(conv_batchnorm: onnx.ModelProto) -> None:
    result = optimize(conv_batchnorm, policy=Policy(simplify={"rounding": False}))
    assert operators(result.model) == ["Conv", "BatchNormalization"]


# ---- what the policy orders


def test_level_off_changes_nothing(model: Make) -> None:
    assert outcome(optimize(model(), policy=Policy(simplify={"level": "off"}))) == "unchanged"


@pytest.mark.parametrize("name", ["fuse-batchnorm-into-conv", "conv", "fuse_bn_into_conv"])
def test_skipped_rules_families_and_onnxsims_names_stay_off(
    name: str, conv_batchnorm: onnx.ModelProto
) -> None:
    result = optimize(conv_batchnorm, policy=Policy(simplify={"skip": (name,)}))
    assert operators(result.model) == ["Conv", "BatchNormalization"]


def test_a_number_of_another_opset_converts_first(model: Make, tmp_path: Path) -> None:
    result = optimize(model(), policy=Policy(simplify={"opset": 19}), output=tmp_path / "o.onnx")
    assert onnx.load(tmp_path / "o.onnx").opset_import[0].version == 19
    assert result.verdict.verdict == "equivalent"


def test_bound_symbols_and_input_shapes_make_the_model_static(model: Make) -> None:
    for policy in (
        Policy(shapes={"bind": {"N": 5}}),
        Policy(shapes={"x": (5, 3)}),
        Policy(shapes={"": (5, -1)}),
    ):
        result = optimize(model(), policy=policy)
        dims = result.model.graph.input[0].type.tensor_type.shape.dim
        assert [d.dim_value for d in dims] == [5, 3]
        assert result.verdict.verdict == "equivalent"


@pytest.mark.parametrize(
    ("shapes", "sentence"),
    [
        ({"X": (5, 3)}, "has no input 'X'; did you mean 'x'"),
        ({"x": (5,)}, "has 2 dimensions"),
        ({"x": (5, 4)}, "static dimension 3"),
        ({"bind": {"M": 2}}, "no input has a dimension named 'M'"),
    ],
)
def test_shapes_that_do_not_fit_are_bad_input(shapes: dict, sentence: str, model: Make) -> None:
    with pytest.raises(BadInput, match=sentence):
        optimize(model(), policy=Policy(shapes=shapes))


def test_dropped_outputs_take_what_only_they_need_with_them(model: Make) -> None:
    two = model("g (float[N] x) => (float[N] y, float[N] z) { y = Relu(x)  z = Abs(x) }")
    result = optimize(two, policy=Policy(simplify={"drop_outputs": ("z",)}))
    assert operators(result.model) == ["Relu"]
    assert [o.name for o in result.model.graph.output] == ["y"]
    with pytest.raises(BadInput, match="did you mean 'z'"):
        optimize(two, policy=Policy(simplify={"drop_outputs": ("zz",)}))
    with pytest.raises(BadInput, match="without any"):
        optimize(two, policy=Policy(simplify={"drop_outputs": ("y", "z")}))


def test_kept_values_survive(model: Make) -> None:
    result = optimize(
        model(
            "g (float[N] x) => (float[N] y) { a = Identity(x)  y = Relu(a) }", unused=np.ones(3, np.float32)
        ),
        policy=Policy(simplify={"keep": ("unused",)}),
    )
    assert [t.name for t in result.model.graph.initializer] == ["unused"]
    assert operators(result.model) == ["Relu"]


def test_overridable_initializers_stay_unless_the_policy_bakes_them_in(model: Make) -> None:
    source = model(
        "g (float[2] x, float[2] w) => (float[2] y) { n = Neg(w)  y = Add(x, n) }", w=np.ones(2, np.float32)
    )
    assert operators(optimize(source).model) == ["Neg", "Add"]
    baked = optimize(source, policy=Policy(simplify={"initializers": "constant"}))
    assert operators(baked.model) == ["Add"]
    assert [i.name for i in baked.model.graph.input] == ["x"]


def test_functions_are_inlined_when_the_policy_says_so(model: Make) -> None:
    source = model(
        """<ir_version: 8, opset_import: ["" : 17, "my" : 1]>
        g (float[N] x) => (float[N] y) { y = my.Twice(x) }
        <domain: "my", opset_import: ["" : 17]> Twice (a) => (b) { c = Identity(a)  b = Add(c, c) }"""
    )
    assert operators(optimize(source).model) == ["Twice"]
    assert operators(optimize(source, policy=Policy(simplify={"inline_functions": True})).model) == ["Add"]


# ---- what is not written


def test_a_result_over_its_budget_is_not_written(model: Make, tmp_path: Path) -> None:
    policy = Policy(budget={"max_nodes": 0})
    result = optimize(
        model("g (float[N] x) => (float[N] y) { a = Identity(x)  y = Relu(a) }"),
        policy=policy,
        output=tmp_path / "o.onnx",
    )
    assert outcome(result) in ("over budget", "simplified")
    if outcome(result) == "over budget":
        assert not (tmp_path / "o.onnx").exists()
        assert operators(result.model) == ["Identity", "Relu"]


def test_an_unproven_result_is_the_source_and_not_written(
    conv_batchnorm: onnx.ModelProto, tmp_path: Path
) -> None:
    policy = Policy(verify={"timeout": 1e-9, "on_mismatch": "fail"})
    result = optimize(conv_batchnorm, policy=policy, output=tmp_path / "o.onnx")
    assert outcome(result) == "unproven"
    assert result.verdict.verdict != "equivalent"
    assert result.model == conv_batchnorm
    assert (result.written, os.listdir(tmp_path)) == (None, [])


def test_best_effort_and_off_write_without_a_proof(conv_batchnorm: onnx.ModelProto, tmp_path: Path) -> None:
    for mode in ("best-effort", "off"):
        policy = Policy(verify={"timeout": 1e-9, "mode": mode})
        result = optimize(conv_batchnorm, policy=policy, output=tmp_path / f"{mode}.onnx")
        assert result.verdict.verdict != "equivalent"
        assert operators(onnx.load(tmp_path / f"{mode}.onnx")) == ["Conv"]


def test_a_folder_that_does_not_exist_is_one_sentence(model: Make, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be written"):
        optimize(model(), output=tmp_path / "nowhere" / "o.onnx")


# ---- external data


def test_external_data_in_place_stays_as_it_is(external: Path) -> None:
    data = external.parent / "weights.bin"
    before = digest(data)
    result = optimize(external, output=external)
    assert outcome(result) == "simplified"
    assert operators(onnx.load(external)) == ["Add", "Mul"]
    assert (digest(data), sorted(os.listdir(external.parent))) == (before, ["m.onnx", "weights.bin"])


def test_external_data_goes_along_to_another_folder_without_dead_ranges(
    external: Path, tmp_path: Path
) -> None:
    target = tmp_path / "elsewhere" / "o.onnx"
    target.parent.mkdir()
    optimize(external, output=target)
    files = sorted(os.listdir(target.parent))
    assert len(files) == 2
    assert files[0].startswith("o.")
    assert files[0].endswith(".data")
    assert 8000 <= (target.parent / files[0]).stat().st_size < 8128
    source, result = (
        {t.name: onnx.numpy_helper.to_array(t) for t in onnx.load(p).graph.initializer}
        for p in (external, target)
    )
    assert source.keys() == result.keys()
    assert all(np.array_equal(source[name], result[name]) for name in source)
    second = optimize(target, output=target)
    assert outcome(second) == "unchanged"
    assert sorted(os.listdir(target.parent)) == files


def test_external_data_of_bytes_and_protos_ask_for_the_path(external: Path) -> None:
    for given in (external.read_bytes(), onnx.load(external, load_external_data=False)):
        with pytest.raises(BadInput, match="pass its path"):
            optimize(given)
