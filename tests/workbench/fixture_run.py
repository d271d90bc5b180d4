"""One case of a fixture: what the rule makes of it today, and writing that down.

The numbers come first: nothing is returned, compared or written before source and result agree.

Touch: `fixture_files.py` (the form of the files), `witnesses.py` (the numbers).
"""

from __future__ import annotations

import fixture_files
import onnx
from fixture_files import Case
from one_rule import apply_rule, refusals
from onnx_text import canonical, parse, show
from witnesses import assert_equal_outputs

from onnxsim_ci.model import interface_difference, interface_of
from onnxsim_ci.rewrite import Rule, StopReason


def check_case(case: Case, rule: Rule) -> tuple[str, tuple[str, ...]]:
    """Today's expectation of a case: text of the result ("" when it is left alone) and reasons.

    AssertionError, or what checker or runtime raise, unless source and result are valid and equivalent.
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


def update_case(case: Case, rule: Rule) -> None:
    """Write today's expectation, if it is not the one that stands there."""
    becomes, reasons = check_case(case, rule)
    if becomes and case.becomes and canonical(parse(becomes)) == canonical(parse(case.becomes)):
        return
    if (becomes, reasons) != (case.becomes, case.declined):
        fixture_files.write(case, becomes, reasons)
