"""`simplify`: onnxsim's names with their meaning, and no argument ignored in silence."""

import inspect
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from onnxsim_ci import BadInput, BadPolicy, simplify
from onnxsim_ci.errors import NotAvailable

Make = Callable[..., onnx.ModelProto]

POSITIONAL = [
    "model",
    "check_n",
    "perform_optimization",
    "skip_fuse_bn",
    "overwrite_input_shapes",
    "test_input_shapes",
    "skipped_optimizers",
    "skip_constant_folding",
    "skip_shape_inference",
    "input_data",
    "dynamic_input_shape",
    "custom_lib",
    "include_subgraph",
    "unused_output",
    "tensor_size_threshold",
    "mutable_initializer",
]
"""The order in onnxsim 0.4 to 0.8."""


def operators(model: onnx.ModelProto) -> list[str]:
    return [n.op_type for n in model.graph.node]


def test_positional_arguments_stand_in_onnxsims_order() -> None:
    kinds = inspect.signature(simplify).parameters
    assert [n for n, p in kinds.items() if p.kind is p.POSITIONAL_OR_KEYWORD] == POSITIONAL


@pytest.mark.parametrize("form", ["path", "proto"])
def test_a_proven_result_comes_with_true(form: str, model: Make, tmp_path: Path) -> None:
    source = model()
    before = source.SerializeToString()
    (tmp_path / "m.onnx").write_bytes(before)
    result, ok = simplify(tmp_path / "m.onnx" if form == "path" else source, check_n=3)
    assert ok is True
    assert operators(result) == ["Relu"]
    assert source.SerializeToString() == before


def test_an_unchanged_model_is_proven_too(model: Make) -> None:
    source = model("g (float[N] x) => (float[N] y) { y = Relu(x) }")
    assert simplify(source) == (source, True)


def test_an_unproven_result_is_the_source_false_and_a_warning(
    conv_batchnorm: onnx.ModelProto, monkeypatch: pytest.MonkeyPatch
) -> None:
    from onnxsim_ci.api import flow
    from onnxsim_ci.api.proving import Proven
    from onnxsim_ci.equivalence import Verdict

    doubt = Verdict(verdict="inconclusive", reason="no clear sample")
    monkeypatch.setattr(flow, "prove", lambda _, first, __, **___: Proven(first, doubt, ()))
    with pytest.warns(
        UserWarning, match=r"unproven \(inconclusive: no clear sample\); the source is returned"
    ):
        result, ok = simplify(conv_batchnorm)
    assert ok is False
    assert result == conv_batchnorm


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, ["Conv"]),
        ({"skip_fuse_bn": True}, ["Conv", "BatchNormalization"]),
        ({"skipped_optimizers": ["fuse_bn_into_conv"]}, ["Conv", "BatchNormalization"]),
        ({"perform_optimization": False}, ["Conv", "BatchNormalization"]),
        ({"skip_shape_inference": True}, ["Conv"]),
        ({"check_rtol": 1e-3}, ["Conv"]),
        ({"check_n": 2, "check_atol": 1e-3}, ["Conv"]),
    ],
)
def test_rules_are_left_out_as_asked(
    arguments: dict[str, Any], expected: list[str], conv_batchnorm: onnx.ModelProto
) -> None:
    result, ok = simplify(conv_batchnorm, **arguments)
    assert (operators(result), ok) == (expected, True)


def test_folding_can_be_left_out_and_bounded(model: Make) -> None:
    source = model("g (float[2] x) => (float[2] y) { n = Neg(w)  y = Add(x, n) }", w=np.ones(2, np.float32))
    assert operators(simplify(source)[0]) == ["Add"]
    assert operators(simplify(source, skip_constant_folding=True)[0]) == ["Neg", "Add"]
    assert operators(simplify(source, tensor_size_threshold="7B")[0]) == ["Neg", "Add"]
    assert operators(simplify(source, tensor_size_threshold="1.5GB")[0]) == ["Add"]


@pytest.mark.parametrize("name", ["overwrite_input_shapes", "input_shapes"])
@pytest.mark.parametrize("key", ["x", None])
def test_input_shapes_make_the_model_static(name: str, key: str | None, model: Make) -> None:
    result, ok = simplify(model(), **{name: {key: [4, 3]}})
    assert ok
    assert [d.dim_value for d in result.graph.input[0].type.tensor_type.shape.dim] == [4, 3]


@pytest.mark.parametrize("key", ["x", None])
def test_test_input_shapes_leave_the_model_dynamic(key: str | None, conv_batchnorm: onnx.ModelProto) -> None:
    result, ok = simplify(conv_batchnorm, test_input_shapes={key: [3, 3, 8, 8]})
    assert ok
    assert result.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "N"


