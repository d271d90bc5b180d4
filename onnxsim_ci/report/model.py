"""The report: what was found out, as one versioned value. Renderers, gates and doors read nothing else.

Every float is finite or None. A difference between the generated schema and the committed one needs a new
`schema_version` and an upgrader over plain dicts.

House: report. pydantic; no core objects, so that reading a report imports no onnx.
Touch: schema/report.schema.json (`make docs`); the renderers; CONTRIBUTING recipe 3.
"""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION = 1

VerdictName = Literal["equivalent", "differs", "inconclusive", "not run"]
BasisName = Literal["digest", "exact", "samples", "islands"]
Outcome = Literal[
    "simplified", "unchanged", "unproven", "differs", "over budget", "failed", "skipped", "compared"
]


class Record(BaseModel):
    """A part of the report: frozen, nothing unknown, no NaN or infinity."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False, from_attributes=True
    )


class Figures(Record):
    """Static figures of one model, by the definitions of `onnxsim_ci.model.statistics`."""

    nodes: int
    """Nodes of all scopes, without Constant nodes; a local function's body counts per call."""
    constant_nodes: int = 0
    """Constant nodes of all scopes."""
    parameters: int
    """Elements of initializers and Constant tensors."""
    initializers: int
    """Initializers in all scopes."""
    file_bytes: int
    """Serialized model, without external data."""
    external_bytes: int = 0
    """External data that the model refers to."""
    operators: Mapping[str, int]
    """Nodes by operator; operators of other domains as `domain::Operator`."""
    opsets: Mapping[str, int]
    """Imported opsets by domain."""
    ir_version: int
    """IR version of the file."""
    functions: int = 0
    """Local functions."""

    @property
    def total_bytes(self) -> int:
        """File plus external data."""
        return self.file_bytes + self.external_bytes


class OutputEvidence(Record):
    """How one output compared, over all samples; the worst of each figure."""

    name: str
    """Output of the model."""
    noise_units: float | None = None
    """L2 difference in units of what rounding does to the source; None: bits equal, no floats, not finite."""
    relative_l2: float | None = None
    """L2 difference over the L2 norm of the source's output; None: no floats, or not finite."""
    max_abs: float | None = None
    """Largest absolute difference; None where nothing finite was compared."""
    baseline_l2: float | None = None
    """What rounding does to the source, relative; None: not needed, the bits were equal."""
    unequal_ratio: float | None = None
    """Share of unequal integers, booleans or strings; None: floats."""
    note: str = ""
    """What else is to be known, such as a NaN position or a tie that explains a difference."""


class Evidence(Record):
    """What a verdict rests on; enough to repeat the check."""

    samples: int = 0
    """Ordinary input samples compared."""
    sizes: tuple[tuple[tuple[str, int], ...], ...] = ()
    """Sizes of the free dimensions, by sample."""
    profiles: tuple[str, ...] = ()
    """Kinds of inputs that the samples were drawn from."""
    seed: int = 0
    """Seed of the samples."""
    notes: tuple[str, ...] = ()
    """What samples were special: equalities broken, files read; what was not covered."""
    hazards: tuple[str, ...] = ()
    """Hazard samples that agreed bit for bit."""
    worst_output: str | None = None
    """Output with the most noise units."""
    noise_units: float | None = None
    """Its noise units; None if not known or not finite."""
    outputs: tuple[OutputEvidence, ...] = ()
    """One entry an output."""
    caught: int = 0
    """Planted weight errors that the samples told apart."""
    planted: int = 0
    """Planted weight errors."""
    covered: tuple[str, ...] = ()
    """Values inside the model at which islands were compared."""
    uncovered: tuple[str, ...] = ()
    """Values that a rounding edit produced and no island reached."""
    runs: int = 0
    """Runs of a session."""
    sessions: int = 0
    """Sessions that were made."""
    seconds: float = 0.0
    """Time of the proof."""
    versions: tuple[tuple[str, str], ...] = ()
    """Versions of what ran the models."""


class VerdictReport(Record):
    """Whether two models compute the same, and how that is known."""

    verdict: VerdictName
    """Nothing is ever "probably fine": what is not equivalent has a reason."""
    basis: BasisName | None = None
    """What shows it; only for `equivalent`."""
    reason: str = ""
    """One sentence."""
    evidence: Evidence = Evidence()
    """What it rests on."""


