"""Gates: what passes, what fails, what cannot be told, and the exit codes."""

from typing import Literal

import pytest

from onnxsim_ci.errors import BadInput, ExitCode, NotProven, OnnxsimCiError
from onnxsim_ci.policy import Budget, Policy
from onnxsim_ci.report import (
    Figures,
    ModelReport,
    VerdictReport,
    budget_judgements,
    exit_code,
    failed_entry,
    judge,
    may_write,
)

Command = Literal["simplify", "check"]


def budget(**values: object) -> Budget:
    return Budget.model_validate(values)


def place(*keys: str) -> str:
    return f"onnxsim-ci.toml:3:1 {'.'.join(keys)}"


def test_a_smaller_result_is_within_the_default_budget(source: Figures, result: Figures) -> None:
    found = budget_judgements(source, result, Budget())
    assert [(judgement.key, judgement.passed) for judgement in found] == [("nodes", True), ("bytes", True)]
    assert may_write(found)


def test_a_larger_result_says_value_limit_origin_and_what_to_do(source: Figures, result: Figures) -> None:
    found = budget_judgements(result, source, Budget(), place)
    nodes = found[0]
    assert nodes.passed is False
    assert (nodes.value, nodes.limit) == ("174", "120 (+0 of the source's 120)")
    assert nodes.origin == "onnxsim-ci.toml:3:1 budget.nodes"
    assert "budget.nodes" in nodes.hint
    assert not may_write(found)


def test_an_allowance_makes_room(source: Figures, result: Figures) -> None:
    assert may_write(budget_judgements(result, source, budget(nodes="+50%", bytes="+1MiB")))


def test_an_absolute_limit_that_the_source_breaks_too_does_not_hold_the_result_back(
    source: Figures, result: Figures
) -> None:
    found = budget_judgements(source, result, budget(max_nodes=100, max_bytes="200MiB"))
    assert [judgement.passed for judgement in found] == [True, True, False, True]
    assert found[2].source_fails_too
    assert may_write(found)


def test_an_absolute_limit_that_only_the_result_breaks_holds_it_back(
    source: Figures, result: Figures
) -> None:
    found = budget_judgements(result, source, budget(nodes="+100%", bytes="+1MiB", max_nodes=150))
    assert not may_write(found)


def entry_of(entry: ModelReport, outcome: str, verdict: str = "equivalent") -> ModelReport:
    basis = "exact" if verdict == "equivalent" else None
    found = VerdictReport.model_validate({"verdict": verdict, "basis": basis})
    return entry.model_copy(update={"outcome": outcome, "verdict": found})


@pytest.mark.parametrize(
    ("outcome", "verdict", "command", "code"),
    [
        ("simplified", "equivalent", "simplify", ExitCode.FINE),
        ("unchanged", "equivalent", "simplify", ExitCode.FINE),
        ("unproven", "inconclusive", "simplify", ExitCode.NOT_PROVEN),
        ("unproven", "not run", "simplify", ExitCode.NOT_PROVEN),
        ("differs", "differs", "simplify", ExitCode.CHANGES),
        ("simplified", "equivalent", "check", ExitCode.CHANGES),
        ("unchanged", "equivalent", "check", ExitCode.FINE),
        ("unproven", "inconclusive", "check", ExitCode.FINE),
    ],
)
def test_the_exit_code_of_one_model(
    entry: ModelReport, outcome: str, verdict: str, command: Command, code: ExitCode
) -> None:
    judged = judge(entry_of(entry, outcome, verdict), Policy(), command=command)
    assert exit_code(judged, command=command) is code


def test_strict_makes_an_unproven_model_fail_the_check_only(entry: ModelReport) -> None:
    policy = Policy.model_validate({"verify": {"strict": True}})
    unproven = entry_of(entry, "unproven", "inconclusive")
    assert exit_code(judge(unproven, policy, command="check"), command="check") is ExitCode.CHANGES
    assert exit_code(judge(unproven, policy, command="simplify"), command="simplify") is ExitCode.NOT_PROVEN


def test_a_switched_off_gate_cannot_fail(entry: ModelReport) -> None:
    policy = Policy.model_validate({"gate": {"simplified": False}})
    assert exit_code(judge(entry, policy, command="check"), command="check") is ExitCode.FINE


def test_judgements_that_are_there_are_kept_and_placed(
    entry: ModelReport, source: Figures, result: Figures
) -> None:
    found = budget_judgements(source, result, Budget())
    judged = judge(entry.model_copy(update={"judgements": found}), Policy(), place, command="simplify")
    assert [judgement.gate for judgement in judged.judgements] == ["budget", "budget", "equivalence"]
    assert judged.judgements[0].origin == "onnxsim-ci.toml:3:1 budget.nodes"


@pytest.mark.parametrize(("error", "code"), [(BadInput("x"), 2), (NotProven("x"), 3), (ValueError("x"), 70)])
def test_a_failure_keeps_its_exit_code(error: Exception, code: int) -> None:
    failed = judge(failed_entry("m.onnx", error), Policy(), command="check")
    assert failed.judgements == ()
    assert exit_code(failed, command="check") == code
    assert failed.failure is not None
    assert bool(failed.failure.traceback) is not isinstance(error, OnnxsimCiError)


@pytest.mark.parametrize(
    ("verdict", "code"), [("equivalent", 0), ("differs", 1), ("inconclusive", 3), ("not run", 3)]
)
def test_the_exit_code_of_a_pair(entry: ModelReport, verdict: str, code: int) -> None:
    assert exit_code(entry_of(entry, "compared", verdict), command="verify") == code
