"""The policy as one frozen value: all sections, presets applied on demand.

House: policy. May import pydantic and the sections; never who uses a policy.
Touch: schema/policy.schema.json and docs/policy.md (`make docs`); policy/presets for the names of `preset`.
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, PrivateAttr, field_validator

from onnxsim_ci import __version__
from onnxsim_ci.policy.fields import Globs, Names, Section
from onnxsim_ci.policy.judgements import Budget, Gate, ReportOptions
from onnxsim_ci.policy.later import Measure, Mlflow, Quantize, Target
from onnxsim_ci.policy.presets import choose_preset, preset_tables
from onnxsim_ci.policy.sections import Limits, Shapes, Simplify, Verify

if TYPE_CHECKING:
    from pathlib import Path

    from onnxsim_ci.vcs import Tree

Preset = Literal["auto", "static", "dynamic", "large", "edge", "none"]

VERSION = 1


class Override(Section):
    """Other values for some models; all that match apply, in order."""

    files: Annotated[Globs, Field(min_length=1)]
    """Models this is for: gitignore-style patterns, relative to the file that says them."""
    simplify: Simplify | None = None
    """Replaces single keys of [simplify]."""
    shapes: Shapes | None = None
    """Replaces single keys of [shapes]."""
    verify: Verify | None = None
    """Replaces single keys of [verify]."""
    measure: Measure | None = None
    """Replaces single keys of [measure]."""
    budget: Budget | None = None
    """Replaces single keys of [budget]."""
    gate: Gate | None = None
    """Replaces single keys of [gate]."""
    target: Target | None = None
    """Replaces single keys of [target]."""
    quantize: Quantize | None = None
    """Replaces single keys of [quantize]."""
    limits: Limits | None = None
    """Replaces single keys of [limits]."""


class Policy(Section):
    """What may be done to which model, how it must be proven, and what a change may cost."""

    version: int = VERSION
    """Version of this file's form; 1."""
    required_version: str = ""
    """Versions of onnxsim-ci that may run under this policy, such as ">=0.1,<0.2"; empty for any."""
    preset: Preset = "auto"
    """Starting values; auto picks static, dynamic or large for each model."""
    extends: Names = ()
    """Policy files to start from, relative to this one, inside the repository."""
    include: Globs = ("**/*.onnx",)
    """Models of the repository."""
    exclude: Globs = ()
    """Files that are not, among the included."""
    simplify: Simplify = Simplify()
    """What simplification may do."""
    shapes: Shapes = Shapes()
    """Sizes given to dynamic inputs."""
    verify: Verify = Verify()
    """How a result is proven against its source."""
    measure: Measure = Measure()
    """What is timed."""
    budget: Budget = Budget()
    """What a result may cost."""
    gate: Gate = Gate()
    """What makes a check fail."""
    target: Target = Target()
    """The runtime that the models are for."""
    quantize: Quantize = Quantize()
    """Quantization."""
    report: ReportOptions = ReportOptions()
    """What is reported and kept."""
    limits: Limits = Limits()
    """Ceilings that protect the machine."""
    mlflow: Mlflow = Mlflow()
    """The MLflow door."""
    overrides: Annotated[tuple[Override, ...], Field(strict=False)] = ()
    """Other values for some models."""
    _reason: str = PrivateAttr(default="")

    @field_validator("version")
    @classmethod
    def _known_version(cls, value: int) -> int:
        if value != VERSION:
            raise ValueError(
                f"version {value} is not known to onnxsim-ci {__version__}, which reads {VERSION}"
            )
        return value

    @field_validator("required_version")
    @classmethod
    def _runs_here(cls, value: str) -> str:
        check_required_version(value)
        return value

    @classmethod
    def discover(cls, path: "str | Path", tree: "Tree | None" = None) -> "Policy":
        """The effective policy of the model at `path`: found upwards, overrides and environment applied.

        Raises:
            BadPolicy: With every mistake found.
        """
        from onnxsim_ci.policy.layers import resolve

        return resolve(path, tree=tree).policy

    def settled(self, *, live_weight_bytes: int, has_dynamic_inputs: bool) -> Self:
        """This policy with the values of its preset where the user said nothing.

        Args:
            live_weight_bytes: Bytes of the weights that the graph reads.
            has_dynamic_inputs: Whether any input has a free dimension.
        """
        name: str = self.preset
        reason = self._reason
        if name == "auto":
            name, reason = choose_preset(
                live_weight_bytes=live_weight_bytes, has_dynamic_inputs=has_dynamic_inputs
            )
        tables = preset_tables(name)
        given = type(self).model_validate(tables)
        updates: dict[str, Any] = {"preset": name}
        for section, keys in tables.items():
            mine, theirs = getattr(self, section), getattr(given, section)
            unset = {key: getattr(theirs, key) for key in keys if key not in mine.model_fields_set}
            updates[section] = mine.model_copy(update=unset)
        settled = self.model_copy(update=updates)
        settled._reason = reason  # noqa: SLF001 - of our own copy
        return settled

    @property
    def preset_sentence(self) -> str:
        """The preset, and after a colon the facts for which `auto` chose it."""
        return f"{self.preset}: {self._reason}" if self._reason else self.preset


def check_required_version(value: str) -> None:
    """Pass if this version of the tool satisfies the specifier `value`.

    Raises:
        ValueError: It does not (with the fix for each door), or `value` is no specifier.
    """
    if not value:
        return
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        allowed = SpecifierSet(value)
    except InvalidSpecifier:
        raise ValueError(f'{value!r} is not a version specifier such as ">=0.1,<0.2"') from None
    if not allowed.contains(__version__, prereleases=True):
        raise ValueError(
            f"this is onnxsim-ci {__version__}, the policy needs {value!r}: install it with "
            f"`pip install 'onnxsim-ci{value}'`, set `rev:` of the pre-commit hook, or the tag of the Action"
        )
