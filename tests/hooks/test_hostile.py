"""Committed files that ask for a lot, reach out, nest or lie: bounded time and memory, one sentence each."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

SECONDS = 5.0
"""Of processor time: a machine that is busy with something else takes longer by the clock."""
MEGABYTES = 500

MEASURED = """
import json, os, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
spent, peak = used.ru_utime + used.ru_stime, used.ru_maxrss // 1024
said = {"code": done.returncode, "out": done.stdout + done.stderr}
print(json.dumps({**said, "seconds": spent, "megabytes": peak}))
"""


@pytest.fixture
def measured(here: Path) -> Any:
    """Runs the hook as a process; the largest resident size of any process of it."""
    script = Path(sys.executable).with_name("onnxsim-ci")

    def call(*names: str) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, str(script), "hook", "--no-cache", *names],
            cwd=here, capture_output=True, text=True, check=True,
        )  # fmt: skip
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return call


def written(path: Path, nodes: list[onnx.NodeProto], weights: list[TensorProto], shape: list[int]) -> Path:
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "g", [], [output], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def array(name: str, values: Any) -> TensorProto:
    return numpy_helper.from_array(np.asarray(values), name)


def bomb(path: Path) -> Path:
    """33 doublings of one number, beside a few nodes that can be simplified."""
    nodes = [helper.make_node("Concat", [f"t{i}"] * 2, [f"t{i + 1}"], axis=0) for i in range(33)]
    nodes += [helper.make_node("Identity", ["t33"], ["i"]), helper.make_node("Identity", ["i"], ["j"])]
    nodes += [helper.make_node("ReduceSum", ["j"], ["y"], keepdims=0)]
    return written(path, nodes, [array("t0", np.ones(1, np.float32))], [])


def wide_bomb(path: Path) -> Path:
    nodes = [
        helper.make_node("ConstantOfShape", ["s"], ["c"]),
        helper.make_node("Identity", ["c"], ["i"]),
        helper.make_node("ReduceSum", ["i"], ["y"], keepdims=0),
    ]
    return written(path, nodes, [array("s", np.array([40_000, 40_000], np.int64))], [])


def escape(path: Path) -> Path:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", "../../../../../../etc/passwd"), ("offset", "0"), ("length", "16")):
        tensor.external_data.add(key=key, value=value)
    return written(path, [helper.make_node("Identity", ["w"], ["y"])], [tensor], [4])


def liar(path: Path) -> Path:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1 << 30], raw_data=b"\0" * 16)
    return written(path, [helper.make_node("Identity", ["w"], ["y"])], [tensor], [1 << 30])


def nest(path: Path, levels: int = 10_000) -> Path:
    """Graphs in attributes of nodes of graphs; byte by byte: protobuf writes no such thing."""
    graph = b""
    for _ in range(levels):
        attribute = field(6, graph)
        graph = field(1, field(5, attribute))
    path.write_bytes(b"\x08\x08" + field(7, graph) + b"\x42\x02\x10\x11")
    return path


def field(number: int, data: bytes) -> bytes:
    length, size = b"", len(data)
    while size > 127:
        length += bytes([size & 127 | 128])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + data


@pytest.mark.parametrize(
    ("make", "sentence"),
    [(escape, "is not inside the model's folder"), (nest, "nests deeper"), (liar, "tensor 'w'")],
)
def test_what_reaches_out_nests_or_lies_is_refused_in_one_sentence(
    here: Path, measured: Any, make: Any, sentence: str
) -> None:
    before = make(here / "m.onnx").read_bytes()
    found = measured("m.onnx")
    assert (found["code"], len(found["out"].splitlines())) == (2, 1), found
    assert sentence in found["out"]
    assert "root:" not in found["out"]
    assert (here / "m.onnx").read_bytes() == before
    assert found["seconds"] < SECONDS
    assert found["megabytes"] < MEGABYTES


@pytest.mark.parametrize("make", [bomb, wide_bomb])
def test_a_fold_bomb_is_simplified_and_not_unfolded(here: Path, measured: Any, make: Any) -> None:
    size = os.path.getsize(make(here / "m.onnx"))
    found = measured("m.onnx")
    assert found["code"] in (0, 1), found
    model = onnx.load(here / "m.onnx")
    assert os.path.getsize(here / "m.onnx") < size, found["out"]
    assert "Identity" not in {node.op_type for node in model.graph.node}, found["out"]
    assert found["seconds"] < SECONDS, found
    assert found["megabytes"] < MEGABYTES, found


def test_all_of_them_at_once(here: Path, measured: Any) -> None:
    for make in (bomb, wide_bomb, escape, liar, nest):
        make(here / f"{make.__name__}.onnx")
    found = measured("bomb.onnx", "wide_bomb.onnx", "escape.onnx", "liar.onnx", "nest.onnx")
    assert (found["code"], len(found["out"].splitlines())) == (2, 5), found
    assert found["megabytes"] < MEGABYTES, found
