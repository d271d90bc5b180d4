"""Which weights a rule may replace: own, float, of moderate size, inside the model's file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from onnxsim_ci import Policy, optimize

UNPROVEN = Policy.model_validate({"verify": {"mode": "off"}})


def scaled_product(rows: int, columns: int) -> onnx.ModelProto:
    """x times 3, times a matrix."""
    weight = np.random.default_rng(0).standard_normal((rows, columns)).astype(np.float32)
    nodes = [helper.make_node("Mul", ["x", "c"], ["m"]), helper.make_node("MatMul", ["m", "w"], ["y"])]
    info = helper.make_tensor_value_info
    tensors = [numpy_helper.from_array(np.float32(3), "c"), numpy_helper.from_array(weight, "w")]
    graph = helper.make_graph(
        nodes, "g", [info("x", 1, ["N", rows])], [info("y", 1, ["N", columns])], tensors
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def left(path: Path) -> list[str]:
    """Operators of the result of a model on disk."""
    target = path.with_name("result.onnx")
    optimize(path, output=target, policy=UNPROVEN)
    return [n.op_type for n in onnx.load(target if target.exists() else path).graph.node]


def test_a_weight_of_moderate_size_is_replaced(tmp_path: Path) -> None:
    onnx.save(scaled_product(512, 512), tmp_path / "m.onnx")
    assert left(tmp_path / "m.onnx") == ["MatMul"]


def test_a_large_weight_stays(tmp_path: Path) -> None:
    onnx.save(scaled_product(2048, 1025), tmp_path / "m.onnx")
    assert left(tmp_path / "m.onnx") == ["Mul", "MatMul"]


def test_a_weight_in_a_data_file_stays(tmp_path: Path) -> None:
    model = scaled_product(256, 256)
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="m.bin")
    assert left(tmp_path / "m.onnx") == ["Mul", "MatMul"]
