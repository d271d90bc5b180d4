"""The benchmarks run and say what they promise, on the smallest sizes; no figure is judged here."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import onnx
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


def run(script: str, *arguments: object) -> str:
    command = [sys.executable, str(FOLDER / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout


def written(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text())
    assert found["packages"]["onnx"] == onnx.__version__
    return dict(found)


@pytest.mark.parametrize("form", [(), ("--dynamic",)])
def test_the_generated_model_is_valid_and_of_the_size_asked_for(
    tmp_path: Path, form: tuple[str, ...]
) -> None:
    run("graphs.py", tmp_path / "m.onnx", "--nodes", 300, *form)
    model = onnx.load(tmp_path / "m.onnx")
    onnx.checker.check_model(model, full_check=True)
    assert 300 <= sum(node.op_type != "Constant" for node in model.graph.node) < 450


def test_growth_counts_visits_and_compares_sizes(tmp_path: Path) -> None:
    out = run("growth.py", "--nodes", 120, 480, "--repeats", 1, "--json", tmp_path / "f.json")
    assert out.count("visits a node at") == 2
    growth = written(tmp_path / "f.json")["growth"]
    for kind in ("static", "dynamic"):
        small, large = growth[kind]["rows"]
        assert large["nodes"] > small["nodes"]
        assert large["visits_a_node"] <= 1.1 * small["visits_a_node"]


def test_command_splits_its_seconds(tmp_path: Path) -> None:
    pytest.importorskip("onnxsim")
    run("graphs.py", tmp_path / "m.onnx", "--nodes", 120)
    run("command.py", tmp_path / "m.onnx", "--repeats", 1, "--json", tmp_path / "f.json")
    (row,) = written(tmp_path / "f.json")["command"]
    assert {tool: figures["code"] for tool, figures in row["tools"].items()} == {
        "onnxsim-ci": 0,
        "onnxsim": 0,
    }
    assert list(row["split"]) == ["start", "load", "simplify", "prove", "save"]


def test_memory_measures_both_forms_and_removes_them(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    sizes = ("--single-mb", 2, "--external-mb", 3, "--width", 128)
    run("memory.py", *sizes, "--ours-only", "--folder", folder, "--json", tmp_path / "f.json")
    models = written(tmp_path / "f.json")["memory"]["models"]
    assert [row["code"] for rows in models.values() for row in rows] == [0, 0]
    assert list(folder.iterdir()) == []


def test_peers_are_judged_right_or_wrong(tmp_path: Path) -> None:
    run("graphs.py", tmp_path / "m.onnx", "--nodes", 120, "--dynamic")
    tools = ("--tools", "onnxsim-ci", "ort_basic")
    out = run("peers.py", tmp_path / "m.onnx", *tools, "--json", tmp_path / "f.json")
    (row,) = written(tmp_path / "f.json")["peers"]
    assert {tool: figures["verdict"] for tool, figures in row["tools"].items()} == {
        "onnxsim-ci": "right",
        "ort_basic": "right",
    }
    assert row["tools"]["onnxsim-ci"]["nodes"] < row["nodes"]
    assert "1 of 1" in out


def test_the_judge_tells_a_wrong_result(tmp_path: Path) -> None:
    run("graphs.py", tmp_path / "m.onnx", "--nodes", 120)
    model = onnx.load(tmp_path / "m.onnx")
    erf = next(node for node in model.graph.node if node.op_type == "Erf")
    erf.op_type = "Tanh"
    onnx.save(model, tmp_path / "wrong.onnx")
    script = (
        "import pathlib, judging; judge = judging.Judge(pathlib.Path('m.onnx'));"
        "print([judge.verdict(pathlib.Path(name)) for name in ('m.onnx', 'wrong.onnx')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(FOLDER)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "['right', 'wrong']"
