"""Sections of doors that this version does not have: measure, target, quantize, mlflow.

`measure` may be set, since one policy serves all doors; the others accept only what is their default.

House: policy. May import pydantic and policy.fields.
Touch: schema/policy.schema.json and docs/policy.md (`make docs`); drop `only` when a part is built.
"""

from typing import Annotated, Literal

from pydantic import Field

from onnxsim_ci.policy.fields import Names, RelativePath, Section, only


class Measure(Section):
    """What is timed; only doors that show it measure anything, simplify never does by itself."""

    latency: bool = True
    """Time the model."""
    providers: Names = ("CPUExecutionProvider",)
    """ONNX Runtime execution providers, in order."""
    threads: Annotated[int, Field(ge=1, le=1024)] = 1
    """Intra-op threads."""
    seconds: Annotated[float, Field(gt=0, le=3600)] = 10.0
    """Time spent on one pair of models."""


class Target(Section):
    """The runtime that the models are for."""

    name: Annotated[str, only("portable")] = "portable"
    """portable: any runtime that follows the ONNX operators."""


class Quantize(Section):
    """Quantization, which has its own gate and is never called equivalent."""

    mode: Annotated[Literal["off", "dynamic", "static", "fp16"], only("off")] = "off"
    """Kind of quantization."""
    calibration: Annotated[RelativePath, only("")] = ""
    """Glob of .npz files with calibration inputs."""
    min_agreement: Annotated[float, Field(ge=0, le=1), only(0.99)] = 0.99
    """Least share of equal decisions."""
    min_snr_db: Annotated[float, only(20.0)] = 20.0
    """Least signal-to-noise ratio."""
    metric: Annotated[str, only("")] = ""
    """Installed accuracy metric, an entry point of onnxsim_ci.metrics."""
    min_metric: Annotated[float, only(0.0)] = 0.0
    """Least value of that metric."""


class Mlflow(Section):
    """Where the MLflow door registers models."""

    registered_model_name: Annotated[str, only("")] = ""
    """Name in the registry."""
    alias: Annotated[str, only("candidate")] = "candidate"
    """Alias given to a new version."""
