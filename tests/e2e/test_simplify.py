"""simplify as a process: every way to say where results go, and every exit code."""

import sys
from pathlib import Path
from typing import Any

import onnx
import pytest

from onnxsim_ci.report.model import Report


def operators(path: Path) -> list[str]:
    return [node.op_type for node in onnx.load(path).graph.node]


def test_one_file_to_a_named_output(here: Path, tool: Any) -> None:
    source = (here / "conv.onnx").read_bytes()
    done = tool("simplify", "conv.onnx", "-o", "out.onnx")
    assert (done.code, done.err) == (0, "")
    assert "conv.onnx -> out.onnx  written" in done.text
    assert "equivalent (samples)" in done.text
    assert operators(here / "out.onnx") == ["Conv", "Relu", "Conv", "Relu"]
    assert (here / "conv.onnx").read_bytes() == source


def test_a_second_run_changes_no_byte(here: Path, tool: Any) -> None:
    tool("simplify", "conv.onnx", "--in-place")
    first = (here / "conv.onnx").read_bytes()
    done = tool("simplify", "conv.onnx", "--in-place")
    assert done.code == 0
    assert "unchanged" in done.text
    assert (here / "conv.onnx").read_bytes() == first
    assert tool("check", "conv.onnx").code == 0


def test_two_processes_with_other_hash_seeds_write_the_same_bytes(
    here: Path, tool: Any, environment: dict[str, str]
) -> None:
    found = set()
    for seed in ("0", "1"):
        environment["PYTHONHASHSEED"] = seed
        tool("simplify", "conv.onnx", "-o", f"{seed}.onnx")
        found.add((here / f"{seed}.onnx").read_bytes())
    assert len(found) == 1


def test_in_out_and_check_n_as_onnxsim_takes_them(here: Path, tool: Any) -> None:
    done = tool("simplify", "models/a.onnx", "out.onnx", "3")
    assert done.code == 0
    assert operators(here / "out.onnx") == ["Relu", "Abs"]


def test_a_folder_into_a_folder(here: Path, tool: Any) -> None:
    done = tool("simplify", "models", "-o", "results")
    assert done.code == 0
    assert "2 models: 2 written" in done.text
    assert operators(here / "results" / "a.onnx") == ["Relu", "Abs"]
    assert operators(here / "results" / "deep" / "b.onnx") == ["Relu", "Abs"]
    assert operators(here / "models" / "a.onnx") == ["Identity", "Relu", "Dropout", "Abs"]


def test_in_place_leaves_nothing_beside(here: Path, tool: Any) -> None:
    assert tool("simplify", "models", "--in-place").code == 0
    assert operators(here / "models" / "deep" / "b.onnx") == ["Relu", "Abs"]
    assert sorted(p.name for p in (here / "models").iterdir()) == ["a.onnx", "deep"]


def test_standard_input_to_standard_output(here: Path, tool: Any) -> None:
    done = tool("simplify", "-", "-o", "-", stdin=(here / "models" / "a.onnx").read_bytes())
    assert done.code == 0
    model = onnx.ModelProto.FromString(done.out)
    assert [node.op_type for node in model.graph.node] == ["Relu", "Abs"]
    assert "written" in done.err


def test_json_is_the_report_and_nothing_else_is_on_standard_output(here: Path, tool: Any) -> None:
    done = tool("simplify", "models", "conv.onnx", "--json")
    assert done.code == 0
    report = Report.model_validate_json(done.out, strict=True)
    assert [entry.path for entry in report.models] == ["models/a.onnx", "models/deep/b.onnx", "conv.onnx"]
    assert {entry.verdict.basis for entry in report.models} == {"exact", "samples"}
    assert report.models[2].written is None


def test_one_broken_file_of_many_is_exit_2_and_the_rest_is_written(here: Path, tool: Any) -> None:
    broken = here / "models" / "broken.onnx"
    broken.write_bytes((here / "conv.onnx").read_bytes()[:200])
    before = broken.read_bytes()
    done = tool("simplify", "models", "--in-place")
    assert done.code == 2
    assert "2 written, 1 failed" in done.text
    assert "Traceback" not in done.text + done.err
    assert operators(here / "models" / "a.onnx") == operators(here / "models" / "deep" / "b.onnx")
    assert broken.read_bytes() == before


def test_over_its_budget_a_result_is_not_written(here: Path, tool: Any) -> None:
    done = tool("simplify", "grows.onnx", "-o", "out.onnx", "--set", "simplify.max_growth=1MiB")
    assert done.code == 1
    assert "budget.bytes" in done.text
    assert not (here / "out.onnx").exists()


def test_unproven_is_exit_3_and_nothing_is_written(here: Path, tool: Any) -> None:
    done = tool("simplify", "conv.onnx", "-o", "out.onnx", "--set", "verify.timeout=0.000001s")
    assert done.code == 3
    assert "time limit" in done.text
    assert not (here / "out.onnx").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(("sources", "waiting"), [(("conv.onnx",), 1), (("models", "conv.onnx"), 2)])
def test_ctrl_c_is_130_and_leaves_nothing(
    here: Path, interrupted: Any, sources: tuple[str, ...], waiting: int
) -> None:
    before = {path: path.read_bytes() for path in here.rglob("*.onnx")}
    done = interrupted("simplify", *sources, "--in-place", "--jobs", "2", waiting=waiting)
    assert done.code == 130
    assert "Traceback" not in done.err
    assert {path: path.read_bytes() for path in here.rglob("*.onnx")} == before
