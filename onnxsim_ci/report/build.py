"""Reports made from plain values: what the flow calls, without knowing pydantic.

House: report. May import policy (for the digest) and errors; sees core objects only through protocols.
Touch: onnxsim_ci/api calls these.
"""

import hashlib
import json
import math
import platform
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any, Literal, Protocol

from onnxsim_ci import __version__
from onnxsim_ci.errors import InternalError, OnnxsimCiError
from onnxsim_ci.policy import Policy
from onnxsim_ci.report.model import (
    BasisName,
    Environment,
    Evidence,
    Failure,
    Figures,
    ModelReport,
    Report,
    RuleUse,
    VerdictName,
    VerdictReport,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_PACKAGES = ("onnx", "onnxruntime", "numpy", "ml_dtypes")
_RESULT_CLASSES: tuple[Literal["exact", "rounding", "values"], ...] = ("exact", "rounding", "values")


class ResultClassLike(Protocol):
    """An enum member whose value is exact, rounding or values."""

    @property
    def value(self) -> str:
        """The class as text."""


class EditLike(Protocol):
    """What a report reads of one journal record."""

    @property
    def rule(self) -> str:
        """Id of the rule, or of the driver's own work."""

    @property
    def result(self) -> ResultClassLike:
        """What the edit promises."""

    @property
    def machine(self) -> bool:
        """A runtime computed the new bytes."""

    @property
    def why(self) -> str:
        """Why the outputs stay equal."""


class VerdictLike(Protocol):
    """What a report reads of a proof's answer; `evidence` is a dataclass with the fields of `Evidence`."""

    @property
    def verdict(self) -> VerdictName:
        """Its name."""

    @property
    def basis(self) -> BasisName | None:
        """What shows it."""

    @property
    def reason(self) -> str:
        """One sentence."""

    @property
    def evidence(self) -> "DataclassInstance":
        """What it rests on."""


def build_report(models: Iterable[ModelReport], *, policy: Policy | None = None) -> Report:
    """A report of `models`, with tool, environment and the digest of the policy that all of them had."""
    return Report(
        tool=f"onnxsim-ci {__version__}",
        policy_sha256=policy_sha256(policy) if policy is not None else "",
        environment=environment(),
        models=tuple(models),
    )


def merge_reports(reports: Iterable[Report]) -> Report:
    """One report of the models of all `reports`, in order."""
    parts = list(reports)
    digests = {part.policy_sha256 for part in parts}
    return Report(
        tool=f"onnxsim-ci {__version__}",
        policy_sha256=digests.pop() if len(digests) == 1 else "",
        environment=parts[0].environment if parts else environment(),
        models=tuple(model for part in parts for model in part.models),
    )


def figures(statistics: object) -> Figures:
    """Figures of a `model.Statistics`, or of anything with the same attributes."""
    return Figures.model_validate(statistics)


def rule_uses(journal: Iterable[EditLike]) -> tuple[RuleUse, ...]:
    """The journal by rule, in the order of first use; one entry for each result class of a rule."""
    found: dict[tuple[str, str], list[EditLike]] = {}
    for edit in journal:
        found.setdefault((edit.rule, edit.result.value), []).append(edit)
    return tuple(
        RuleUse(
            rule=rule,
            result_class=next(name for name in _RESULT_CLASSES if name == kind),
            count=len(edits),
            machine_folds=sum(edit.machine for edit in edits),
            example=edits[0].why,
        )
        for (rule, kind), edits in found.items()
    )


def verdict_report(verdict: VerdictLike) -> VerdictReport:
    """A proof's answer as the report carries it; floats that are not finite become None."""
    return VerdictReport(
        verdict=verdict.verdict,
        basis=verdict.basis,
        reason=verdict.reason,
        evidence=Evidence.model_validate(_finite(asdict(verdict.evidence))),
    )


def failed_entry(path: str, error: BaseException) -> ModelReport:
    """The entry of a model that could not be worked on."""
    if isinstance(error, OnnxsimCiError):
        failure = Failure(code=error.code, message=str(error), exit_code=int(error.exit_code))
    else:
        failure = Failure(
            code=InternalError.code,
            message=f"{path}: {type(error).__name__}: {error}",
            exit_code=int(InternalError.exit_code),
            traceback="".join(traceback.format_exception(error)),
        )
    return ModelReport(path=path, outcome="failed", failure=failure)


def skipped_entry(path: str, reason: str) -> ModelReport:
    """The entry of a file that was found but is not for us, such as an LFS pointer in a folder."""
    return ModelReport(path=path, outcome="skipped", warnings=(reason,))


def policy_sha256(policy: Policy) -> str:
    """Digest of the policy's values, whoever set them."""
    text = json.dumps(policy.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def environment() -> Environment:
    """Versions of what computes here, read without importing it."""
    packages = {}
    for name in _PACKAGES:
        try:
            packages[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            packages[name] = "missing"
    return Environment(
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        packages=packages,
    )


def _finite(value: Any) -> Any:
    """`value` with floats that are not finite as None, at any depth."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return value
