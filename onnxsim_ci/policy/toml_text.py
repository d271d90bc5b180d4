"""A policy as TOML: with the origin of each value (`policy show`), or a commented start (`policy init`).

House: policy. May import policy.document, layers.
Touch: tests/policy/test_toml_text.py reads the text back.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from onnxsim_ci.policy.document import Policy
from onnxsim_ci.policy.layers import Resolved

_WIDTH = 44

SCHEMA_PLACE = ".onnxsim-ci/policy.schema.json"
"""Where `policy init` puts the schema for editors, beside the policy."""


def shown(resolved: Resolved, settled: Policy, preset_reason: str = "") -> str:
    """The effective policy as TOML; every value with its origin as a comment.

    Args:
        resolved: The policy with its provenance.
        settled: The same policy after its preset.
        preset_reason: Why `auto` picked this preset; empty if the user named it.
    """
    data = settled.model_dump(mode="json", exclude={"overrides", "extends"})
    raw = resolved.policy.model_dump(mode="json")
    preset = f"preset {settled.preset}"
    lines: list[str] = []

    def line(keys: tuple[str, ...], value: Any, before: Any) -> None:
        origin = resolved.origin(*keys)
        if keys == ("preset",) and preset_reason:
            origin = f"{resolved.policy.preset}: {preset_reason}"
        elif origin == "default" and value != before:
            origin = preset
        text = f"{toml_key(keys[-1])} = {toml_value(value)}"
        lines.append(f"{text:<{_WIDTH}}  # {origin}")

    for key, value in data.items():
        if not isinstance(value, dict):
            line((key,), value, raw[key])
    for section, table in data.items():
        if isinstance(table, dict):
            lines.extend(("", f"[{section}]"))
            for key, value in table.items():
                if value is not None and not (section == "budget" and key == "base"):
                    line((section, key), value, raw[section].get(key))
    return "\n".join(lines) + "\n"


def toml_key(key: str) -> str:
    """The key, quoted where TOML asks for it."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def toml_value(value: object) -> str:
    """The value as TOML; JSON's texts and numbers are TOML's too."""
    if isinstance(value, Mapping):
        return (
            "{ " + ", ".join(f"{toml_key(str(k))} = {toml_value(v)}" for k, v in value.items()) + " }"
            if value
            else "{}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def refusal_override(
    pattern: str, refused: Sequence[str], *, prefix: str = "", skipped: Sequence[str] = ()
) -> str:
    """An `[[overrides]]` table that leaves refused rules out for the models of `pattern`.

    Args:
        pattern: Relative to the policy file.
        refused: Rule ids; `rounding` where only bit-identical rewrites passed.
        prefix: `tool.onnxsim-ci.` inside pyproject.toml, else empty.
        skipped: Rules that the policy skips already; the new list replaces theirs.
    """
    rules = [rule for rule in refused if rule != "rounding"]
    lines = [f"[[{prefix}overrides]]", f"files = [{toml_value(pattern)}]"]
    if rules:
        lines.append(f"simplify.skip = {toml_value(list(dict.fromkeys([*skipped, *rules])))}")
    if len(rules) < len(refused):
        lines.append("simplify.rounding = false")
    return "\n".join(lines) + "\n"


def commented_start(
    dynamic_inputs: Mapping[str, tuple[str, ...]], *, large_models: tuple[str, ...] = ()
) -> str:
    """A policy file to start from: every line a default, the ones worth a thought as comments.

    Args:
        dynamic_inputs: Names of free dimensions by input, of the models that were found.
        large_models: Paths of models above 256 MiB.
    """
    lines = [
        f"#:schema ./{SCHEMA_PLACE}",
        "version = 1",
        'preset = "auto"      # static, dynamic or large, chosen for each model',
        'include = ["**/*.onnx"]',
        "exclude = []",
        "",
        "[simplify]",
        'level = "fusion"     # off | basic | fusion',
        "skip = []            # rules that never run; `onnxsim-ci rules` lists them",
        "",
        "[verify]",
        'mode = "required"    # an unproven result is not written',
        '# data = "tests/data/*.npz"   # your own inputs, used first',
    ]
    if dynamic_inputs:
        names = sorted({name for names in dynamic_inputs.values() for name in names} - {"?"})
        bound = ", ".join(f"{toml_key(name)} = 1" for name in names)
        lines += ["", "# [shapes]             # to make dynamic inputs static", f"# bind = {{ {bound} }}"]
    lines += ["", "[budget]", 'nodes = "+0"', 'bytes = "+0"']
    for path in large_models:
        lines += ["", "[[overrides]]", f"files = [{json.dumps(path)}]", 'limits.memory = "4GiB"']
    return "\n".join(lines) + "\n"
