"""Command lines written for onnxsim."""

from pathlib import Path

import pytest

from onnxsim_ci.cli.compat import spelled_out


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("simplify a.onnx b.onnx 3", "simplify a.onnx b.onnx 3"),
        (
            "simplify a.onnx b.onnx --overwrite-input-shape x:1,3 y:2",
            "simplify a.onnx b.onnx --overwrite-input-shape x:1,3 --overwrite-input-shape y:2",
        ),
        ("simplify --input-shape 1,3,8,8 a.onnx b.onnx", "simplify --input-shape 1,3,8,8 a.onnx b.onnx"),
        (
            "simplify a.onnx --skip-optimization fuse_bn_into_conv fuse_pad_into_pool",
            "simplify a.onnx --skip-optimization fuse_bn_into_conv --skip-optimization fuse_pad_into_pool",
        ),
        ("simplify --skip-optimization a.onnx", "simplify --skip-optimization all a.onnx"),
        ("simplify a.onnx --skip-optimization", "simplify a.onnx --skip-optimization all"),
        ("simplify a.onnx --no-large-tensor", "simplify a.onnx --no-large-tensor 1KB"),
        ("simplify a.onnx --no-large-tensor 1M --json", "simplify a.onnx --no-large-tensor 1M --json"),
        (
            "simplify a.onnx --unused-output p q --json",
            "simplify a.onnx --unused-output p --unused-output q --json",
        ),
        ("simplify --unused-output p a.onnx b.onnx 3", "simplify --unused-output p a.onnx b.onnx 3"),
        ("simplify a.onnx --keep_io_names", "simplify a.onnx --keep-io-names"),
        ("simplify -- --input-shape 1 2", "simplify -- --input-shape 1 2"),
        ("simplify --input-shape", "simplify --input-shape"),
    ],
)
def test_options_with_several_values_are_spelled_out(line: str, expected: str) -> None:
    assert spelled_out(line.split()) == expected.split()


def test_a_file_is_never_taken_for_a_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models").mkdir()
    monkeypatch.chdir(tmp_path)
    assert spelled_out(["simplify", "--skip-optimization", "models"]) == [
        "simplify", "--skip-optimization", "all", "models",
    ]  # fmt: skip
