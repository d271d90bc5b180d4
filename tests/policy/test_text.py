"""Schema, `policy show` and `policy init` as texts that are read back."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

from onnxsim_ci.policy import Policy, resolve
from onnxsim_ci.policy.schema import policy_schema, policy_schema_text
from onnxsim_ci.policy.toml_text import commented_start, shown

ROOT = Path(__file__).resolve().parents[2]


def test_the_committed_schema_is_the_generated_one() -> None:
    assert (ROOT / "schema" / "policy.schema.json").read_text(encoding="utf-8") == policy_schema_text()


def test_every_field_of_every_section_is_described() -> None:
    schema = policy_schema()
    for definition in (schema, *schema["$defs"].values()):
        assert definition.get("description"), definition["title"]
        for name, field in definition.get("properties", {}).items():
            if definition["title"] != "Allowance":
                assert "description" in field or "$ref" in field, f"{definition['title']}.{name}"
    assert schema["$schema"].endswith("2020-12/schema")
    json.dumps(schema)


def test_a_shown_policy_is_toml_that_says_the_same_with_its_origins(
    repository: Path, write: Callable[[str, str], Path]
) -> None:
    write("onnxsim-ci.toml", '[verify]\nsamples = 9\nshapes = { x = [1, 3] }\n[shapes]\n"a b" = [1, 2]\n')
    resolved = resolve(repository / "m.onnx", environ={})
    settled = resolved.policy.settled(live_weight_bytes=2**30, has_dynamic_inputs=False)
    text = shown(resolved, settled, "big")
    assert Policy.model_validate(tomllib.loads(text)).model_dump() == settled.model_dump()
    lines = {
        line.partition(" = ")[0]: line.rpartition("  # ")[2] for line in text.splitlines() if " = " in line
    }
    assert lines["samples"] == "onnxsim-ci.toml:2:1"
    assert lines["fold_max_bytes"] == "preset large"
    assert lines["preset"] == "auto: big"
    assert lines["seed"] == "default"
    assert lines['"a b"'] == "onnxsim-ci.toml:5:1"


def test_a_commented_start_is_a_policy_of_defaults() -> None:
    text = commented_start({"x": ("batch", "?")}, large_models=("big.onnx",))
    assert text.startswith("#:schema ")
    assert "# bind = { batch = 1 }" in text
    policy = Policy.model_validate(tomllib.loads(text))
    assert policy.overrides[0].files == ("big.onnx",)
    assert policy.model_copy(update={"overrides": ()}) == Policy()
