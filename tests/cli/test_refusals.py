"""Rules that were left out, as policy lines."""

import tomllib
from pathlib import Path

import pytest

from onnxsim_ci.cli.many import Finished
from onnxsim_ci.cli.refusals import append_refusals, override_text
from onnxsim_ci.errors import ExitCode
from onnxsim_ci.policy import Policy, resolve
from onnxsim_ci.report import ModelReport, Refusal, build_report


def entry_of(path: Path, *rules: str) -> ModelReport:
    refusals = tuple(Refusal(rule=rule, reason="differs") for rule in rules)
    return ModelReport(path=str(path), outcome="simplified", refusals=refusals)


def finish(entry: ModelReport) -> Finished:
    resolved = resolve(entry.path, environ={})
    return Finished(report=build_report([entry]), resolved=(resolved,), code=ExitCode.FINE)


def test_the_text_is_a_valid_override() -> None:
    text = override_text("/m.onnx", entry_of(Path("m.onnx"), "fuse-pad-into-conv", "rounding"), prefix="")
    (override,) = Policy.model_validate(tomllib.loads(text)).overrides
    assert override.files == ("/m.onnx",)
    assert override.simplify is not None
    assert override.simplify.skip == ("fuse-pad-into-conv",)
    assert override.simplify.rounding is False


def test_without_a_policy_one_is_made_at_the_root(here: Path) -> None:
    model = here / "models" / "a.onnx"
    append_refusals(finish(entry_of(model, "fuse-pad-into-conv")))
    assert resolve(model, environ={}).policy.simplify.skip == ("fuse-pad-into-conv",)
    assert (here / "onnxsim-ci.toml").exists()


@pytest.mark.parametrize("name", ["onnxsim-ci.toml", "pyproject.toml"])
def test_an_override_is_appended_and_keeps_what_was_skipped(here: Path, name: str) -> None:
    model = here / "models" / "a.onnx"
    prefix = "tool.onnxsim-ci." if name == "pyproject.toml" else ""
    (here / name).write_text(f"[{prefix}simplify]\nskip = ['matmul']  # mine")
    append_refusals(finish(entry_of(model, "fuse-pad-into-conv")))
    assert "# mine" in (here / name).read_text()
    assert resolve(model, environ={}).policy.simplify.skip == ("matmul", "fuse-pad-into-conv")
    assert resolve(here / "simple.onnx", environ={}).policy.simplify.skip == ("matmul",)


def test_a_second_override_for_the_same_file_is_printed_not_written(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = here / "models" / "a.onnx"
    append_refusals(finish(entry_of(model, "fuse-pad-into-conv")))
    before = (here / "onnxsim-ci.toml").read_text()
    append_refusals(finish(entry_of(model, "eliminate-cast")))
    assert (here / "onnxsim-ci.toml").read_text() == before
    assert "eliminate-cast" in capsys.readouterr().err
