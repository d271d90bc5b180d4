"""Options are known exactly; everything else is a file, whatever it looks like."""

import pytest

from onnxsim_ci.errors import BadInput
from onnxsim_ci.hooks.arguments import Request, parse


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], Request()),
        (["a.onnx", "-dash.onnx"], Request(files=("a.onnx", "-dash.onnx"))),
        (["--check", "a.onnx"], Request(mode="check", files=("a.onnx",))),
        (["--check-policies", "p.toml"], Request(mode="policies", files=("p.toml",))),
        (["--set", "verify.seed=3", "--set=a.b=c=d"], Request(sets=("verify.seed=3", "a.b=c=d"))),
        (["--policy", "-p.toml", "x"], Request(policy="-p.toml", files=("x",))),
        (["--policy=p.toml"], Request(policy="p.toml")),
        (["--jobs=3", "--no-cache"], Request(jobs=3, uses_cache=False)),
        (["--require-content"], Request(requires_content=True)),
        (["--", "--check", "--jobs"], Request(files=("--check", "--jobs"))),
        (["--checks", "--chec", "-check", "--jobs.onnx", "--check=1"],
         Request(files=("--checks", "--chec", "-check", "--jobs.onnx", "--check=1"))),
        (["--check.onnx"], Request(files=("--check.onnx",))),
        (["--help"], Request(wants_help=True)),
    ],
)  # fmt: skip
def test_words_mean(words: list[str], expected: Request) -> None:
    assert parse(words) == expected


@pytest.mark.parametrize("words", [["--jobs"], ["--set"], ["--jobs", "0"], ["--jobs=-1"], ["--jobs=two"]])
def test_an_option_without_a_proper_value_is_one_sentence(words: list[str]) -> None:
    with pytest.raises(BadInput, match=r"needs a value|is not a number above zero"):
        parse(words)
