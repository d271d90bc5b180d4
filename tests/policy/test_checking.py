"""A policy of 300 lines with twelve mistakes: each told in one run, with line and suggestion."""

from pathlib import Path
from typing import Any

import pytest

from onnxsim_ci import __version__
from onnxsim_ci.cli import run
from onnxsim_ci.errors import BadPolicy
from onnxsim_ci.hooks.door import run as run_hook
from onnxsim_ci.policy import resolve
from onnxsim_ci.policy.checking import check_policy_file
from onnxsim_ci.policy.rule_names import ONNXSIM_PASSES

TEXT = Path(__file__).with_name("mistakes.toml").read_text(encoding="utf-8")


def line_of(start: str) -> int:
    return next(n for n, line in enumerate(TEXT.splitlines(), 1) if line.strip().startswith(start))


GEM = line_of('"fuse-batchnorm-into-gem"')
REPEATED = line_of('files = ["models/family03/**"]                     #')
NOWHERE = line_of('files = ["models/familie09/**"]')

EXPECTED_PROBLEMS = [
    f"onnxsim-ci.toml:{line_of('version')}:1: version: version 3 is not known to onnxsim-ci {__version__}, "
    "which reads 1",
    f"onnxsim-ci.toml:{line_of('preset')}:1: preset: expected "
    '"auto" or "static" or "dynamic" or "large" or "edge" or "none", not "statik"; did you mean \'static\'?',
    f"onnxsim-ci.toml:{GEM}:5: simplify.skip.1: unknown rule "
    "'fuse-batchnorm-into-gem'; did you mean 'fuse-batchnorm-into-gemm'?",
    f'onnxsim-ci.toml:{line_of("rounding")}:1: simplify.rounding: expected true or false, not "yes"',
    f"onnxsim-ci.toml:{line_of('fold_max_bytes')}:1: simplify.fold_max_bytes: '64 megabytes' is not a size "
    'such as "64MiB" (units B KB MB GB KiB MiB GiB) or a number of bytes',
    f"onnxsim-ci.toml:{line_of('sampels')}:1: verify.sampels: unknown key; did you mean 'samples'?",
    f"onnxsim-ci.toml:{line_of('data =')}:1: verify.data: '../data/*.npz' must be relative to the policy's "
    "folder, without '..'",
    f"onnxsim-ci.toml:{line_of('symbol_values')}:1: verify.symbol_values: expected at most 16, not 99",
    f"onnxsim-ci.toml:{line_of('[budgets]')}:2: budgets: unknown section or key; did you mean 'budget'?",
    f"onnxsim-ci.toml:{REPEATED}:1: overrides.7.files: the same files as in overrides.3; merge them",
    "shared/base.toml:1:12: extends in a circle: onnxsim-ci.toml -> shared/base.toml -> onnxsim-ci.toml",
]
EXPECTED_WARNING = (
    f"onnxsim-ci.toml:{NOWHERE}:1: overrides.9.files matches no file; did you mean 'models/family09/**'?"
)


@pytest.fixture
def large(repository: Path, write: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository that the policy is for, but for its mistakes."""
    for index in range(40):
        write(f"models/family{index:02d}/m.onnx", "")
    write("shared/base.toml", 'extends = ["../onnxsim-ci.toml"]\n')
    monkeypatch.chdir(repository)
    return write("onnxsim-ci.toml", TEXT)


def test_all_mistakes_are_told_in_one_run_and_nothing_else(large: Path) -> None:
    assert len(TEXT.splitlines()) == 300
    found = check_policy_file(large)
    assert list(found.problems) == EXPECTED_PROBLEMS
    assert found.warnings == (EXPECTED_WARNING,)


def test_the_command_and_the_hook_say_the_same(large: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policy", "check"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert sorted(said) == sorted(
        [f"warning: {EXPECTED_WARNING}", *(f"error[bad-policy]: {line}" for line in EXPECTED_PROBLEMS)]
    )
    assert run_hook(["--check-policies", "onnxsim-ci.toml"]) == 2
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(said)


def test_a_model_under_such_a_policy_is_not_touched(large: Path) -> None:
    with pytest.raises(BadPolicy) as caught:
        resolve(large.parent / "models" / "family00" / "m.onnx", environ={})
    assert list(caught.value.problems) == EXPECTED_PROBLEMS


def test_without_its_mistakes_the_policy_is_fine(large: Path) -> None:
    mended = [line for line in TEXT.splitlines() if "mistake:" not in line and "# cycle" not in line]
    text = "\n".join(mended).replace("familie09", "family09")
    text = text.replace('["models/family03/**"]                     #', '["models/family07/**"]  #')
    large.write_text(text)
    found = check_policy_file(large)
    assert (found.problems, found.warnings) == ((), ())
    assert resolve(large.parent / "models" / "family10" / "m.onnx", environ={}).policy.verify.seed == 10


def test_a_pyproject_of_somebody_else_has_no_findings(write: Any) -> None:
    other = write("pyproject.toml", "[tool.other]\nx = 1\n")
    assert check_policy_file(other).problems == ()
    gone = other.with_name("onnxsim-ci.toml")
    assert "there is no such policy file" in check_policy_file(gone).problems[0]


def test_a_base_that_is_no_toml_is_told_beside_the_rest(write: Any) -> None:
    file = write("onnxsim-ci.toml", 'extends = ["base.toml", "gone.toml"]\nverify.sampels = 3\n')
    write("base.toml", "= nonsense")
    problems = check_policy_file(file).problems
    assert len(problems) == 3
    assert problems[0].startswith("onnxsim-ci.toml:2:8: verify.sampels")
    assert problems[1].startswith("base.toml: not TOML: ")
    assert problems[2].startswith("onnxsim-ci.toml:1:25: extends 'gone.toml'")


def test_names_of_onnxsim_that_mean_nothing_here_are_warnings(write: Any) -> None:
    idle = next(name for name, rules in ONNXSIM_PASSES.items() if not rules)
    file = write("onnxsim-ci.toml", f'[simplify]\nskip = ["{idle}", "fuse_bn_into_conv"]\n')
    found = check_policy_file(file)
    assert found.problems == ()
    assert found.warnings == (
        f"onnxsim-ci.toml:2:9: simplify.skip.0: {idle!r} has no effect: no rule does its work",
    )
