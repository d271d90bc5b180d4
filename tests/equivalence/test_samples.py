from __future__ import annotations

import numpy as np
import pytest

from onnxsim_ci.equivalence import Edits, ProofSettings, Prover, prove

ROUNDED = Edits(all_exact=False, rounding_outputs=("n",))


def test_equal_graphs_are_not_run(conv_bn):
    verdict = prove(conv_bn(), conv_bn())
    assert (verdict.verdict, verdict.basis, verdict.evidence.runs) == ("equivalent", "digest", 0)


def test_a_true_fold_is_equivalent_with_evidence(conv_bn):
    verdict = prove(conv_bn(), conv_bn(fold={}), edits=ROUNDED)
    assert (verdict.verdict, verdict.basis) == ("equivalent", "samples")
    evidence = verdict.evidence
    assert evidence.samples == 3
    assert evidence.noise_units is not None
    assert evidence.noise_units <= 3
    assert evidence.caught >= 1
    assert evidence.covered == ("n",)
    assert evidence.uncovered == ()
    assert {dict(sizes)["N"] for sizes in evidence.sizes} == {1, 2}
    assert dict(evidence.versions).keys() == {"numpy", "onnx", "onnxruntime"}
    assert evidence.runs <= 30
    assert evidence.sessions <= 10


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("fault", [{"epsilon": 1e-3}, *({"channel": k} for k in range(0, 8, 3))])
def test_a_sabotaged_fold_differs(conv_bn, fault, seed):
    verdict = prove(conv_bn(seed=seed), conv_bn(seed=seed, fold=fault), edits=ROUNDED)
    assert verdict.verdict == "differs"


@pytest.mark.parametrize("seed", range(6))
def test_true_folds_never_differ(conv_bn, seed):
    assert prove(conv_bn(seed=seed), conv_bn(seed=seed, fold={}), edits=ROUNDED).verdict == "equivalent"


def test_without_a_journal_the_outputs_decide(conv_bn):
    prover = Prover(conv_bn(), ProofSettings())
    assert prover.judge(conv_bn(fold={})).basis == "samples"
    assert prover.judge(conv_bn(fold={"epsilon": 1e-3})).verdict == "differs"


def test_an_error_behind_saturated_outputs_is_seen_inside(conv_bn):
    tail = ("Relu", "Exp", "Exp", "Tanh")  # tanh(exp(exp(...))) is 0.99 or 1 everywhere
    prover = Prover(conv_bn(tail=tail), ProofSettings())
    good, bad = (
        prover.judge(conv_bn(tail=tail, fold={}), ROUNDED),
        prover.judge(conv_bn(tail=tail, fold={"channel": 1}), ROUNDED),
    )
    assert good.verdict == "equivalent"
    assert bad.verdict == "differs"


def test_a_dead_output_proves_nothing_without_a_journal(image):
    text = "g (float[2,16] x) => (float[2,16] y) { m = MatMul(x, w) a = Abs(m) b = Neg(a) y = Relu(b) }"
    rng = np.random.default_rng(0)
    weight = rng.standard_normal((16, 16)).astype(np.float32)
    verdict = prove(image(text, w=weight), image(text, w=weight * np.float32(1.5)))
    assert verdict.verdict == "inconclusive"
    assert "planted" in verdict.reason


def test_a_dead_output_with_a_journal_is_proven_inside(image):
    text = "g (float[2,16] x) => (float[2,16] y) { m = MatMul(x, w) a = Abs(m) b = Neg(a) y = Relu(b) }"
    split = """g (float[2,16] x) => (float[2,16] y) {
      p, q = Split<axis = -1>(x) u = MatMul(p, w1) v = MatMul(q, w2) m = Add(u, v)
      a = Abs(m) b = Neg(a) y = Relu(b) }"""
    weight = np.random.default_rng(0).standard_normal((16, 16)).astype(np.float32)
    edits = Edits(all_exact=False, rounding_outputs=("m",))
    verdict = prove(image(text, w=weight), image(split, w1=weight[:8], w2=weight[8:]), edits=edits)
    assert (verdict.verdict, verdict.basis) == ("equivalent", "islands")
    assert verdict.evidence.covered == ("m",)
    verdict = prove(
        image(text, w=weight), image(split, w1=weight[:8], w2=weight[8:] * np.float32(1.01)), edits=edits
    )
    assert verdict.verdict == "differs"


