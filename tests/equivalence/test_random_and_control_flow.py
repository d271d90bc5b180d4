from __future__ import annotations

import numpy as np
import pytest

from onnxsim_ci.equivalence import Edits, ProofSettings, Prover, prove

WEIGHT = np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32)
SPLIT = "p, q = Split<axis = -1>(x) u = MatMul(p, w1) v = MatMul(q, w2) m = Add(u, v)"
HALVES = {"w1": WEIGHT[:4], "w2": WEIGHT[4:]}
WRONG = {"w1": WEIGHT[:4], "w2": WEIGHT[4:] * np.float32(1.01)}
EDITS = Edits(all_exact=False, rounding_outputs=("m",))


@pytest.mark.parametrize(
    "noise", ["RandomNormalLike(m)", "RandomUniformLike(m)", "Bernoulli(h)", "RandomNormal<shape = [2, 8]>()"]
)
def test_random_operators_draw_the_same_on_both_sides(image, noise):
    text = "g (float[2,8] x) => (float[2,8] y) { %s h = Sigmoid(m) r = " + noise + " y = Add(m, r) }"
    source = image(text % "m = MatMul(x, w)", w=WEIGHT)
    prover = Prover(source, ProofSettings())
    good = prover.judge(image(text % SPLIT, **HALVES), EDITS)
    assert good.verdict == "equivalent"
    assert prover.judge(image(text % SPLIT, **WRONG), EDITS).verdict == "differs"
    assert prover.judge(image(text % SPLIT, **HALVES)).verdict == "equivalent"


def test_merged_random_operators_differ(image):
    text = "g (float[2,8] x) => (float[2,8] y) { a = RandomNormalLike(x) %s y = Add(c, x) }"
    two = image(text % "b = RandomNormalLike(x) c = Sub(a, b)")
    one = image(text % "c = Sub(a, a)")
    assert prove(two, one).verdict == "differs"


def test_dropout_in_training_mode_is_random(image):
    text = """g (float[2,64] x) => (float[2,64] y) <float r = {0.5}, bool t = {1}> {
      a = %s y = Dropout(a, r, t) }"""
    assert prove(
        image(text % "Relu(x)"), image(text % "Identity(x) b = Relu(a)".replace("a = Identity", "a = Relu"))
    )
    good = prove(image(text % "Relu(x)"), image(text.replace("a = %s", "n = Neg(x) m = Neg(n) a = Relu(m)")))
    assert good.verdict == "equivalent"


BRANCHES = """g (float[2,8] x, int64 rate) => (float[2,8] y) {
  k = Constant<value = int64 {16000}>() c = Equal(rate, k)
  y = If(c) <
    then_branch = t () => (float[2,8] a) { a = MatMul(x, w) },
    else_branch = e () => (float[2,8] b) { b = MatMul(x, %s) }
  >
}"""


def test_an_error_in_either_branch_is_found(image):
    source = image(BRANCHES % "w2", w=WEIGHT, w2=WEIGHT.T.copy())
    wrong = WEIGHT.T * np.float32(1.01)
    assert prove(source, image(BRANCHES % "w2", w=WEIGHT, w2=wrong)).verdict == "differs"
    assert (
        prove(source, image(BRANCHES % "w2", w=WEIGHT * np.float32(1.01), w2=WEIGHT.T.copy())).verdict
        == "differs"
    )


def test_loops_and_scans_run(image):
    text = """g (float[2,8] x) => (float[2,8] y) {
      n = Constant<value = int64 {3}>() c = Constant<value = bool {1}>()
      y = Loop(n, c, x) <body = b (int64 i, bool k, float[2,8] s) => (bool l, float[2,8] t) {
        l = Identity(k) m = MatMul(s, w) t = %s(m) }> }"""
    source = image(text % "Tanh", w=WEIGHT)
    assert prove(source, image(text % "Softsign", w=WEIGHT)).verdict == "differs"
    near = image(text % "Tanh", w=WEIGHT * np.float32(1.01))
    assert prove(source, near).verdict == "differs"


def test_local_functions_run(image):
    text = """<ir_version: 8, opset_import: ["" : 17, "f" : 1]>
    g (float[2,8] x) => (float[2,8] y) { y = f.act(x) }
    <domain: "f", opset_import: ["" : 17]> act (a) => (b) { c = Exp(a) b = %s(c) }"""
    assert prove(image(text % "Log"), image(text % "Neg")).verdict == "differs"
    inlined = "g (float[2,8] x) => (float[2,8] y) { c = Exp(x) y = Log(c) }"
    assert prove(image(text % "Log"), image(inlined)).verdict == "equivalent"
