"""Half a gigabyte in one file, three beside one: weights stay where they lie, proof included."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper

pytestmark = pytest.mark.slow

COMMAND = Path(sys.executable).with_name("onnxsim-ci")
MIB = 1 << 20
SIDE = 2048
"""Weights are SIDE x SIDE float32: 16 MiB each."""

IMPORTS_ONLY = (
    "import onnx, numpy, onnxruntime, sys; sys.stdout.write('ready'); sys.stdout.flush(); sys.stdin.read()"
)


def layers(count: int) -> ModelProto:
    """MatMul, Add and Relu over and over, with an Identity between; no weights yet."""
    nodes, value = [], "x"
    for i in range(count):
        nodes += [
            helper.make_node("MatMul", [value, f"w{i}"], [f"m{i}"]),
            helper.make_node("Add", [f"m{i}", f"b{i}"], [f"a{i}"]),
            helper.make_node("Identity", [f"a{i}"], [f"c{i}"]),
            helper.make_node("Tanh", [f"c{i}"], [f"h{i}" if i < count - 1 else "y"]),
        ]
        value = f"h{i}"
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "layers", [info("x", 1, ["N", SIDE])], [info("y", 1, ["N", SIDE])])
    rng = np.random.default_rng(0)
    for i in range(count):
        bias = rng.standard_normal(SIDE).astype(np.float32) / 10
        graph.initializer.append(onnx.numpy_helper.from_array(bias, f"b{i}"))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def weight(number: int) -> bytes:
    rng = np.random.default_rng(number)
    return (rng.standard_normal((SIDE, SIDE), dtype=np.float32) / SIDE**0.5).tobytes()


def one_file(path: Path, count: int) -> None:
    model = layers(count)
    for i in range(count):
        model.graph.initializer.add(name=f"w{i}", data_type=1, dims=[SIDE, SIDE], raw_data=weight(i))
    path.write_bytes(model.SerializeToString())


def beside(path: Path, count: int) -> None:
    model = layers(count)
    with path.with_suffix(".bin").open("wb") as file:
        for i in range(count):
            tensor = model.graph.initializer.add(
                name=f"w{i}", data_type=1, dims=[SIDE, SIDE], data_location=TensorProto.EXTERNAL
            )
            data = weight(i)
            entries = (
                ("location", f"{path.stem}.bin"),
                ("offset", str(file.tell())),
                ("length", str(len(data))),
            )
            for key, value in entries:
                tensor.external_data.add(key=key, value=value)
            file.write(data)
    path.write_bytes(model.SerializeToString())


def anonymous_bytes(pid: int) -> int:
    """Anonymous memory of a process and its children."""
    total = 0
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                total = int(line.split()[1]) * 1024
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0
    return max([total, *(anonymous_bytes(int(child)) for child in children)])


def baseline() -> int:
    """Anonymous memory of an interpreter that has imported onnx, numpy and onnxruntime."""
    process = subprocess.Popen([sys.executable, "-c", IMPORTS_ONLY], stdin=-1, stdout=-1)
    assert process.stdout is not None
    process.stdout.read(5)
    found = anonymous_bytes(process.pid)
    process.communicate()
    return found


@pytest.mark.parametrize(("store", "count"), [(one_file, 30), (beside, 190)], ids=["500 MB", "3 GB"])
def test_memory_stays_small_with_the_proof_on(store: object, count: int, tmp_path: Path) -> None:
    source, target = tmp_path / "m.onnx", tmp_path / "out" / "o.onnx"
    target.parent.mkdir()
    store(source, count)  # type: ignore[operator]
    bytes_before = sum(f.stat().st_size for f in tmp_path.iterdir() if f.is_file())
    assert bytes_before > count * 16 * MIB
    peak = 0
    environment = {**os.environ, "ONNXSIM_CI_CACHE": str(tmp_path / "cache")}
    report = tmp_path / "report.json"
    with report.open("wb") as stdout:
        process = subprocess.Popen(
            [COMMAND, "simplify", source, "-o", target, "--json"], stdout=stdout, env=environment
        )
        while process.poll() is None:
            peak = max(peak, anonymous_bytes(process.pid))
            time.sleep(0.005)
    (entry,) = json.loads(report.read_text())["models"]
    assert (process.returncode, entry["outcome"]) == (0, "simplified"), entry
    above = peak - baseline()
    assert above <= 150 * MIB, entry["seconds"]
    result = onnx.load(target, load_external_data=False)
    assert "Identity" not in {n.op_type for n in result.graph.node}
    assert sum(f.stat().st_size for f in target.parent.iterdir()) <= bytes_before
    for file in (*tmp_path.glob("m.*"), *target.parent.iterdir()):  # pytest keeps the folders of three runs
        file.unlink()
