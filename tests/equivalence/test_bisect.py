from __future__ import annotations

import math

import pytest

from onnxsim_ci.equivalence import Culprit, Verdict, find_culprit
from onnxsim_ci.runtime import ModelImage


def run(count, is_bad, verdict="differs", **keywords):
    """Bisect over imaginary results: `is_bad(k)` says whether the result of the first k edits fails."""

    def judge(image):
        k = int(image.data)
        return Verdict(verdict=verdict if is_bad(k) else "equivalent", reason=str(k))

    return find_culprit(count, lambda k: ModelImage(data=str(k).encode()), judge, **keywords)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 9, 100, 1000])
def test_every_single_culprit_is_found_within_the_limit(count):
    for culprit in {0, 1, count // 2, count - 1} & set(range(count)):
        found = run(count, lambda k, culprit=culprit: k > culprit)
        assert found.index == culprit
        assert found.verdict.verdict == "differs"
        assert found.reruns <= math.ceil(math.log2(count)) + 2


def test_a_source_that_fails_by_itself_blames_no_edit():
    found = run(16, lambda k: True)
    assert found.index is None
    assert "several edits" in found.reason


def test_a_failure_that_does_not_come_back_blames_no_edit():
    assert run(16, lambda k: False).index is None


def test_two_edits_that_fail_only_together_blame_the_second():
    assert run(16, lambda k: k >= 12).index == 11


def test_inconclusive_counts_when_asked_for():
    found = run(16, lambda k: k > 5, verdict="inconclusive", failing=frozenset({"inconclusive", "differs"}))
    assert found.index == 5
    assert isinstance(found, Culprit)


def test_with_a_prover(conv_bn):
    from onnxsim_ci.equivalence import Edits, ProofSettings, Prover

    prover = Prover(conv_bn(), ProofSettings())
    edits = Edits(all_exact=False, rounding_outputs=("n",))
    found = find_culprit(
        9,
        lambda k: conv_bn(fold={"epsilon": 1e-3 if k > 6 else 1e-5}),
        lambda image: prover.judge(image, edits),
    )
    assert found.index == 6
