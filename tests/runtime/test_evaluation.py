from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxsim_ci.runtime import (
    ModelImage,
    RunFailure,
    RuntimeRefusal,
    evaluate_nodes,
    open_session,
    reference_run,
    run_once,
    runtime_supports,
    runtime_version,
)

FOLD = "g () => (float[2] y, int64[1] s) <float[2] w = {1, 2}> { y = Add(w, w) s = Shape(w) }"


def test_run_once_evaluates_a_model_without_inputs(image):
    answer = run_once(image(FOLD))
    np.testing.assert_array_equal(answer["y"], [2, 4])
    np.testing.assert_array_equal(answer["s"], [2])


def test_evaluate_nodes_keeps_the_order_of_outputs(image):
    first, second = evaluate_nodes(image(FOLD).data)
    assert first.dtype == np.float32
    assert second.dtype == np.int64


def test_reference_evaluator_agrees(image):
    answer = reference_run(image(FOLD), {})
    np.testing.assert_array_equal(answer["y"], [2, 4])


def test_reference_evaluator_reads_external_data(image, tmp_path):
    model = onnx.ModelProto.FromString(image(FOLD).data)
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
    data = (tmp_path / "m.onnx").read_bytes()
    answer = reference_run(ModelImage(data=data, folder=str(tmp_path)), {})
    np.testing.assert_array_equal(answer["y"], [2, 4])


def test_reference_evaluator_refuses_an_unknown_operator(image):
    text = '<ir_version: 8, opset_import: ["" : 17, "my" : 1]> g (float x) => (float y) { y = my.Odd(x) }'
    with pytest.raises(RuntimeRefusal, match="Odd"):
        reference_run(image(text), {})


def test_reference_evaluator_reports_a_failing_run(image):
    text = "g (float[2] x, float[3] z) => (float[2] y) { y = Add(x, z) }"
    with pytest.raises(RunFailure, match="reference evaluator"):
        reference_run(image(text), {"x": np.ones(2, np.float32), "z": np.ones(3, np.float32)})


def test_the_runtime_lacks_kernels_that_the_reference_has(image):
    text = '<ir_version: 8, opset_import: ["" : 17]> g (bfloat16[2] x) => (bfloat16[2] y) { y = Erf(x) }'
    with pytest.raises(RuntimeRefusal, match="Could not find an implementation"):
        open_session(image(text))


@pytest.mark.parametrize(("ir", "opset"), [(8, 17), (10, {"": 21}), (4, {"ai.onnx": 9, "other": 400})])
def test_supported_versions(ir, opset):
    assert runtime_supports(ir, opset) is None


@pytest.mark.parametrize(("ir", "opset"), [(999, 17), (8, 999)])
def test_versions_from_the_future_are_explained(ir, opset):
    reason = runtime_supports(ir, opset)
    assert reason is not None
    assert runtime_version() in reason
    assert "999" in reason
