"""Names that a model or a policy chose do not steer the terminal of who looks at them."""

from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

EVIL = "ev\x1b[31mil\x9b\u202e"


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    nodes = [
        helper.make_node(EVIL, ["x"], [EVIL], domain=EVIL),
        helper.make_node("Identity", [EVIL], ["y"], name=EVIL),
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, EVIL]) for name in ("x", "y")]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(EVIL, 1)]
    graph = helper.make_graph(nodes, EVIL, ends[:1], ends[1:])
    monkeypatch.chdir(tmp_path)
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), f"{EVIL}.onnx")
    return f"{EVIL}.onnx"


@pytest.mark.parametrize(
    "words",
    [["inspect"], ["check"], ["simplify"], ["explain"], ["verify", ""], ["diff", ""]],
    ids=" ".join,
)
def test_what_a_model_says_is_printed_as_escapes(model: str, call: Any, words: list[str]) -> None:
    done = call(*(model if word == "" else word for word in words), model)
    said = done.out + done.err
    assert "\\x1b[31m" in said
    assert not set("\x1b\x9b\u202e") & set(said)


def test_what_a_policy_says_is_printed_as_escapes(tmp_path: Path, call: Any) -> None:
    (tmp_path / "onnxsim-ci.toml").write_text('["\\u001b[2Jk"]\n', encoding="utf-8")
    done = call("policy", "check", str(tmp_path / "onnxsim-ci.toml"))
    assert done.code == 2
    assert "\\x1b[2Jk" in done.err
    assert "\x1b" not in done.err
