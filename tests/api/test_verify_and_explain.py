"""`verify` compares two given models; `explain` says why rules fired and why not."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

from onnxsim_ci import BadInput, Policy, optimize, verify
from onnxsim_ci.api import explain

Make = Callable[..., onnx.ModelProto]


def test_equal_models_are_equivalent(model: Make, tmp_path: Path) -> None:
    (tmp_path / "a.onnx").write_bytes(model().SerializeToString())
    assert verify(tmp_path / "a.onnx", model()).verdict == "equivalent"


def test_a_model_and_its_result_are_equivalent(conv_batchnorm: onnx.ModelProto) -> None:
    result = optimize(conv_batchnorm).model
    assert verify(conv_batchnorm, result).verdict == "equivalent"


def test_other_functions_differ(model: Make) -> None:
    other = model("g (float[N,3] x) => (float[N,3] y) { y = Sigmoid(x) }")
    assert verify(model(), other).verdict == "differs"


def test_another_interface_differs(model: Make) -> None:
    other = model("g (float[N,3] z) => (float[N,3] y) { y = Relu(z) }")
    verdict = verify(model(), other)
    assert verdict.verdict == "differs"
    assert "interface" in verdict.reason


def _with_weight(model: Make, folder: Path, factor: float, *, inline: bool) -> Path:
    """y = x @ w, with w (4.8 MB) inside the file or in a file beside it; every weight has the same place."""
    folder.mkdir(exist_ok=True)
    built = model("g (float[N,1200] x) => (float[N,1000] y) { y = MatMul(x, w) }")
    weight = np.random.default_rng(0).standard_normal((1200, 1000)).astype(np.float32) * np.float32(factor)
    tensor = numpy_helper.from_array(weight, "w")
    if not inline:
        (folder / "w.bin").write_bytes(tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", "w.bin"), ("offset", "0"), ("length", str(weight.nbytes))):
            tensor.external_data.add(key=key, value=value)
    built.graph.initializer.append(tensor)
    path = folder / f"{factor}.onnx"
    path.write_bytes(built.SerializeToString())
    return path


@pytest.mark.parametrize("inline", [True, False])
def test_weights_left_in_files_are_compared_by_content(inline: bool, model: Make, tmp_path: Path) -> None:
    first, same, other = (
        _with_weight(model, tmp_path / name, factor, inline=inline)
        for name, factor in (("a", 1.0), ("b", 1.0), ("c", 1.5))
    )
    assert verify(first, same).verdict == "equivalent"
    assert verify(first, other).verdict == "differs"
    if inline:
        beside = _with_weight(model, tmp_path / "a", 1.5, inline=True)
        assert verify(first, beside).verdict == "differs"


def test_verify_refuses_what_is_no_model(model: Make) -> None:
    with pytest.raises(BadInput):
        verify(model(), b"nothing")


def test_explain_tells_the_journal(model: Make) -> None:
    (found,) = explain(model())
    assert (found.rule, found.fired) == ("eliminate-identity", True)
    assert found.reason


def test_explain_tells_why_a_rule_did_not_fire(model: Make) -> None:
    source = model(
        "g (float[N,3] x) => (float[N,3] t, float[3,N] y) { t = Transpose<perm=[1,0]>(x)  y = Identity(t) }"
    )
    for subject in ("merge-transposes", "t"):
        told = explain(source, subject)
        assert all(e.reason for e in told)


def test_explain_of_a_rule_that_never_applies_is_empty(model: Make) -> None:
    assert explain(model(), "fuse-batchnorm-into-conv") == []


def test_explain_refuses_an_unknown_subject(model: Make) -> None:
    with pytest.raises(BadInput, match="neither a rule nor a node"):
        explain(model(), "nowhere")


def test_explain_follows_the_policy(model: Make) -> None:
    assert explain(model(), policy=Policy(simplify={"level": "off"})) == []