def test_user_tolerance_replaces_noise_units(image):
    text = "g (float[2,16] x) => (float[2,16] y) { y = MatMul(x, w) }"
    weight = np.random.default_rng(0).standard_normal((16, 16)).astype(np.float32)
    near = image(text, w=weight * np.float32(1.0001))
    assert prove(image(text, w=weight), near).verdict == "differs"
    loose = ProofSettings(rtol=1e-3, atol=1e-3)
    verdict = prove(image(text, w=weight), near, settings=loose)
    assert verdict.verdict == "equivalent"
    assert "rtol" in verdict.reason
    assert verdict.evidence.outputs[0].noise_units > 10
    assert prove(image(text, w=weight), near, settings=ProofSettings(rtol=1e-6, atol=0)).verdict == "differs"


def test_a_result_that_fails_or_does_not_load_differs(image):
    source = image("g (float[N,4] x) => (float[N,4] y) { y = Relu(x) }")
    frozen = image(
        "g (float[N,4] x) => (float[N,4] y) <int64[2] s = {2, 4}> { r = Relu(x) y = Reshape(r, s) }"
    )
    verdict = prove(source, frozen)
    assert verdict.verdict == "differs"
    assert "fails where the source runs" in verdict.reason
    broken = image("g (float[N,4] x) => (float[N,4] y) <int64[2] s = {2, 4}> { y = Add(x, s) }")
    assert "cannot load the result" in prove(source, broken).reason


def test_a_shape_that_freezes_differs(image):
    source = image("g (float[N,4] x) => (float[M] y) <int64[1] s = {-1}> { y = Reshape(x, s) }")
    frozen = image("g (float[N,4] x) => (float[M] y) <int64[1] s = {8}> { y = Reshape(x, s) }")
    assert prove(source, frozen).verdict == "differs"


def test_an_expand_dropped_on_a_shared_name_differs(image):
    source = image("g (float[N,4] x, float[N,4] z) => (float[N,4] y) { s = Shape(x) y = Expand(z, s) }")
    dropped = image("g (float[N,4] x, float[N,4] z) => (float[N,4] y) { y = Identity(z) }")
    verdict = prove(source, dropped)
    assert verdict.verdict == "differs"


def test_an_interface_change_differs_before_anything_runs(image):
    source = image("g (float[N] x) => (float[N] y) { y = Relu(x) }")
    result = image("g (float[N] x) => (float[M] y) { y = Relu(x) }")
    verdict = prove(source, result)
    assert verdict.verdict == "differs"
    assert verdict.reason.startswith("interface: ")
    assert verdict.evidence.sessions == 0
    allowed = ProofSettings(interface_changes=frozenset({"shapes"}))
    assert prove(source, result, settings=allowed).verdict == "equivalent"


def test_a_source_without_accepted_inputs_is_not_run(image):
    text = "g (float[2,3] x) => (float[7] y) <int64[1] k = {7}> { %s y = Reshape(a, k) }"
    verdict = prove(image(text % "a = Relu(x)"), image(text % "a = Abs(x)"))
    assert verdict.verdict == "not run"
    assert "the model itself does not run" in verdict.reason


def test_a_source_that_does_not_load_is_not_run(image):
    bad = image("g (float[2] x) => (float[2] y) { y = Relu(nowhere) }")
    other = image("g (float[2] x) => (float[2] y) { y = Abs(nowhere) }")
    assert prove(bad, other).verdict == "not run"


def test_a_time_limit_never_selects_a_weaker_result(image):
    text = """g (float[256,256] x) => (float[256,256] y) { n = Constant<value = int64 {100000}>()
      c = Constant<value = bool {1}>()
      y = Loop(n, c, x) <body = b (int64 i, bool k, float[256,256] s) => (bool l, float[256,256] t) {
        l = Identity(k) p = MatMul(s, s) t = %s(p) }> }"""
    settings = ProofSettings(timeout_seconds=0.3)
    verdict = prove(image(text % "Tanh"), image(text % "Sigmoid"), settings=settings)
    assert verdict.verdict == "not run"
    assert "time limit" in verdict.reason
    assert verdict.evidence.seconds < 10


def test_strict_uses_all_samples(conv_bn):
    verdict = prove(conv_bn(), conv_bn(fold={}), edits=ROUNDED, settings=ProofSettings(strict=True))
    assert verdict.verdict == "equivalent"
    assert verdict.evidence.samples == 6


