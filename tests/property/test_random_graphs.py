"""Random graphs through all rules, folding and merging: valid, equivalent, nothing left to do.

With `rounding = false` the outputs are compared bit by bit, else within the noise of rounding.
"""

from __future__ import annotations

from collections import Counter

import onnx
import pytest
import random_graphs
from one_rule import rewritten
from witnesses import assert_equal_outputs

from onnxsim_ci.model import interface_difference, interface_of
from onnxsim_ci.rewrite import Plan, ResultClass, StopReason

pytestmark = pytest.mark.property
BATCHES, SEEDS = 8, 25
EXACT, ROUNDING = Plan(rounding=False), Plan()


def check_seed(seed: int, plan: Plan, promise: ResultClass) -> Counter[str]:
    """Edits by rule; AssertionError when something is wrong with the result of this seed."""
    source = random_graphs.make(seed)
    if source is None:
        return Counter()
    onnx.checker.check_model(source, full_check=True)
    result, outcome = rewritten(source, plan)
    story = f"seed {seed}\n{onnx.printer.to_text(source)}\nbecame\n{onnx.printer.to_text(result)}"
    try:
        onnx.checker.check_model(result, full_check=True)
        assert outcome.stop is StopReason.FIXPOINT
        assert interface_difference(interface_of(source), interface_of(result)) is None
        assert_equal_outputs(source, result, promise)
        again, second = rewritten(result, plan)
        assert not second.changed, f"a second run finds {second.journal.counts()}"
        assert again.SerializeToString() == result.SerializeToString()
    except Exception as error:
        raise AssertionError(f"{error}\n{story}\n{outcome.journal.counts()}") from None
    return Counter(outcome.journal.counts())


@pytest.mark.parametrize("plan", [EXACT, ROUNDING], ids=["exact", "rounding"])
@pytest.mark.parametrize("batch", range(BATCHES))
def test_all_rules_on_random_graphs(batch: int, plan: Plan) -> None:
    promise = ResultClass.EXACT if plan is EXACT else ResultClass.ROUNDING
    fired = sum((check_seed(batch * SEEDS + n, plan, promise) for n in range(SEEDS)), Counter())
    assert len(fired) > 5, fired


@pytest.mark.slow
@pytest.mark.parametrize("plan", [EXACT, ROUNDING], ids=["exact", "rounding"])
@pytest.mark.parametrize("batch", range(50))
def test_all_rules_on_random_graphs_for_long(batch: int, plan: Plan) -> None:
    promise = ResultClass.EXACT if plan is EXACT else ResultClass.ROUNDING
    for n in range(200):
        check_seed(100_000 + batch * 200 + n, plan, promise)


def test_a_seed_gives_the_same_model() -> None:
    models = [random_graphs.make(seed) for seed in (0, 1, 2, 0, 1, 2)]
    assert models[:3] == models[3:]
