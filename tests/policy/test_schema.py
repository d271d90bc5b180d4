"""The schema is draft 2020-12, says what each key means, and judges as we do, in two tools of others."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from onnxsim_ci.cli import run
from onnxsim_ci.policy import Policy
from onnxsim_ci.policy.schema import EXAMPLE, policy_schema

ROOT = Path(__file__).resolve().parent.parent.parent
SCHEMA = ROOT / "schema" / "policy.schema.json"
MISTAKES = Path(__file__).with_name("mistakes.toml").read_text(encoding="utf-8")
GOOD = """
version = 1
required_version = ">=0.0"
extends = ["base.toml"]
simplify.opset = 17
verify.shapes = { a = [1, 2], b = [[1, 2], [3, 4]] }
verify.rtol = 1e-3
limits = { memory = 1000, fold_work = "1G" }
budget = { nodes = "-10%", bytes = 0, max_nodes = 500 }
[shapes]
images = [1, 3, -1, 640]
bind = { batch = 1 }
[[overrides]]
files = ["models/**", "!models/x.onnx"]
simplify.level = "basic"
shapes.tokens = [1, 128]
"""


def tool(name: str, *arguments: object) -> "subprocess.CompletedProcess[str]":
    place = Path(sys.executable).with_name(name)
    return subprocess.run([str(place), *map(str, arguments)], capture_output=True, text=True, check=False)


def lint(folder: Path, text: str) -> "subprocess.CompletedProcess[str]":
    """What tombi says about a policy whose first line names the schema."""
    (folder / "policy.toml").write_text(f"#:schema {SCHEMA.as_uri()}\n{text}", encoding="utf-8")
    return tool("tombi", "lint", "--offline", folder / "policy.toml")


def test_the_committed_schema_is_the_generated_one() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == policy_schema()


def test_it_is_a_schema_of_its_draft() -> None:
    schema = policy_schema()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"]
    done = tool("check-jsonschema", "--check-metaschema", SCHEMA)
    assert done.returncode == 0, done.stdout


def test_each_key_has_a_title_and_a_meaning() -> None:
    schema = policy_schema()
    tables = [schema, *schema["$defs"].values()]
    for table in tables:
        for key, value in table.get("properties", {}).items():
            assert "$ref" in str(value) or (value.get("title") and value.get("description")), key
        assert table["description"]


def test_its_example_is_a_policy() -> None:
    assert Policy.model_validate(EXAMPLE).verify.samples == 6


@pytest.mark.parametrize("text", [GOOD, ""])
def test_what_we_accept_they_accept(text: str, tmp_path: Path) -> None:
    Policy.model_validate(tomllib.loads(text))
    done = lint(tmp_path, text)
    assert (done.returncode, "Error" in done.stdout + done.stderr) == (0, False), done.stdout + done.stderr
    done = tool("check-jsonschema", "--schemafile", SCHEMA, tmp_path / "policy.toml")
    assert done.returncode == 0, done.stdout


def test_what_a_schema_can_say_they_say_where_it_stands(tmp_path: Path) -> None:
    done = lint(tmp_path, MISTAKES)
    assert done.returncode == 1
    lines = MISTAKES.splitlines()
    told = {int(number) - 1 for number in re.findall(r"policy\.toml:(\d+):", done.stderr + done.stdout)}
    starts = ("preset", "rounding", "fold_max_bytes", "sampels", "symbol_values", "[budgets]")
    assert told == {n for n, line in enumerate(lines, 1) if line.startswith(starts)}
    done = tool("check-jsonschema", "--schemafile", SCHEMA, tmp_path / "policy.toml")
    assert done.returncode == 1


def test_a_fresh_policy_is_clean_for_editors_and_for_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["policy", "init"]) == 0
    done = tool("tombi", "lint", "--offline", "--error-on-warnings", "onnxsim-ci.toml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert run(["policy", "check"]) == 0
    assert capsys.readouterr().err == ""
