from __future__ import annotations

import numpy as np
import pytest

from onnxsim_ci.feeds import HAZARDS, FeedRequest, hazard_feeds, make_feeds
from onnxsim_ci.runtime import ModelImage, open_session


@pytest.fixture
def hazards(model):
    def make(text, names):
        built = model(text)
        image = ModelImage(data=built.SerializeToString())
        session = open_session(image)
        ordinary = make_feeds(image, session, FeedRequest(samples=1)).samples[0]
        return {s.profile: s for s in hazard_feeds(built, session, ordinary, names)}

    return make


FLOATS = "g (float[N,16] x) => (float[N,16] y) { y = Relu(x) }"


def test_float_hazards_are_in_the_inputs(hazards):
    found = hazards(FLOATS, HAZARDS)
    x = {name: sample.values["x"] for name, sample in found.items()}
    assert np.signbit(x["negative_zero"][x["negative_zero"] == 0]).any()
    assert np.isposinf(x["infinity"]).any()
    assert np.isneginf(x["infinity"]).any()
    assert np.isnan(x["nan"]).any()
    assert np.abs(x["saturation"]).max() >= 100
    assert np.isfinite(x["large"]).all()
    assert np.abs(x["large"]).max() > 1e38
    tiny = np.abs(x["denormal"])
    assert ((tiny > 0) & (tiny < np.finfo(np.float32).tiny)).any()
    assert len(np.unique(x["ties"])) < x["ties"].size


def test_free_sizes_become_empty_and_one(hazards):
    found = hazards(FLOATS, {"empty", "batch_one"})
    assert found["empty"].values["x"].shape == (0, 16)
    assert found["empty"].answer["y"].shape == (0, 16)
    assert found["batch_one"].values["x"].shape == (1, 16)


def test_what_the_source_refuses_yields_no_sample(hazards):
    text = """g (float[N,16] x) => (float[2,16] y) {
      k = Constant<value = int64[2] {2, 16}>() y = Reshape(x, k) }"""
    assert "empty" not in hazards(text, {"empty", "nan"})


def test_overridable_initializers_are_overridden(hazards):
    text = "g (float[4] x, float[4] w = {1, 2, 3, 4}) => (float[4] y) { y = Mul(x, w) }"
    sample = hazards(text, {"overridden"})["overridden"]
    assert not np.array_equal(sample.values["w"], [1, 2, 3, 4])
    np.testing.assert_allclose(sample.answer["y"], sample.values["x"] * sample.values["w"])


def test_integer_extremes_spare_indices_and_divisors(hazards):
    text = """g (int32[8] a, int64[8] i, int32[8] d) =>
      (int32[8] y, float[8] z, int32[8] q) <float[3] t = {1, 2, 3}> {
      y = Abs(a) z = Gather(t, i) q = Div(d, d) }"""
    sample = hazards(text, {"integer_extremes"})["integer_extremes"]
    assert np.iinfo(np.int32).min in sample.values["a"]
    assert sample.values["i"].max() < 3
    assert sample.values["d"].min() >= 1


def test_half_floats_have_their_own_extremes(hazards):
    text = "g (float16[16] x) => (float16[16] y) { y = Identity(x) }"
    found = hazards(text, {"large", "nan"})
    assert np.isfinite(found["large"].values["x"]).all()
    assert np.isnan(found["nan"].values["x"]).any()


def test_unknown_names_are_ignored(hazards):
    assert hazards(FLOATS, {"no such hazard"}) == {}


def test_integers_that_become_a_size_on_the_way_are_spared(hazards):
    text = """g (int64[2] n, int64[8] a) => (float[A,B] y, int64[8] b) <int64 k = {2}> {
      m = Mul(n, k) c = Abs(m) l = Clip(c, k, k) y = ConstantOfShape(l) b = Neg(a) }"""
    sample = hazards(text, {"integer_extremes"})["integer_extremes"]
    assert np.abs(sample.values["n"]).max() < 1000
    assert np.iinfo(np.int64).max in sample.values["a"]
