"""A rule with a planted fault: never written, named, left out, and remembered."""

import json
import tomllib
from pathlib import Path
from typing import Any

import onnx
import pytest


def operators(path: Path) -> list[str]:
    return [node.op_type for node in onnx.load(path).graph.node]


@pytest.mark.parametrize("fault", ["epsilon", "scale"])
@pytest.mark.parametrize("kind", ["conv", "gemm"])
def test_a_wrong_fusion_is_caught_and_the_rest_is_written(
    here: Path, tool: Any, fault: str, kind: str
) -> None:
    done = tool("simplify", f"{kind}.onnx", "-o", "out.onnx", "--json", fault=fault)
    (entry,) = json.loads(done.out)["models"]
    assert (done.code, entry["outcome"], entry["verdict"]["verdict"]) == (0, "simplified", "equivalent")
    (refusal,) = entry["refusals"]
    assert refusal["rule"] == f"fuse-batchnorm-into-{kind}"
    assert refusal["reason"].startswith("at 'norm1': ")
    found = operators(here / "out.onnx")
    assert "BatchNormalization" in found
    assert "Identity" not in found


def test_the_printed_lines_make_the_next_run_clean(here: Path, tool: Any) -> None:
    done = tool("simplify", "conv.onnx", "--in-place", fault="epsilon")
    assert done.code == 0
    lines = done.err[done.err.index("[[overrides]]") :]
    assert tomllib.loads(lines) == {
        "overrides": [{"files": ["conv.onnx"], "simplify": {"skip": ["fuse-batchnorm-into-conv"]}}]
    }
    (here / "cache").rename(here / "another-cache")
    assert tool("check", "conv.onnx").code == 1
    (here / "onnxsim-ci.toml").write_text(lines)
    assert tool("check", "conv.onnx").code == 0


def test_write_policy_makes_the_next_run_clean(here: Path, tool: Any) -> None:
    tool("simplify", "conv.onnx", "--in-place", "--write-policy", "--no-cache", fault="scale")
    written = (here / "conv.onnx").read_bytes()
    assert "BatchNormalization" in operators(here / "conv.onnx")
    done = tool("simplify", "conv.onnx", "--in-place", "--no-cache")
    assert done.code == 0
    assert "unchanged" in done.text
    assert (here / "conv.onnx").read_bytes() == written
    assert tool("policy", "check").code == 0


def test_without_policy_lines_the_cache_remembers(here: Path, tool: Any) -> None:
    tool("simplify", "conv.onnx", "--in-place", fault="epsilon")
    written = (here / "conv.onnx").read_bytes()
    done = tool("simplify", "conv.onnx", "--in-place")
    assert (done.code, (here / "conv.onnx").read_bytes()) == (0, written)


def test_fail_writes_nothing(here: Path, tool: Any) -> None:
    done = tool("simplify", "conv.onnx", "-o", "out.onnx", "--set", "verify.on_mismatch=fail", fault="scale")
    assert done.code == 1
    assert not (here / "out.onnx").exists()


def test_save_repro_leaves_a_small_model_that_shows_it(here: Path, tool: Any) -> None:
    tool("simplify", "conv.onnx", "-o", "out.onnx", "--save-repro", "repro", fault="epsilon")
    models = sorted((here / "repro").rglob("*.onnx"))
    assert models
    assert any("BatchNormalization" in operators(path) for path in models)
