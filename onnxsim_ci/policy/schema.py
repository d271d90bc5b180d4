"""The JSON schema of a policy file, for editors: draft 2020-12, with titles, descriptions and defaults.

House: policy. May import policy.document.
Touch: schema/policy.schema.json (`make docs`); tests/policy/test_schema.py compares them.
"""

import json
from typing import Any

from onnxsim_ci.policy.document import Policy

SCHEMA_ID = "urn:onnxsim-ci:policy:1"


EXAMPLE: dict[str, Any] = {
    "version": 1,
    "preset": "auto",
    "exclude": ["third_party/**"],
    "simplify": {"level": "fusion", "skip": ["fuse-batchnorm-into-conv"], "fold_max_bytes": "64MiB"},
    "shapes": {"images": [1, 3, 640, 640], "bind": {"batch": 1}},
    "verify": {"samples": 6, "data": "tests/data/*.npz", "timeout": "300s"},
    "budget": {"nodes": "+0", "bytes": "+5%", "max_bytes": "20MiB"},
    "overrides": [{"files": ["models/vad/**"], "simplify": {"level": "basic"}}],
}
"""A policy that shows most forms; editors offer it."""


def policy_schema() -> dict[str, Any]:
    """The schema as plain values."""
    schema = Policy.model_json_schema(mode="validation")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        **schema,
        "title": "onnxsim-ci policy",
        "examples": [EXAMPLE],
    }


def policy_schema_text() -> str:
    """The schema as it is committed."""
    return json.dumps(policy_schema(), indent=2, ensure_ascii=False) + "\n"
