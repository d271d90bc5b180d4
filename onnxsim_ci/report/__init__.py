"""What was found out: the report model, its builders, gates and renderers.

Belongs here: one versioned pydantic model, functions of it, one file a renderer. Does not: how rewriting or
proving works; the flow hands plain values to the builders.

House: report. May import policy, cache and errors. The text renderer imports rich, so it is imported by its
module name (`onnxsim_ci.report.text`), when it is needed.
Touch: schema/report.schema.json is generated (`make docs`).
"""

from onnxsim_ci.report.build import (
    build_report,
    environment,
    failed_entry,
    figures,
    merge_reports,
    policy_sha256,
    rule_uses,
    skipped_entry,
    verdict_report,
)
from onnxsim_ci.report.gates import budget_judgements, exit_code, judge, may_write
from onnxsim_ci.report.json_text import render_json, report_schema_text
from onnxsim_ci.report.model import (
    Evidence,
    Failure,
    Figures,
    Judgement,
    ModelReport,
    OutputEvidence,
    Refusal,
    Report,
    RuleUse,
    VerdictReport,
)

__all__ = [
    "Evidence",
    "Failure",
    "Figures",
    "Judgement",
    "ModelReport",
    "OutputEvidence",
    "Refusal",
    "Report",
    "RuleUse",
    "VerdictReport",
    "budget_judgements",
    "build_report",
    "environment",
    "exit_code",
    "failed_entry",
    "figures",
    "judge",
    "may_write",
    "merge_reports",
    "policy_sha256",
    "render_json",
    "report_schema_text",
    "rule_uses",
    "skipped_entry",
    "verdict_report",
]
