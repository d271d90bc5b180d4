"""What is public, what importing costs, what the metadata say."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import onnxsim_ci
from onnxsim_ci.errors import ExitCode, OnnxsimCiError, worst

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

PUBLIC = [
    "BadInput",
    "BadPolicy",
    "Differs",
    "NotProven",
    "OnnxsimCiError",
    "Policy",
    "Report",
    "Result",
    "Verdict",
    "__version__",
    "optimize",
    "simplify",
    "verify",
]


def test_the_public_names_are_these() -> None:
    assert sorted(onnxsim_ci.__all__) == PUBLIC
    assert dir(onnxsim_ci) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_can_be_had(name: str) -> None:
    assert getattr(onnxsim_ci, name) is not None


def test_the_stub_has_the_same_names() -> None:
    text = (ROOT / "onnxsim_ci" / "__init__.pyi").read_text(encoding="utf-8")
    assert sorted([*re.findall(r" as (\w+)$", text, re.MULTILINE), "__version__"]) == PUBLIC


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'simplfy'"):
        _ = onnxsim_ci.simplfy


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, onnxsim_ci; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & {
        "onnx",
        "numpy",
        "onnxruntime",
        "mlflow",
        "pydantic",
        "typer",
        "rich",
    }


def test_there_is_one_version() -> None:
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "onnxsim_ci/__init__.py"
    assert re.fullmatch(r"\d+\.\d+\.\d+", onnxsim_ci.__version__)


def test_types_are_shipped() -> None:
    assert (ROOT / "onnxsim_ci" / "py.typed").exists()


def test_extras_are_those_of_the_design() -> None:
    assert set(PROJECT["project"]["optional-dependencies"]) == {
        "action",
        "mlflow",
        "cluster",
        "quantize",
        "dev",
    }


def test_the_lock_pins_every_default_and_development_dependency() -> None:
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    text = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    pinned = {canonicalize_name(line.split("==")[0]) for line in text.splitlines() if "==" in line}
    asked = [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["dev"]]
    for requirement in map(Requirement, asked):
        assert canonicalize_name(requirement.name) in pinned
    assert "http" not in text


def test_fragments_have_a_kind() -> None:
    kinds = {entry["directory"] for entry in PROJECT["tool"]["towncrier"]["type"]}
    for path in (ROOT / "changelog.d").iterdir():
        if path.name != "README.md":
            assert path.name.split(".")[1] in kinds, path.name


def test_every_exception_has_its_own_code_and_a_known_exit_code() -> None:
    from onnxsim_ci import errors

    found = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, OnnxsimCiError)
    ]
    codes = [kind.code for kind in found if kind is not OnnxsimCiError]
    assert len(codes) == len(set(codes))
    for kind in found:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", kind.code)
        assert kind.exit_code in ExitCode
        assert kind.__name__ in (errors.__doc__ or "")


@pytest.mark.parametrize(
    ("codes", "expected"),
    [([], 0), ([0, 3], 3), ([3, 1], 1), ([1, 2], 2), ([2, 70, 1], 70), ([70, 130], 130), ([0, 42], 70)],
)
def test_the_worst_exit_code_wins(codes: list[int], expected: int) -> None:
    assert worst(codes) == expected


def test_an_error_travels_between_processes() -> None:
    import pickle

    error = onnxsim_ci.BadPolicy("x", problems=("a",), where="f", hint="h")
    found = pickle.loads(pickle.dumps(error))
    assert (str(found), found.where, found.hint, found.problems) == ("a", "f", "h", ("a",))
