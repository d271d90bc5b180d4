from __future__ import annotations

import numpy as np
import pytest

from onnxsim_ci.equivalence import Edits, ProofSettings, Prover, prove
from onnxsim_ci.equivalence.discrete import floats_before

RNG = np.random.default_rng(0)
WEIGHT = RNG.standard_normal((32, 32)).astype(np.float32)
SPLIT = "p, q = Split<axis = -1>(x) u = MatMul(p, w1) v = MatMul(q, w2) m = Add(u, v)"
HALVES = {"w1": WEIGHT[:16], "w2": WEIGHT[16:]}
EDITS = Edits(all_exact=False, rounding_outputs=("m",))
TEXT = "g (float[8,32] x) => (int64[8,32] y) { %s t = Mul(m, big) r = Round(t) y = Cast<to = 7>(r) }"
BIG = {
    "big": np.array(3e5, np.float32)
}  # rounding to integers near 1e6: floats differ there by an ulp of 0.06


def test_flips_that_follow_from_equal_floats_are_explained(image):
    prover = Prover(image(TEXT % "m = MatMul(x, w)", w=WEIGHT, **BIG), ProofSettings())
    verdict = prover.judge(image(TEXT % SPLIT, **HALVES, **BIG), EDITS)
    assert verdict.verdict == "equivalent"


def test_flips_that_do_not_follow_differ(image):
    prover = Prover(image(TEXT % "m = MatMul(x, w)", w=WEIGHT, **BIG), ProofSettings())
    wrong = {"w1": HALVES["w1"], "w2": HALVES["w2"] * np.float32(1.001)}
    assert prover.judge(image(TEXT % SPLIT, **wrong, **BIG), EDITS).verdict == "differs"


def test_argmax_of_equal_floats(image):
    text = "g (float[8,32] x) => (int64[8] y) { %s y = ArgMax<axis = -1, keepdims = 0>(m) }"
    source = image(text % "m = MatMul(x, w)", w=WEIGHT)
    assert prove(source, image(text % SPLIT, **HALVES), edits=EDITS).verdict == "equivalent"
    shifted = np.roll(WEIGHT, 1, axis=1)
    assert prove(source, image(text % "m = MatMul(x, w)", w=shifted), edits=EDITS).verdict == "differs"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y = ArgMax<axis = -1>(m)", ("m",)),
        ("a = ArgMax<axis = -1>(m) y = Identity(a)", ("m",)),
        ("c = Greater(m, x) y = Cast<to = 7>(c)", ("m", "x")),
    ],
)
def test_the_floats_before_an_integer(model, body, expected):
    text = f"g (float[8,32] x) => (int64[8,1] y) {{ m = Relu(x) {body} }}"
    assert floats_before(model(text), model(text), "y") == (
        tuple(sorted(expected)) if "Cast" not in body else ("c",)
    )


def test_other_nodes_explain_nothing(model):
    text = "g (float[8,32] x) => (int64[8,1] y) { m = Relu(x) y = %s<axis = -1>(m) }"
    assert floats_before(model(text % "ArgMax"), model(text % "ArgMin"), "y") is None
