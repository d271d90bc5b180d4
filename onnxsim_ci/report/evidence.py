"""What the author's machine proved about a model, as a small file beside it, or as a git note.

It holds no times, so that the same proof gives the same bytes, and names the model by digest, so that it says
nothing about any other bytes. Whoever reads it takes it for a claim: it was made on the author's machine.

House: report. May import pydantic.
Touch: `FORM` when a field changes; api/writing.py writes it, cli/inspect.py shows it.
"""

import json
from collections.abc import Mapping
from typing import Literal

from pydantic import ValidationError

from onnxsim_ci.report.model import (
    Environment,
    Figures,
    Record,
    Refusal,
    Report,
    RuleUse,
    VerdictReport,
)

SUFFIX = ".evidence.json"
"""After the model's whole name: `model.onnx.evidence.json`."""


class Claim(Record):
    """The evidence file of one model."""

    form: Literal[1] = 1
    """Form of this document."""
    model_sha256: str
    """Digest of the model that this is about."""
    data_sha256: Mapping[str, str]
    """Digests of its external data files, by location."""
    source_sha256: str
    """Digest of the model that it was made from."""
    tool: str
    """Name and version of the tool."""
    environment: Environment
    """What the proof was run with."""
    policy_sha256: str
    """Digest of the effective policy."""
    source: Figures
    """Figures of the source."""
    result: Figures
    """Figures of the model."""
    verdict: VerdictReport
    """Whether both compute the same, and how that is known."""
    rules: tuple[RuleUse, ...]
    """What each rule did."""
    refusals: tuple[Refusal, ...]
    """Rules left out, because their results did not pass the proof."""
    assumptions: tuple[str, ...]
    """Claims of the model that a rewrite relied on."""


def claim_text(report: Report, *, source: str, model: str, data: Mapping[str, str]) -> str:
    """The evidence file for the one model of `report`, with the digests of source, model and data files."""
    entry = report.models[0]
    assert entry.source is not None
    assert entry.result is not None
    claim = Claim(
        model_sha256=model,
        data_sha256=data,
        source_sha256=source,
        tool=report.tool,
        environment=report.environment,
        policy_sha256=report.policy_sha256,
        source=entry.source,
        result=entry.result,
        verdict=entry.verdict,
        rules=entry.rules,
        refusals=entry.refusals,
        assumptions=entry.assumptions,
    )
    plain = claim.model_dump(mode="json", exclude={"verdict": {"evidence": {"seconds"}}})
    return json.dumps(plain, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def read_claim(text: bytes) -> Claim | None:
    """The claim in an evidence file; None if it has another form."""
    try:
        return Claim.model_validate_json(text)
    except ValidationError:
        return None