class RuleUse(Record):
    """What one rule did to a model."""

    rule: str
    """Id of the rule, or `fold`."""
    result_class: Literal["exact", "rounding", "values"]
    """How its outputs relate to the source's."""
    count: int
    """Edits."""
    machine_folds: int = 0
    """Edits whose new bytes a runtime computed, so that they depend on the CPU's instruction set."""
    example: str = ""
    """Reason of the first edit."""


class Refusal(Record):
    """A rule that was left out for this model, because its result did not pass the proof."""

    rule: str
    """Id of the rule; `rounding` if only bit-identical rewrites passed."""
    reason: str
    """What the proof found."""


class Judgement(Record):
    """One gate, applied to one model."""

    gate: Literal["equivalence", "budget", "simplified"]
    """Which gate."""
    key: str
    """What of it: `nodes`, `bytes`, `max_nodes`, `max_bytes`, or the gate's own name."""
    passed: bool | None
    """None if it cannot be told; that never fails."""
    value: str
    """What was found."""
    limit: str
    """What is allowed."""
    origin: str = "default"
    """Where the limit stands."""
    hint: str = ""
    """What to do."""
    source_fails_too: bool = False
    """The source itself is over this limit, so that the smaller result is still written."""


class Failure(Record):
    """Why a model could not be worked on."""

    code: str
    """Stable code of the error, as in docs/errors.md."""
    message: str
    """One sentence."""
    exit_code: int
    """Exit code of this model alone."""
    traceback: str = ""
    """Where a fault of ours happened; empty for faults of the input."""


class ModelReport(Record):
    """Everything about one model, or one pair of models."""

    path: str
    """The model as the caller named it; `-` for standard input."""
    relation: Literal["simplification", "pair"] = "simplification"
    """simplification: source -> result; pair: two given models."""
    outcome: Outcome
    """How it ended."""
    compared_with: str | None = None
    """The other model of a pair."""
    written: str | None = None
    """Where the result was written; None if nothing was."""
    data_files: tuple[str, ...] = ()
    """External data files of the model as it is on disk after the run, relative to its folder."""
    added_files: tuple[str, ...] = ()
    """Files that were written beside the model, relative to its folder."""
    removed_files: tuple[str, ...] = ()
    """Files that the model no longer needs and that were removed, relative to its folder."""
    source: Figures | None = None
    """Figures of the source; None if it could not be read."""
    result: Figures | None = None
    """Figures of the result; None if there is none."""
    verdict: VerdictReport = VerdictReport(verdict="not run", reason="nothing was compared")
    """Whether both compute the same."""
    preset: str = ""
    """Preset that applied, and why."""
    assumptions: tuple[str, ...] = ()
    """Claims of the model that a rewrite relied on, such as two axes under one symbol."""
    rules: tuple[RuleUse, ...] = ()
    """What each rule did, in the order of first use."""
    removed_names: Mapping[str, str | None] = Field(default={})
    """Names that are gone, each with the name that survives in its place, if any."""
    refusals: tuple[Refusal, ...] = ()
    """Rules left out."""
    judgements: tuple[Judgement, ...] = ()
    """Gates."""
    warnings: tuple[str, ...] = ()
    """Sentences for the user."""
    latency: None = None
    """Times of source and result; None while nothing measures them."""
    latency_reason: str = "not measured"
    """Why there is no latency."""
    seconds: Mapping[str, float] = Field(default={})
    """Seconds by phase: load, analyse, rewrite, save, prove."""
    failure: Failure | None = None
    """Why nothing could be done; None if something was."""


class Environment(Record):
    """What the figures depend on."""

    python: str
    """Version of Python."""
    platform: str
    """Operating system and machine."""
    packages: Mapping[str, str]
    """Versions of the libraries that compute."""


class Report(Record):
    """The result of one run."""

    schema_version: Literal[1] = 1
    """Form of this document."""
    tool: str
    """Name and version of the tool."""
    policy_sha256: str = ""
    """Digest of the effective policy; empty if models had different ones."""
    environment: Environment
    """What the figures depend on."""
    models: tuple[ModelReport, ...]
    """One entry a model, in the order given."""
