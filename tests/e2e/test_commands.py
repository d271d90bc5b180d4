"""The other commands as processes: what they print, and with which exit code they end."""

import json
import shutil
from pathlib import Path
from typing import Any

from onnxsim_ci.report.model import Report


def test_check_tells_what_would_change_and_writes_nothing(here: Path, tool: Any) -> None:
    before = (here / "models" / "a.onnx").read_bytes()
    done = tool("check", "models", "--json")
    assert done.code == 1
    report = Report.model_validate_json(done.out, strict=True)
    assert all(entry.judgements for entry in report.models)
    assert (here / "models" / "a.onnx").read_bytes() == before
    tool("simplify", "models", "--in-place")
    assert tool("check", "models").code == 0


def test_verify_has_an_exit_code_for_each_verdict(here: Path, tool: Any) -> None:
    tool("simplify", "conv.onnx", "-o", "same.onnx")
    done = tool("verify", "conv.onnx", "same.onnx", "--json")
    (entry,) = Report.model_validate_json(done.out, strict=True).models
    assert (done.code, entry.relation, entry.verdict.verdict) == (0, "pair", "equivalent")
    assert tool("verify", "models/a.onnx", "models/deep/b.onnx").code == 0
    assert tool("verify", "conv.onnx", "models/a.onnx").code == 1
    assert tool("verify", "conv.onnx", "gone.onnx").code == 2


def test_inspect_and_text_read_the_model(here: Path, tool: Any) -> None:
    done = tool("inspect", "conv.onnx")
    assert done.code == 0
    assert "x: float [N, 3, 12, 12]" in done.text
    assert json.loads(tool("inspect", "conv.onnx", "--json").out)["figures"]["nodes"] == 7
    text = tool("text", "conv.onnx")
    assert text.code == 0
    assert "= Conv(i, w)" in text.text
    shutil.copy(here / "conv.onnx", here / "copy.onnx")
    assert tool("text", "copy.onnx").out == text.out


def test_explain_gives_each_reason(here: Path, tool: Any) -> None:
    done = tool("explain", "conv.onnx")
    assert done.code == 0
    assert "+ fuse-batchnorm-into-conv" in done.text
    why_not = tool("explain", "models/a.onnx", "eliminate-cast")
    assert why_not.code == 0


def test_rules_and_their_pages(tool: Any) -> None:
    rows = json.loads(tool("rules", "--json").out)
    assert len(rows) > 25
    page = tool("rule", rows[0]["id"])
    assert page.code == 0
    assert page.text.startswith(rows[0]["id"])
    assert tool("rule", "no-such-rule").code == 2


def test_policy_and_cache_speak(here: Path, tool: Any) -> None:
    assert tool("policy", "init").code == 0
    assert tool("policy", "check").code == 0
    assert "samples = 6" in tool("policy", "show", "conv.onnx").text
    assert json.loads(tool("policy", "schema").out)["title"] == "onnxsim-ci policy"
    assert tool("cache", "info").code == 0


def test_usage_mistakes_are_exit_2(tool: Any) -> None:
    for words in (("frobnicate",), ("simplify",), ("simplify", "conv.onnx", "--frobnicate"), ("check",)):
        done = tool(*words)
        assert done.code == 2
        assert "Traceback" not in done.err


def test_version_and_help(tool: Any) -> None:
    assert tool("--version").text.startswith("onnxsim-ci ")
    assert "simplify" in tool("--help").text
    assert "--in-place" in tool("simplify", "--help").text
