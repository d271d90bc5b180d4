"""Shapes of onnxruntime's own operators, against runs of it."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from onnxsim_ci.analysis import Facts, infer
from onnxsim_ci.analysis.transfer.contrib import CONTRIB
from onnxsim_ci.model import Weights, build_graph, element_type

SCALE, ZERO = "scale", "zero"
BINARY = ("x", SCALE, ZERO, "y", SCALE, ZERO, SCALE, ZERO)
LSTM = ("f", "w", "r", "", "", "", "", "", "ws", "wz", "rs", "rz")
CASES = {
    "QLinearAdd": (BINARY, {}),
    "QLinearMul": (BINARY, {}),
    "QLinearConcat": ((SCALE, ZERO, "x", SCALE, ZERO, "x", SCALE, ZERO), {"axis": -1}),
    "QLinearLeakyRelu": (("x", SCALE, ZERO, SCALE, ZERO), {"alpha": 0.1}),
    "QLinearSigmoid": (("x", SCALE, ZERO, SCALE, ZERO), {}),
    "DynamicQuantizeLSTM": (LSTM, {"hidden_size": 2, "direction": "bidirectional"}),
}
HIDDEN, WIDTH = 2, 3


def _model(op_type: str) -> onnx.ModelProto:
    names, attributes = CASES[op_type]
    count = 3 if op_type == "DynamicQuantizeLSTM" else 1
    outputs = [f"o{i}" for i in range(count)]
    node = helper.make_node(op_type, names, outputs, domain="com.microsoft", **attributes)
    constants = {
        SCALE: np.float32(0.5),
        ZERO: np.uint8(3),
        "w": np.ones((2, WIDTH, 4 * HIDDEN), np.int8),
        "r": np.ones((2, HIDDEN, 4 * HIDDEN), np.int8),
        **{name: np.ones(2, np.float32) for name in ("ws", "rs")},
        **{name: np.zeros(2, np.int8) for name in ("wz", "rz")},
    }
    inputs = {
        "x": (TensorProto.UINT8, ["N", 4]),
        "y": (TensorProto.UINT8, [3, 1, 4]),
        "f": (TensorProto.FLOAT, ["T", "N", WIDTH]),
    }
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info(n, *kind) for n, kind in inputs.items() if n in names],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in constants.items() if n in names],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


@pytest.mark.parametrize("op_type", sorted(CONTRIB))
def test_what_the_table_says_is_what_the_runtime_makes(op_type: str) -> None:
    model = _model(op_type)
    sizes = {"N": 5, "T": 6}
    names = CASES[op_type][0]
    feeds = {
        "x": np.arange(20, dtype=np.uint8).reshape(5, 4),
        "y": np.arange(12, dtype=np.uint8).reshape(3, 1, 4),
        "f": np.ones((sizes["T"], sizes["N"], WIDTH), np.float32),
    }
    session = onnxruntime.InferenceSession(model.SerializeToString())
    made = session.run(None, {n: a for n, a in feeds.items() if n in names})
    graph = build_graph(model)
    facts = Facts(graph, Weights(b"", None))
    infer(graph, model)
    node = graph.root.nodes[0]
    assert facts.transfer(node)
    for value, array in zip(node.outputs, made, strict=True):
        assert value is not None
        assert facts.dtype(value) == element_type(array.dtype)
        shape = facts.shape(value)
        assert shape is not None
        known = {"x[0]": sizes["N"], "f[0]": sizes["T"], "f[1]": sizes["N"]}
        assert tuple(d if isinstance(d, int) else known[str(d)] for d in shape) == array.shape


def test_a_local_function_of_the_same_name_teaches_nothing() -> None:
    model = _model("QLinearSigmoid")
    node = helper.make_node("Identity", ["a"], ["b"])
    function = helper.make_function(
        "com.microsoft",
        "QLinearSigmoid",
        ["a", "c", "d", "e", "f"],
        ["b"],
        [node],
        [helper.make_opsetid("", 17)],
    )
    model.functions.append(function)
    graph = build_graph(model)
    facts = Facts(graph, Weights(b"", None))
    assert not facts.transfer(graph.root.nodes[0])


@pytest.mark.parametrize(
    ("op_type", "misfit"),
    [("QLinearConcat", {"axis": "one"}), ("DynamicQuantizeLSTM", {"hidden_size": "many"})],
)
def test_attributes_of_another_type_teach_no_shape(op_type: str, misfit: dict[str, str]) -> None:
    names, attributes = CASES[op_type]
    node = helper.make_node(op_type, names, ["o"], domain="com.microsoft", **{**attributes, **misfit})
    inputs = [
        helper.make_tensor_value_info(n, TensorProto.UINT8, [2, 3, 4]) for n in dict.fromkeys(names) if n
    ]
    output = helper.make_tensor_value_info("o", TensorProto.UINT8, None)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(
        helper.make_graph([node], "g", inputs, [output]), opset_imports=opsets, ir_version=9
    )
    graph = build_graph(model)
    infer(graph, model)
    facts = Facts(graph, Weights(b"", None))
    facts.transfer(graph.root.nodes[0])
    assert facts.shape(graph.root.values["o"]) is None