def test_outputs_opset_and_functions(model: Make) -> None:
    two = model("g (float[N] x) => (float[N] y, float[N] z) { y = Relu(x)  z = Abs(x) }")
    assert [o.name for o in simplify(two, unused_output=["z"])[0].graph.output] == ["y"]
    assert simplify(two, target_opset_version=18)[0].opset_import[0].version == 18
    calls = model(
        """<ir_version: 8, opset_import: ["" : 17, "my" : 1]>
        g (float[N] x) => (float[N] y) { y = my.Twice(x) }
        <domain: "my", opset_import: ["" : 17]> Twice (a) => (b) { b = Add(a, a) }"""
    )
    assert operators(simplify(calls, inline_functions=True)[0]) == ["Add"]


def test_output_path_is_written_and_returned(model: Make, tmp_path: Path) -> None:
    result, ok = simplify(model(), output_path=tmp_path / "o.onnx")
    assert ok
    assert onnx.load(tmp_path / "o.onnx") == result


def test_external_data_come_back_inside(external: Path, tmp_path: Path) -> None:
    for arguments in ({}, {"output_path": tmp_path / "o.onnx"}):
        result, ok = simplify(external, **arguments)
        assert ok
        onnx.save(result, tmp_path / "saved.onnx")
        saved, source = (
            [onnx.numpy_helper.to_array(t) for t in onnx.load(p).graph.initializer]
            for p in (tmp_path / "saved.onnx", external)
        )
        np.testing.assert_equal(saved, source)
    assert sorted(os.listdir(external.parent)) == ["m.onnx", "weights.bin"]


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"overwrite_input_shapes": {"X": [4, 3]}}, BadInput, "did you mean 'x'"),
        ({"unused_output": ["z"]}, BadInput, "no output 'z'"),
        (
            {"skipped_optimizers": ["fuse_bn_into_con"]},
            BadPolicy,
            "argument skipped_optimizers.*did you mean",
        ),
        ({"extra_optimizers": ["fuse-nothing-at-all"]}, BadPolicy, "argument extra_optimizers"),
        ({"tensor_size_threshold": "large"}, BadPolicy, "argument tensor_size_threshold"),
        ({"target_opset_version": "newest"}, BadInput, "'newest' is not a number or latest"),
        ({"check_rtol": -1.0}, BadPolicy, "argument check_rtol"),
        ({"input_data": {"x": np.ones((1, 3), np.float32)}}, NotAvailable, "verify.data"),
        ({"input_fill": "zeros"}, NotAvailable, "'random'"),
        ({"custom_lib": "lib.so"}, NotAvailable, "cannot be loaded yet"),
        ({"providers": ["CUDAExecutionProvider"]}, NotAvailable, "CPUExecutionProvider only"),
        ({"initializers_as_constants": False}, NotAvailable, "simplify.keep"),
        ({"external_data_threshold": "1KB"}, NotAvailable, "external file"),
        ({"custom_rewriter": None}, TypeError, "no argument 'custom_rewriter'; the nearest is"),
        ({"skip_fuse_batchnorm": True}, TypeError, "the nearest is 'skip_fuse_bn'"),
        ({"skip_optimizers": ["x"]}, TypeError, "the nearest is 'skipped_optimizers'"),
    ],
)
def test_what_cannot_be_honoured_is_said(
    arguments: dict[str, Any], error: type[Exception], sentence: str, model: Make
) -> None:
    with pytest.raises(error, match=sentence):
        simplify(model(), **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {
            "input_data": None,
            "input_fill": "random",
            "custom_lib": None,
            "providers": ["CPUExecutionProvider"],
        },
        {"initializers_as_constants": True, "external_data_threshold": None, "mutable_initializer": True},
        {"dynamic_input_shape": False, "import_custom_schemas": False, "include_subgraph": True},
    ],
)
def test_what_asks_for_nothing_is_quiet(arguments: dict[str, Any], model: Make) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert simplify(model(), **arguments)[1]


@pytest.mark.parametrize(
    "name", ["dynamic_input_shape", "import_custom_schemas", "profile", "ort_profile", "merge_ort_profile"]
)
def test_what_changes_nothing_warns(name: str, model: Make) -> None:
    with pytest.warns(UserWarning, match=rf"{name}=\.\.\.\) changes nothing") as caught:
        assert simplify(model(), **{name: True})[1]
    assert caught[0].filename == __file__
