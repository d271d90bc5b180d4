"""Golden texts, and what they must never do."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from onnxsim_ci.report import (
    Figures,
    ModelReport,
    Report,
    RuleUse,
    VerdictReport,
    render_json,
    report_schema_text,
)
from onnxsim_ci.report.text import render_text

ROOT = Path(__file__).resolve().parents[2]


def as_text(report: Report, *, width: int = 100, is_verbose: bool = False) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, color_system=None, highlight=False)
    render_text(report, console, is_verbose=is_verbose)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def only(report: Report, index: int) -> Report:
    return report.model_copy(update={"models": (report.models[index],)})


def test_one_model_is_a_page(report: Report, golden: Any) -> None:
    golden.check("page.txt", as_text(only(report, 0)))


def test_verbose_lists_every_operator(report: Report, golden: Any) -> None:
    golden.check("page-verbose.txt", as_text(only(report, 0), is_verbose=True))


def test_an_unchanged_model_is_a_short_page(report: Report, golden: Any) -> None:
    golden.check("page-unchanged.txt", as_text(only(report, 1)))


def test_many_models_are_a_table_with_the_trouble_below(report: Report, golden: Any) -> None:
    golden.check("overview.txt", as_text(report))


def test_a_narrow_terminal_loses_no_name(report: Report) -> None:
    text = as_text(report, width=60).replace("\n", "").replace(" ", "")
    assert "resnet50" in text


def test_markup_in_names_is_shown_as_it_is(report: Report) -> None:
    assert "models/[odd] name.onnx" in as_text(report)
    figures = report.models[0].source
    assert figures is not None
    odd = figures.model_copy(update={"operators": {"[red]x[/red]": 1}})
    entry = report.models[0].model_copy(update={"source": odd, "result": None})
    assert "[red]x[/red]" in as_text(report.model_copy(update={"models": (entry,)}))


def test_json_is_the_report_itself(report: Report) -> None:
    text = render_json(report)
    assert Report.model_validate_json(text) == report
    assert json.loads(text)["schema_version"] == 1


def test_the_committed_schema_is_the_generated_one() -> None:
    assert (ROOT / "schema" / "report.schema.json").read_text(encoding="utf-8") == report_schema_text()


def test_every_field_on_the_wire_is_described() -> None:
    schema = json.loads(report_schema_text())
    for definition in (schema, *schema["$defs"].values()):
        for name, field in definition["properties"].items():
            assert "description" in field or "$ref" in field, f"{definition['title']}.{name}"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_float_on_the_wire_is_finite(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        ModelReport(path="x", outcome="failed", seconds={"load": value})


def test_figures_come_from_any_object_with_their_attributes() -> None:
    from onnxsim_ci.model import Statistics
    from onnxsim_ci.report import figures

    found = figures(
        Statistics(nodes=1, constant_nodes=0, parameters=2, initializers=1, file_bytes=10, external_bytes=5)
    )
    assert isinstance(found, Figures)
    assert found.total_bytes == 15


def test_the_journal_is_counted_by_rule_and_class() -> None:
    from onnxsim_ci.report import rule_uses
    from onnxsim_ci.rewrite import Record, ResultClass

    def edit(rule: str, result: ResultClass, *, machine: bool = False) -> Record:
        return Record(
            rule=rule, result=result, scope="", node="n", value="v", why=f"{rule} fits", machine=machine
        )

    exact, rounding = ResultClass.EXACT, ResultClass.ROUNDING
    uses = rule_uses([edit("b", exact), edit("a", rounding), edit("b", exact, machine=True)])
    assert uses == (
        RuleUse(rule="b", result_class="exact", count=2, machine_folds=1, example="b fits"),
        RuleUse(rule="a", result_class="rounding", count=1, example="a fits"),
    )


def test_a_verdict_comes_over_with_none_for_what_is_not_finite() -> None:
    from onnxsim_ci import equivalence
    from onnxsim_ci.report import verdict_report

    output = equivalence.OutputEvidence(
        name="y", noise_units=float("inf"), relative_l2=0.5, max_abs=None, baseline_l2=None
    )
    verdict = equivalence.Verdict(
        verdict="differs",
        reason="output 'y' differs",
        evidence=equivalence.Evidence(samples=2, outputs=(output,), noise_units=float("inf")),
    )
    found = verdict_report(verdict)
    assert isinstance(found, VerdictReport)
    assert (found.verdict, found.evidence.samples, found.evidence.noise_units) == ("differs", 2, None)
    assert (found.evidence.outputs[0].noise_units, found.evidence.outputs[0].relative_l2) == (None, 0.5)


def test_evidence_has_every_field_that_a_proof_gives() -> None:
    from dataclasses import fields

    from onnxsim_ci import equivalence
    from onnxsim_ci.report import Evidence, OutputEvidence

    for theirs, ours in ((equivalence.Evidence, Evidence), (equivalence.OutputEvidence, OutputEvidence)):
        assert {field.name for field in fields(theirs)} == set(ours.model_fields)
