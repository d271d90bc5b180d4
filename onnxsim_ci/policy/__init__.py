"""What the user decided: the policy file as one frozen value, its discovery, layers and mistakes.

Belongs here: fields and their meaning, presets, provenance, messages about a policy. Does not: whoever acts
on a policy; `onnxsim_ci.api` compiles it to the plain values of the floors below.

House: policy. pydantic lives here and in report. May import lower floors.
Touch: schema/policy.schema.json and docs/policy.md are generated (`make docs`).
"""

from onnxsim_ci.policy.discovery import FILE_NAMES, work_tree
from onnxsim_ci.policy.document import Override, Policy
from onnxsim_ci.policy.judgements import Budget, Gate, ReportOptions
from onnxsim_ci.policy.later import Measure, Mlflow, Quantize, Target
from onnxsim_ci.policy.layers import (
    FILE_VARIABLE,
    Resolved,
    environment_problems,
    from_settings,
    matches,
    policy_file_of,
    resolve,
)
from onnxsim_ci.policy.onnxsim import OnnxsimChoice
from onnxsim_ci.policy.presets import choose_preset
from onnxsim_ci.policy.quantities import Allowance, format_bytes, parse_bytes
from onnxsim_ci.policy.rule_names import rule_families, rule_ids
from onnxsim_ci.policy.sections import Limits, Shapes, Simplify, Verify
from onnxsim_ci.policy.settings import Setting, flag_settings

__all__ = [
    "FILE_NAMES",
    "FILE_VARIABLE",
    "Allowance",
    "Budget",
    "Gate",
    "Limits",
    "Measure",
    "Mlflow",
    "OnnxsimChoice",
    "Override",
    "Policy",
    "Quantize",
    "ReportOptions",
    "Resolved",
    "Setting",
    "Shapes",
    "Simplify",
    "Target",
    "Verify",
    "choose_preset",
    "environment_problems",
    "flag_settings",
    "format_bytes",
    "from_settings",
    "matches",
    "parse_bytes",
    "policy_file_of",
    "resolve",
    "rule_families",
    "rule_ids",
    "work_tree",
]
