from __future__ import annotations

import pytest

from onnxsim_ci.feeds.meaning import input_meanings
from onnxsim_ci.feeds.specs import input_specs


def meaning_of(model, name="i"):
    return input_meanings(model, input_specs(model))[name]


@pytest.mark.parametrize(
    "body",
    [
        "y = Gather(t, i)",
        "c = Cast<to = 6>(i) y = Gather(t, c)",
        "a = Constant<value = int64[1] {0}>() u = Unsqueeze(i, a) s = Squeeze(u, a) y = Gather(t, s)",
    ],
)
def test_an_index_stays_inside_its_table(model, body):
    text = f"g (int64[N] i) => (float[N] y) <float[5] t = {{1, 2, 3, 4, 5}}> {{ {body} }}"
    assert meaning_of(model(text)).high == 5


def test_the_axis_decides_which_size_limits(model):
    text = "g (int64[N] i) => (float[2,N] y) <float[2,3] t = {1,2,3,4,5,6}> { y = Gather<axis = -1>(t, i) }"
    assert meaning_of(model(text)).high == 3


def test_a_table_that_is_an_input_limits_by_its_symbol(model):
    text = "g (int64[N] i, float[M,2] t) => (float[N,2] y) { r = Relu(t) y = Gather(r, i) }"
    assert meaning_of(model(text)).size_of == ["M"]


def test_one_hot_depth_limits(model):
    text = """g (int64[N] i) => (float[N,7] y) {
      d = Constant<value = int64 {7}>() v = Constant<value = float[2] {0, 1}>() y = OneHot(i, d, v) }"""
    assert meaning_of(model(text)).high == 7


def test_comparisons_divisors_masks_and_branches(model):
    text = """g (int64 i, int64 j, bool b, bool m, float[2] x) => (float[2] y, bool e, int64 q, float[2] w) {
      k = Constant<value = int64 {16000}>() e = Equal(i, k) q = Div(k, j) w = Where(m, x, x)
      y = If(b) <then_branch = t () => (float[2] p) { p = Relu(x) },
               else_branch = f () => (float[2] r) { r = Neg(x) }>
    }"""
    built = model(text)
    assert meaning_of(built, "i").compared == [16000]
    assert meaning_of(built, "j").delicate
    assert meaning_of(built, "j").low == 1
    assert meaning_of(built, "m").mask
    assert meaning_of(built, "b").branch


def test_bodies_are_followed(model):
    text = """g (int64[N] i, bool b) => (float[N] y) <float[4] t = {1, 2, 3, 4}> {
      y = If(b) <then_branch = p () => (float[N] u) { u = Gather(t, i) },
                 else_branch = q () => (float[N] v) { v = Gather(t, i) }> }"""
    assert meaning_of(model(text)).high == 4


def test_counts_are_small_and_positive(model):
    text = "g (int64[K] i) => (float[N] y) { y = ConstantOfShape(i) }"
    assert (meaning_of(model(text)).low, meaning_of(model(text)).high) == (1, 5)


def test_an_index_into_a_shape_that_nobody_knows_says_nothing(model):
    text = "g (int64[N] i, float[A,B] x, int64[K] s) => (float[M] y) { r = Reshape(x, s) y = Gather(r, i) }"
    assert meaning_of(model(text)).high is None
