"""What may be done to a model and how it must be proven: simplify, shapes, verify, limits.

House: policy. May import pydantic, policy.fields, vcs.
Touch: schema/policy.schema.json and docs/policy.md (`make docs`); onnxsim_ci/api compiles these fields.
"""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, PrivateAttr, WithJsonSchema, field_validator

from onnxsim_ci.policy.fields import Bytes, Count, Names, Relative, RelativePath, Seconds, Section, only
from onnxsim_ci.policy.quantities import Allowance, parse_allowance
from onnxsim_ci.policy.rule_names import check_rule_name
from onnxsim_ci.vcs import repository_root

ZERO_GROWTH = parse_allowance("+0")

RuleNames = Annotated[tuple[Annotated[str, AfterValidator(check_rule_name)], ...], Field(strict=False)]
"""A list of rules, families or passes of onnxsim."""

Shape = Annotated[tuple[Annotated[int, Field(ge=-1)], ...], Field(strict=False)]
"""Dimensions of one input; -1 leaves an axis as it is."""


_SHAPE_SCHEMA = {"type": "array", "items": {"type": "integer", "minimum": -1}}
OneOrMoreShapes = Annotated[
    tuple[Shape, ...],
    Field(strict=False),
    WithJsonSchema({"anyOf": [_SHAPE_SCHEMA, {"type": "array", "items": _SHAPE_SCHEMA}]}),
]
"""Shapes of one input; a single one may stand without its outer brackets."""


class Simplify(Section):
    """What simplification may do."""

    level: Literal["off", "basic", "fusion", "target"] = "fusion"
    """off: nothing; basic: folding and redundancy; fusion: basic and fused operators; target: what only one
    runtime has."""
    skip: RuleNames = ()
    """Rules or families that never run, by id; onnxsim's own names are understood too."""
    extra: RuleNames = ()
    """Rules that are off by default and shall run."""
    rounding: bool = True
    """false: only rewrites that leave every bit of every output."""
    signed_zero: bool = False
    """true: x+0 may become x, which turns +0 into -0 for one input value."""
    fold: bool = True
    """Compute now what depends on constants only."""
    fold_max_bytes: Bytes = 64 * 2**20
    """Largest tensor that folding may make."""
    max_growth: Relative = ZERO_GROWTH
    """How much larger than its source a result may be, file and live external bytes together."""
    value_info: Literal["keep", "add", "strip"] = "keep"
    """keep: what stands there and is still true; add: all proven shapes; strip: none."""
    inline_functions: bool = False
    """Inline the model's local functions first."""
    subgraphs: bool = True
    """Simplify bodies of If, Loop and Scan too."""
    drop_outputs: Names = ()
    """Outputs to remove, with everything that only they need."""
    keep: Names = ()
    """Initializers or values that must survive by name."""
    initializers: Literal["declared", "constant"] = "declared"
    """declared: an initializer that is an input too may be overridden and stays; constant: bake it in."""
    opset: Literal["keep"] | Annotated[int, Field(ge=1)] = "keep"
    """keep, or the version of the default domain to convert to first."""
    plugins: Annotated[Names, only(())] = ()
    """Installed rule packs that may run."""


class Shapes(Section):
    """Sizes given to dynamic inputs: every key but `bind` is an input's name (empty: the only input)."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Shape] = Field(init=False)

    bind: dict[str, Annotated[int, Field(ge=0)]] = Field(default={})
    """Sizes of named symbols, wherever they stand."""

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Shape by input name."""
        return dict(self.__pydantic_extra__)


class Verify(Section):
    """How a result is proven against its source."""

    mode: Literal["required", "best-effort", "off"] = "required"
    """required: an unproven result is not written; best-effort: written with a warning; off: nothing runs."""
    strict: bool = False
    """true: an unproven model fails `check`, the hook and the Action instead of warning."""
    samples: Annotated[int, Field(ge=1, le=1000)] = 6
    """Most ordinary input samples that are compared; hazard samples come on top."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Seed of all random inputs."""
    shapes: dict[str, OneOrMoreShapes] = Field(default={})
    """Shapes to try, by input name: one shape or a list of shapes."""
    data: RelativePath = ""
    """Inputs to use first: a glob of .npz or .npy files, or test_data_set folders, relative to the policy."""
    rtol: Literal["auto"] | Annotated[float, Field(ge=0)] = "auto"
    """auto: noise units; a number replaces them by this relative tolerance."""
    atol: Annotated[float, Field(ge=0)] = 0.0
    """Absolute tolerance; read only beside a numeric `rtol`."""
    symbol_values: Annotated[int, Field(ge=1, le=16)] = 2
    """Values tried for each free dimension."""
    baseline: Literal["auto", "full", "inputs"] = "auto"
    """Where the noise unit comes from: full nudges weights too, inputs only inputs, auto decides by size."""
    on_mismatch: Literal["quarantine", "fail"] = "quarantine"
    """quarantine: leave the rule to blame out and prove again; fail: write nothing."""
    timeout: Seconds = 300.0
    """Longest proof of one model; past it the model is left as it is."""
    _folder: Path | None = PrivateAttr(default=None)

    def placed(self, folder: Path) -> Self:
        """The same, with `data` relative to `folder`: where the policy file that says it lies."""
        copy = self.model_copy()
        copy._folder = folder  # noqa: SLF001 - of our own copy
        return copy

    def base(self, folder: Path) -> Path:
        """Where `data` is relative to; `folder` if the policy came from no file."""
        return self._folder or folder

    def data_files(self, folder: Path) -> list[Path]:
        """Files and folders that `data` names, sorted; links out of the repository are left out.

        Args:
            folder: Where `data` is relative to, if the policy came from no file: the model's folder.
        """
        base = self.base(folder)
        top = (repository_root(base.resolve()) or base).resolve()
        found = base.glob(self.data) if self.data else ()
        return sorted(path for path in found if path.resolve().is_relative_to(top))

    @field_validator("shapes", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {name: [given] if _is_one_shape(given) else given for name, given in value.items()}


class Limits(Section):
    """Ceilings that protect the machine; a policy can only lower them."""

    file: Annotated[Bytes, Field(le=64 * 2**30)] = 64 * 2**30
    """Largest model, file and external data together."""
    nodes: Annotated[int, Field(ge=1, le=2_000_000)] = 2_000_000
    """Most nodes in all scopes."""
    depth: Annotated[int, Field(ge=1, le=64)] = 64
    """Deepest nesting of subgraphs."""
    fold_work: Annotated[Count, Field(le=10 * 10**9)] = 10 * 10**9
    """Elements that folding may read and write: counted, not timed."""
    memory: Annotated[Bytes, Field(le=64 * 2**30)] = 4 * 2**30
    """Anonymous memory of the process that works on one model."""


def _is_one_shape(given: object) -> bool:
    return isinstance(given, list | tuple) and all(isinstance(size, int) for size in given)


__all__ = ["Allowance", "Limits", "Shapes", "Simplify", "Verify"]