def test_user_data_may_be_a_single_sample(conv_bn, tmp_path):
    np.savez(tmp_path / "a.npz", x=np.random.default_rng(0).standard_normal((1, 3, 9, 9)).astype(np.float32))
    settings = ProofSettings(data=str(tmp_path / "a.npz"))
    verdict = prove(conv_bn(), conv_bn(fold={}), edits=ROUNDED, settings=settings)
    assert (verdict.verdict, verdict.evidence.samples) == ("equivalent", 1)
    assert verdict.evidence.profiles == ("user data",)


def test_the_source_is_prepared_once_for_several_candidates(conv_bn):
    prover = Prover(conv_bn(), ProofSettings())
    first = prover.judge(conv_bn(fold={}), ROUNDED)
    second = prover.judge(conv_bn(fold={}), ROUNDED)
    assert second.reason == first.reason
    assert second.evidence.runs < first.evidence.runs
    assert second.evidence.sessions < first.evidence.sessions


def test_the_verdict_is_the_same_each_time(conv_bn):
    one, two = (prove(conv_bn(), conv_bn(fold={}), edits=ROUNDED) for _ in range(2))
    assert one.evidence.outputs == two.evidence.outputs
    assert one.reason == two.reason


def test_half_precision_is_judged_in_its_own_epsilon(image):
    text = "g (float16[4,16] x) => (float16[4,16] y) { %s }"
    rng = np.random.default_rng(0)
    weight = rng.standard_normal((16, 16)).astype(np.float16)
    source = image(text % "y = MatMul(x, w)", w=weight)
    split = image(
        text % "p, q = Split<axis = -1>(x) u = MatMul(p, w1) v = MatMul(q, w2) y = Add(u, v)",
        w1=weight[:8],
        w2=weight[8:],
    )
    assert prove(source, split).verdict == "equivalent"
    wrong = image(text % "y = MatMul(x, w)", w=weight * np.float16(1.05))
    assert prove(source, wrong).verdict == "differs"


def test_casting_weights_to_half_precision_differs(image):
    text = "g (float[4,64] x) => (float[4,64] y) { y = MatMul(x, w) }"
    weight = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)
    assert (
        prove(image(text, w=weight), image(text, w=weight.astype(np.float16).astype(np.float32))).verdict
        == "differs"
    )


def test_models_without_float_weights_need_equal_outputs(image):
    source = image("g (float[4] x) => (float[4] y) { a = Exp(x) y = Log(a) }")
    same = image("g (float[4] x) => (float[4] y) { a = Exp(x) b = Log(a) y = Abs(b) }")
    assert prove(source, same).verdict == "differs"
    abs_twice = image("g (float[4] x) => (float[4] y) { b = Abs(x) y = Abs(b) }")
    assert prove(image("g (float[4] x) => (float[4] y) { y = Abs(x) }"), abs_twice).basis == "samples"


def test_strings_and_integers_must_be_equal(image):
    words = "g (string[3] s, int64[3] i) => (string[3] t, int64[3] j) { t = Identity(s) j = %s }"
    source = image(words % "Add(i, i)")
    two = """g (string[3] s, int64[3] i) => (string[3] t, int64[3] j) <int64 k = {2}>
      { t = Identity(s) j = Mul(i, k) }"""
    assert prove(source, image(two)).verdict == "equivalent"
    assert prove(source, image(two.replace("{2}", "{3}"))).verdict == "differs"


def test_sequences_are_compared(image):
    text = "g (seq(float[N,2]) s) => (seq(float[N,2]) t) { e = %s t = SequenceInsert(s, e) }"
    source = image(text.replace("{ e", "<float[1,2] z = {1, 2}> { e") % "Relu(z)")
    other = image(text.replace("{ e", "<float[1,2] z = {1, 2}> { e") % "Abs(z)")
    wrong = image(text.replace("{ e", "<float[1,2] z = {1, 2}> { e") % "Neg(z)")
    assert prove(source, other).verdict == "equivalent"
    assert prove(source, wrong).verdict == "differs"


def test_constant_outputs_must_be_equal_bit_for_bit(image):
    text = (
        "g (float[4,16] x) => (float[4,16] y, float[2] k) <float[2] c = {%s}> { y = MatMul(x, w) k = %s(c) }"
    )
    weight = np.random.default_rng(0).standard_normal((16, 16)).astype(np.float32)
    source = image(text % ("1, 2", "Relu"), w=weight)
    assert prove(source, image(text % ("1, 2", "Abs"), w=weight)).verdict == "equivalent"
    assert prove(source, image(text % ("1, 2.001", "Relu"), w=weight)).verdict == "differs"
