"""Every case of every rule's fixture: the graph that the rule makes of it, and that its outputs stay equal.

The numbers come first: no expectation is compared, and none written, before source and result agree.
"""

from __future__ import annotations

import fixture_files
import onnx
import pytest
from fixture_files import Case
from one_rule import BY_ID, apply_rule, refusals
from onnx_text import canonical, parse, show
from witnesses import assert_equal_outputs

from onnxsim_ci.model import interface_difference, interface_of
from onnxsim_ci.rewrite import Rule, StopReason

KNOWN_BUGS = {
    ("eliminate-if", "same_branch_output_twice"): "edits: the second output reads a value that gave its name away",
    ("convert-reshape-target", "first_opset"): "model: a new integer constant below opset 9 needs IR 4, not a Constant",
}
"""Cases that fail, with where the bug is; strict, so that a line leaves together with its bug."""
CASES = [case for path in fixture_files.files() for case in fixture_files.read(path)]


def check_case(case: Case, rule: Rule) -> tuple[str, tuple[str, ...]]:
    """Today's expectation of a case: (text of the result, "" when it is left alone; reasons).

    AssertionError unless source and result are valid and equivalent.
    """
    assert case.source.strip(), f"{case.name} has no model"
    source = parse(case.source)
    onnx.checker.check_model(source, full_check=True)
    result, outcome = apply_rule(source, rule)
    onnx.checker.check_model(result, full_check=True)
    assert interface_difference(interface_of(source), interface_of(result)) is None
    assert outcome.stop is StopReason.FIXPOINT
    evidence = assert_equal_outputs(source, result, rule.result)
    assert evidence.runs, f"the source ran on no input: {evidence.refused[:3]}"
    if "symbolic" in case.name:
        assert len(evidence.sizes) > 1, f"the source ran with one size only: {evidence.refused[:3]}"
    if outcome.journal.records:
        assert {record.rule for record in outcome.journal.records} == {rule.id}
        return show(result), ()
    assert canonical(result) == canonical(source), "something else than the rule changed the graph"
    reasons = tuple(refusals(source, rule))
    assert reasons, "no node of the rule's operators"
    return "", reasons


def parameters() -> list[object]:
    """One parameter a case; known bugs are expected to fail."""
    return [
        pytest.param(
            case,
            id=f"{case.rule_id}-{case.name}",
            marks=[pytest.mark.xfail(reason=KNOWN_BUGS[case.rule_id, case.name])]
            if (case.rule_id, case.name) in KNOWN_BUGS
            else [],
        )
        for case in CASES
    ]


@pytest.mark.parametrize("case", parameters())
def test_case(case: Case, request: pytest.FixtureRequest) -> None:
    rule = BY_ID[case.rule_id]
    becomes, reasons = check_case(case, rule)
    if request.config.getoption("--fixtures-update"):
        same = becomes and case.becomes and canonical(parse(becomes)) == canonical(parse(case.becomes))
        if not same and (becomes, reasons) != (case.becomes, case.declined):
            fixture_files.write(case, becomes, reasons)
        return
    assert case.becomes or case.declined, "no expectation yet: run `make fixtures`"
    assert reasons == case.declined
    if becomes:
        assert case.becomes, f"expected to be declined, became\n{becomes}"
        assert canonical(parse(becomes)) == canonical(parse(case.becomes)), f"became\n{becomes}"
