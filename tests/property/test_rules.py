"""Each rule on random graphs around its pattern: valid, as equal as it promises, idempotent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import onnx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from one_rule import BY_ID, apply_rule
from patterns import PATTERNS
from sketch import Sketch
from witnesses import assert_equal_outputs

from onnxsim_ci.model import interface_difference, interface_of
from onnxsim_ci.rewrite import RULES, ResultClass, Rule, StopReason

pytestmark = pytest.mark.property
EXAMPLES, LONG_EXAMPLES = 150, 3000
QUIET = settings(
    derandomize=True,
    database=None,
    deadline=None,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


def check_rule(rule: Rule, examples: int, phases: Sequence[Phase] = tuple(Phase)) -> tuple[int, int]:
    """(models on which the rule fired, models made); AssertionError for the smallest wrong one."""
    fired = [0, 0]

    @settings(QUIET, max_examples=examples, phases=phases)
    @given(st.data())
    def property_of_rule(data: st.DataObject) -> None:
        tails = (
            ("Neg", "Reciprocal", "Relu") if BY_ID[rule.id].result is ResultClass.EXACT else ("Neg", "Relu")
        )
        sketch = Sketch(lambda options: data.draw(st.sampled_from(list(options))), tails=tails)
        PATTERNS[rule.id](sketch)
        model = sketch.model()
        if model is not None:
            fired[0] += check_model(model, rule)
            fired[1] += 1

    property_of_rule()
    return fired[0], fired[1]


def check_model(source: onnx.ModelProto, rule: Rule) -> bool:
    """True when the rule fired and its result was compared; AssertionError when it did something wrong."""
    onnx.checker.check_model(source, full_check=True)
    result, outcome = apply_rule(source, rule)
    if not outcome.journal.records:
        return False
    text = onnx.printer.to_text(source)
    onnx.checker.check_model(result, full_check=True)
    assert outcome.stop is StopReason.FIXPOINT
    assert interface_difference(interface_of(source), interface_of(result)) is None
    try:
        evidence = assert_equal_outputs(source, result, rule.result)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{text}\nbecame\n{onnx.printer.to_text(result)}") from None
    again, second = apply_rule(result, rule)
    assert not second.changed, text
    assert again == result
    return evidence.runs > 0


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.id)
def test_rule_keeps_its_promise(rule: Rule) -> None:
    fired, made = check_rule(rule, EXAMPLES)
    assert fired >= 10, f"it fired on {fired} of {made} models"


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.id)
def test_rule_keeps_its_promise_for_long(rule: Rule) -> None:
    check_rule(rule, LONG_EXAMPLES)


@pytest.mark.parametrize(
    "rule_id",
    ["fuse-batchnorm-into-conv", "fuse-mul-into-conv", "fuse-batchnorm-into-gemm", "eliminate-float-where"],
)
def test_a_rounding_rule_that_says_exact_is_caught(rule_id: str) -> None:
    rule = BY_ID[rule_id]
    assert rule.result is ResultClass.ROUNDING
    with pytest.raises(AssertionError, match="became"):
        check_rule(replace(rule, result=ResultClass.EXACT), EXAMPLES, (Phase.generate,))


def test_every_rule_has_a_pattern() -> None:
    assert sorted(PATTERNS) == sorted(BY_ID)
