"""The report as JSON: the wire format itself.

House: report. A pure function of the report.
Touch: schema/report.schema.json describes this text.
"""

import json
from typing import Any

from onnxsim_ci.report.model import SCHEMA_VERSION, Report

SCHEMA_ID = f"urn:onnxsim-ci:report:{SCHEMA_VERSION}"


def render_json(report: Report) -> str:
    """The report as an indented JSON document with a final line break."""
    return report.model_dump_json(indent=2) + "\n"


def report_schema() -> dict[str, Any]:
    """The JSON schema of that document, draft 2020-12."""
    schema = Report.model_json_schema(mode="serialization")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        **schema,
        "title": "onnxsim-ci report",
    }


def report_schema_text() -> str:
    """The schema as it is committed."""
    return json.dumps(report_schema(), indent=2, ensure_ascii=False) + "\n"
