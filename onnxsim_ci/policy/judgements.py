"""What a change may cost and what is reported: budget, gate, report.

House: policy. May import pydantic and policy.fields.
Touch: schema/policy.schema.json and docs/policy.md (`make docs`);
onnxsim_ci/report/gates.py judges by these fields.
"""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from onnxsim_ci.policy.fields import Bytes, Relative, Section, only
from onnxsim_ci.policy.quantities import parse_allowance

NO_MORE = parse_allowance("+0")


class BaseBudget(Section):
    """Head against base of a repository; everything is off by default."""

    nodes: Annotated[Relative | None, only(None)] = None
    """Nodes of head against base."""
    bytes: Annotated[Relative | None, only(None)] = None
    """Bytes of head against base."""
    macs: Annotated[Relative | None, only(None)] = None
    """Multiply-adds of head against base."""
    peak_memory: Annotated[Relative | None, only(None)] = None
    """Peak activation memory of head against base."""
    latency: Annotated[Relative | None, only(None)] = None
    """Latency of head against base."""
    max_bytes: Annotated[Bytes | None, only(None)] = None
    """Most bytes of head."""


class Budget(Section):
    """A result against its own source; one over it is not written."""

    nodes: Relative = NO_MORE
    """Nodes of the result against those of its source."""
    bytes: Relative = NO_MORE
    """Bytes of the result, file and live external data, against those of its source."""
    max_nodes: Annotated[int, Field(ge=0)] | None = None
    """Most nodes of a result."""
    max_bytes: Bytes | None = None
    """Most bytes of a result."""
    base: BaseBudget = BaseBudget()
    """Head against base of a repository."""


class Gate(Section):
    """What makes a check fail."""

    simplified: bool = True
    """A committed model that simplify would change is a finding."""
    unchanged_outputs: Annotated[bool, only(False)] = False  # noqa: FBT003 - the value, not a switch
    """Base and head must be equivalent."""
    supported: Annotated[bool, only(False)] = False  # noqa: FBT003 - the value, not a switch
    """The target must be able to run every node."""


class ReportOptions(Section):
    """What is reported and kept."""

    formats: Annotated[
        tuple[Literal["text", "json", "markdown", "html", "junit"], ...], Field(strict=False)
    ] = ("text",)
    """Renderings to write; markdown, html and junit are not available yet."""
    evidence: Literal["off", "file", "git-note"] = "off"
    """file: what this machine proved, in `model.onnx.evidence.json` beside a written result; git-note: as a
    note on its blob, ref `onnxsim-ci`."""
    history: Annotated[bool, only(False)] = False  # noqa: FBT003 - the value, not a switch
    """Append one JSON line a model to the history."""

    @field_validator("formats")
    @classmethod
    def _built(cls, formats: tuple[str, ...]) -> tuple[str, ...]:
        missing = [name for name in formats if name not in ("text", "json")]
        if missing:
            raise ValueError(f"{', '.join(missing)} is not available yet in this version; text and json are")
        return formats
