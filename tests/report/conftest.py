"""Report entries for the tests of this folder, and the switch that writes golden files."""

import os
from pathlib import Path

import pytest

from onnxsim_ci.errors import BadInput
from onnxsim_ci.report import (
    Evidence,
    Figures,
    ModelReport,
    OutputEvidence,
    Refusal,
    Report,
    RuleUse,
    VerdictReport,
    failed_entry,
)
from onnxsim_ci.report.model import Environment


@pytest.fixture
def source() -> Figures:
    return Figures(
        nodes=174,
        parameters=25_557_032,
        initializers=161,
        file_bytes=102_000_000,
        operators={"Conv": 53, "BatchNormalization": 53, "Relu": 49, "Add": 16, "Gemm": 1, "Identity": 2},
        opsets={"": 17},
        ir_version=8,
    )


@pytest.fixture
def result(source: Figures) -> Figures:
    operators = {"Conv": 53, "Relu": 49, "Add": 16, "Gemm": 1, "Flatten": 1}
    return source.model_copy(
        update={
            "nodes": 120,
            "parameters": 25_530_472,
            "initializers": 108,
            "file_bytes": 101_900_000,
            "operators": operators,
        }
    )


@pytest.fixture
def entry(source: Figures, result: Figures) -> ModelReport:
    evidence = Evidence(
        samples=3,
        hazards=("infinity",),
        planted=2,
        caught=2,
        worst_output="logits",
        noise_units=1.234,
        outputs=(OutputEvidence(name="logits", noise_units=1.234, max_abs=1e-6),),
    )
    return ModelReport(
        path="models/resnet50.onnx",
        outcome="simplified",
        written="out/resnet50.onnx",
        source=source,
        result=result,
        verdict=VerdictReport(verdict="equivalent", basis="samples", evidence=evidence),
        preset="static",
        rules=(
            RuleUse(rule="fuse-batchnorm-into-conv", result_class="rounding", count=53),
            RuleUse(rule="fold-constants", result_class="exact", count=3, machine_folds=2),
        ),
        refusals=(Refusal(rule="fuse-pad-into-conv", reason="212 noise units on output 'scores'"),),
        assumptions=("axes 0 of 'x' and 'mask' are equal (both declare 'N')",),
        warnings=("the data file holds 12 dead bytes",),
        seconds={"load": 0.01, "analyse": 0.02, "rewrite": 0.03, "prove": 12.3, "save": 125.0},
    )


@pytest.fixture
def report(entry: ModelReport, source: Figures) -> Report:
    """Three models: one written, one unchanged, one that is no model."""
    unchanged = entry.model_copy(
        update={
            "path": "models/[odd] name.onnx",
            "outcome": "unchanged",
            "written": None,
            "result": source,
            "refusals": (),
            "warnings": (),
            "assumptions": (),
            "verdict": VerdictReport(verdict="equivalent", basis="digest"),
        }
    )
    broken = failed_entry("models/broken.onnx", BadInput("is empty", where="models/broken.onnx"))
    here = Environment(python="3.11.0", platform="Linux x86_64", packages={"onnx": "1.0"})
    return Report(tool="onnxsim-ci 0", environment=here, models=(entry, unchanged, broken))


class Golden:
    """Compares a text with its golden file, or writes it."""

    def __init__(self, folder: Path, *, is_update: bool) -> None:
        self.folder = folder
        self.is_update = is_update

    def check(self, name: str, text: str) -> None:
        path = self.folder / name
        if self.is_update:
            path.write_text(text, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == text, (
            "if this is meant: GOLDEN_UPDATE=1 pytest tests/report"
        )


@pytest.fixture
def golden() -> Golden:
    return Golden(Path(__file__).parent / "golden", is_update="GOLDEN_UPDATE" in os.environ)
