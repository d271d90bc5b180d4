from __future__ import annotations

import numpy as np
import pytest

from onnxsim_ci.equivalence import Edits, ProofSettings, Prover, prove

EXACT = Edits(all_exact=True)
SOURCE = "g (float[N,4] x) => (float[N,4] y) { a = %s y = Neg(a) }"


def test_exact_edits_are_proven_by_two_samples(image):
    verdict = prove(
        image(SOURCE % "Relu(x)"), image(SOURCE % "Relu<>(x) b = Abs(a)".replace("<>", "")), edits=EXACT
    )
    assert verdict.basis == "digest"
    split = "g (float[N,4] x) => (float[N,4] y) { n = Neg(x) m = Neg(n) a = Relu(m) y = Neg(a) }"
    verdict = prove(image(SOURCE % "Relu(x)"), image(split), edits=EXACT)
    assert (verdict.verdict, verdict.basis) == ("equivalent", "exact")
    assert verdict.evidence.samples == 2


def test_exact_tolerates_nothing(image):
    weight = np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32)
    text = "g (float[N,4] x) => (float[N,4] y) { y = MatMul(x, w) }"
    one_ulp = np.nextafter(weight, np.float32(9))
    verdict = prove(image(text, w=weight), image(text, w=one_ulp), edits=EXACT)
    assert verdict.verdict == "differs"
    assert "EXACT edits changed bits" in verdict.reason


def test_hazards_decide_for_exact_edits(image):
    source = image("g (float[N,4] x) => (float[N,4] y) <float z = {0}> { y = Add(x, z) }")
    result = image("g (float[N,4] x) => (float[N,4] y) <float z = {-0.0}> { y = Add(x, z) }")
    assert prove(source, result, edits=EXACT).verdict == "equivalent"
    named = Edits(all_exact=True, hazards=frozenset({"negative_zero"}))
    verdict = prove(source, result, edits=named)
    assert verdict.verdict == "differs"
    assert "negative_zero" in verdict.reason


def test_any_nan_equals_any_nan(image):
    source = image("g (float[N,4] x) => (float[N,4] y) { y = Identity(x) }")
    result = image("g (float[N,4] x) => (float[N,4] y) <float o = {1}> { y = Mul(x, o) }")
    every = frozenset({"nan", "infinity", "negative_zero", "denormal", "large", "empty", "batch_one"})
    verdict = prove(source, result, edits=Edits(all_exact=True, hazards=every))
    assert (verdict.verdict, verdict.basis) == ("equivalent", "exact")
    assert set(verdict.evidence.hazards) == every


@pytest.mark.parametrize(
    ("hazard", "before", "after"),
    [
        ("nan", "y = Sub(x, x)", "y = Mul(x, zero)"),
        ("infinity", "y = Mul(x, zero)", "a = Sub(x, x) b = Abs(a) y = Clip(b, zero, zero)"),
        ("empty", "s = Shape(x) y = Reshape(x, s)", "y = Reshape(x, fixed)"),
        ("saturation", "y = Exp(x)", "t = Clip(x, low, high) y = Exp(t)"),
    ],
)
def test_each_hazard_can_tell_a_mistake(image, hazard, before, after):
    constants = {
        "zero": np.array(0, np.float32),
        "low": np.array(-20, np.float32),
        "high": np.array(20, np.float32),
        "fixed": np.array([0, -1]),
    }
    text = "g (float[N,4] x) => (float[N,4] y) { %s }"
    source, result = image(text % before, **constants), image(text % after, **constants)
    verdict = prove(source, result, edits=Edits(all_exact=True, hazards=frozenset({hazard})))
    assert verdict.verdict == "differs"


def test_hazards_decide_on_the_intermediate_model_and_not_on_the_rounded_result(conv_bn, image):
    source = image(
        "g (float[N,4] x) => (float[N,4] y) <float z = {0}> { m = MatMul(x, w) y = Add(m, z) }", w=_w()
    )
    kept = image(
        """g (float[N,4] x) => (float[N,4] y) <float z = {0}>
      { m = MatMul(x, w) n = Neg(m) o = Neg(n) y = Add(o, z) }""",
        w=_w(),
    )
    broken = image("g (float[N,4] x) => (float[N,4] y) { m = MatMul(x, w) y = Identity(m) }", w=_w())
    rounded = image(
        "g (float[N,4] x) => (float[N,4] y) { y = Gemm(x, w, c) }", w=_w(), c=np.zeros(4, np.float32)
    )
    hazards = frozenset({"negative_zero", "infinity", "nan"})
    prover = Prover(source, ProofSettings())
    good = prover.judge(
        rounded, Edits(all_exact=False, rounding_outputs=("y",), hazards=hazards, intermediate=kept)
    )
    assert (good.verdict, good.basis) == ("equivalent", "samples")
    assert set(good.evidence.hazards) == hazards
    if prover.judge(broken, Edits(all_exact=True, hazards=hazards)).verdict == "differs":  # -0 appears in m
        bad = prover.judge(
            rounded, Edits(all_exact=False, rounding_outputs=("y",), hazards=hazards, intermediate=broken)
        )
        assert bad.verdict == "differs"


def _w():
    return np.diag([1, -1, 2, 0.5]).astype(np.float32)


def test_a_source_that_never_runs_is_still_exact(image):
    text = "g (float[2,3] x) => (float[7] y) <int64[1] k = {7}> { %s y = Reshape(a, k) }"
    verdict = prove(
        image(text % "a = Relu(x)"), image(text % "n = Neg(x) m = Neg(n) a = Relu(m)"), edits=EXACT
    )
    assert (verdict.verdict, verdict.basis) == ("equivalent", "exact")
    assert "no sample is evidence" in verdict.reason


def test_a_result_that_does_not_load_is_never_exact(image):
    source = image(SOURCE % "Relu(x)")
    broken = image("g (float[N,4] x) => (float[N,4] y) <int64[2] s = {2, 4}> { a = Add(x, s) y = Neg(a) }")
    assert prove(source, broken, edits=EXACT).verdict == "differs"


def test_without_a_journal_hazards_are_information(image):
    source = image("g (float[N,4] x) => (float[N,4] y) <float z = {0}> { y = Add(x, z) }")
    result = image("g (float[N,4] x) => (float[N,4] y) <float z = {-0.0}> { y = Add(x, z) }")
    settings = ProofSettings(hazards=frozenset({"negative_zero", "nan"}))
    verdict = prove(source, result, settings=settings)
    assert verdict.verdict == "equivalent"
    assert verdict.evidence.hazards == ("nan",)
    assert any("negative_zero" in note for note in verdict.evidence.notes)


def test_a_kernel_that_ends_the_process_costs_one_hazard(image):
    """Einsum of onnxruntime 1.32 raises SIGFPE for an empty batch."""
    text = 'g (float[N,4] x, float[4,4] w) => (float[N,4] y) { e = Einsum<equation = "ij,jk->ik">(x, w) %s }'
    source = image(text % "y = Neg(e)")
    result = image(text % "a = Neg(e) b = Neg(a) y = Neg(b)")
    edits = Edits(all_exact=True, hazards=frozenset({"empty", "negative_zero"}))
    verdict = prove(source, result, edits=edits)
    assert (verdict.verdict, verdict.basis) == ("equivalent", "exact")
    assert "negative_zero" in verdict.evidence.hazards
