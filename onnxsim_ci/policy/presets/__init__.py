"""Presets: small TOML files that set what the user did not.

Belongs here: one file a preset, and the choice among them. Does not: how policies are merged.

House: policy. May import errors.
Touch: `Preset` in policy/document.py names the files; docs/policy.md shows them.
"""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

LARGE_BYTES = 256 * 2**20
"""Live weights above this make a model large."""


@cache
def preset_tables(name: str) -> dict[str, Any]:
    """The tables of the preset `name` (static, dynamic, large, edge or none)."""
    return tomllib.loads(files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))


def choose_preset(*, live_weight_bytes: int, has_dynamic_inputs: bool) -> tuple[str, str]:
    """Name of the preset that `auto` means for a model, and the sentence that says why."""
    if live_weight_bytes > LARGE_BYTES:
        mebibytes = live_weight_bytes / 2**20
        return "large", f"{mebibytes:.0f} MiB of live weights are more than {LARGE_BYTES // 2**20} MiB"
    if has_dynamic_inputs:
        return "dynamic", "an input has a free dimension"
    return "static", "all inputs have fixed shapes"
