from __future__ import annotations

import time

import numpy as np
import onnx
import pytest

from onnxsim_ci.feeds import FeedRequest, make_feeds
from onnxsim_ci.runtime import ModelImage, open_session


def sizes(feeds, symbol):
    return {dict(sample.sizes)[symbol] for sample in feeds.samples}


def test_fixed_shapes_give_the_number_of_samples_asked_for(feed):
    feeds = feed("g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }", samples=6)
    assert len(feeds.samples) == 6
    assert len({sample.values["x"].tobytes() for sample in feeds.samples}) == 6
    assert [sample.profile for sample in feeds.samples] == [
        "smooth",
        "normal",
        "unit",
        "sparse",
        "wide",
        "image",
    ]
    assert feeds.reason is None


def test_the_first_samples_carry_the_answer_of_the_source(feed):
    feeds = feed("g (float[N] x) => (float[N] y) { y = Neg(x) }")
    first = feeds.samples[0]
    np.testing.assert_array_equal(first.answer["y"], -first.values["x"])


def test_seeds_repeat_and_differ(feed):
    text = "g (float[N,3] x) => (float[N,3] y) { y = Relu(x) }"
    one, two, other = feed(text, seed=1), feed(text, seed=1), feed(text, seed=2)
    assert all(
        np.array_equal(a.values["x"], b.values["x"]) for a, b in zip(one.samples, two.samples, strict=True)
    )
    assert not np.array_equal(one.samples[0].values["x"], other.samples[0].values["x"])


def test_every_free_dimension_takes_two_sizes(feed):
    feeds = feed("g (float[N,3,H,W] x) => (float[N,3,H,W] y) { y = Relu(x) }")
    for symbol in "NHW":
        assert len(sizes(feeds, symbol)) >= 2
    assert 1 in sizes(feeds, "N")


def test_sizes_are_found_by_trial(feed):
    text = "g (float[N,K] x) => (float[N,576] y) <float[576] w> { y = Add(x, w) }"
    built = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]>' + text.replace("<float[576] w>", "")
    )
    built.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(576, np.float32), "w"))
    image = ModelImage(data=built.SerializeToString())
    feeds = make_feeds(image, open_session(image), FeedRequest(samples=2))
    assert 576 in sizes(feeds, "K")


def test_a_size_that_divides_is_found_for_equal_parts(feed):
    samples = feed("g (float[N] x) => (float[n] y) { y, b = Split(x)  c, d, e, f, h = Split(x) }").samples
    assert samples[0].sizes[0][1] % 10 == 0


def test_an_equal_symbol_is_equal_but_broken_once_where_the_source_allows_it(feed):
    feeds = feed("g (float[N,4] x, float[N,4] z) => (float[N,4] y) { y = Add(x, z) }")
    broken = [s for s in feeds.samples if s.values["x"].shape[0] != s.values["z"].shape[0]]
    assert 1 <= len(broken) <= 2
    assert "'N'" in broken[0].note
    assert feeds.samples[0].note == ""


def test_an_equality_that_the_operator_needs_is_never_broken(feed):
    feeds = feed("g (float[2,K] x, float[K,3] z) => (float[2,3] y) { y = MatMul(x, z) }")
    assert len(feeds.samples) == 6
    assert all(s.values["x"].shape[1] == s.values["z"].shape[0] for s in feeds.samples)


def test_both_branches_run(feed):
    text = """g (float[4] x, int64 rate) => (float[4] y) {
      k = Constant<value = int64 {16000}>() c = Equal(rate, k)
      y = If(c) <then_branch = t () => (float[4] a) { a = Relu(x) },
               else_branch = e () => (float[4] b) { b = Neg(x) }>
    }"""
    assert {int(s.values["rate"]) for s in feed(text, samples=3).samples} == {16000, 8000}


def test_a_boolean_condition_takes_both_values(feed):
    text = """g (float[4] x, bool c) => (float[4] y) {
      y = If(c) <then_branch = t () => (float[4] a) { a = Relu(x) },
               else_branch = e () => (float[4] b) { b = Neg(x) }>
    }"""
    assert {bool(s.values["c"]) for s in feed(text, samples=3).samples} == {True, False}


def test_the_range_of_an_index_is_learnt_from_the_error(feed):
    text = """g (int64[N] i, int64[N] j, float[6] x) => (float[N] y) {
      k = Constant<value = int64[1] {6}>() t = Reshape(x, k) s = Add(i, j) y = Gather(t, s) }"""
    feeds = feed(text, samples=2)
    assert feeds.reason is None
    assert all((s.values["i"] + s.values["j"] < 6).all() for s in feeds.samples if s.answer is not None)


def test_sequences_and_lengths(feed):
    text = "g (seq(float[N,2]) s) => (float[M,2] y) { y = ConcatFromSequence<axis = 0>(s) }"
    sample = feed(text, samples=1).samples[0]
    assert isinstance(sample.values["s"], list)
    assert sample.values["s"][0].shape == (2, 2)
    text = """g (float[2,T] x, int64[2] x_lengths) => (float[2,T] y, int64[2] n)
      { y = Relu(x) n = Neg(x_lengths) }"""
    assert set(feed(text, samples=1).samples[0].values["x_lengths"]) == {64}


def test_shapes_and_hints_of_the_user_win(feed):
    text = """g (float[N,C,H,W] images, int64[N] ids) => (float[N,C,H,W] y, int64[N] z)
      { y = Relu(images) z = Neg(ids) }"""
    feeds = feed(
        text,
        shapes={"images": [[1, 3, 20, 24], [2, 3, 8, 8]]},
        hints={"inputs": {"ids": {"low": 3, "high": 4}}},
    )
    assert {s.values["images"].shape for s in feeds.samples} == {(1, 3, 20, 24), (2, 3, 8, 8)}
    assert all((s.values["ids"] == 3).all() for s in feeds.samples)
    bound = feed(text, hints={"dims": [{"N": 1, "images@2": 7}, {"N": 5}]})
    assert sizes(bound, "N") == {1, 5}
    assert 7 in {s.values["images"].shape[2] for s in bound.samples}


def test_undeclared_rank_is_tried(model):
    built = model("g (float[2] x, float[4,3] w) => (float[2] y) { y = MatMul(x, w) }")
    built.graph.input[0].type.tensor_type.ClearField("shape")
    image = ModelImage(data=built.SerializeToString())
    feeds = make_feeds(image, open_session(image), FeedRequest(samples=2, shapes={"x": [5, 4]}))
    assert feeds.samples[0].values["x"].shape == (5, 4)


def test_huge_inputs_are_refused_before_they_are_allocated(feed):
    started = time.monotonic()
    feeds = feed("g (float[100000,1000000] x) => (float[100000,1000000] y) { y = Relu(x) }")
    assert not feeds.samples
    assert "MiB" in feeds.reason
    assert time.monotonic() - started < 5


def test_a_source_that_never_runs_has_its_own_sentence(feed):
    text = """g (float[2,3] x) => (float[7] y) { k = Constant<value = int64[1] {7}>() y = Reshape(x, k) }"""
    feeds = feed(text)
    assert not feeds.samples
    assert feeds.reason.startswith("the model itself does not run: ")
    assert "verify.data" in feeds.reason
    assert feeds.failures


def test_a_slow_first_size_is_replaced_by_the_smallest(model):
    image = ModelImage(
        data=model("g (float[N,3,H,W] x) => (float[N,3,H,W] y) { y = Relu(x) }").SerializeToString()
    )

    class Slow:
        session = open_session(image)

        def run(self, feeds, outputs=None, *, seconds=None):
            if feeds["x"].size > 5000:
                time.sleep(0.35)
            return self.session.run(feeds, outputs)

    feeds = make_feeds(image, Slow(), FeedRequest(samples=1))
    assert feeds.samples[0].values["x"].shape == (1, 3, 32, 32)


def test_models_without_inputs_have_samples(feed):
    feeds = feed("g () => (float[2] y) <float[2] w = {1, 2}> { y = Relu(w) }", samples=3)
    assert len(feeds.samples) == 3
    assert feeds.samples[0].values == {}


@pytest.mark.parametrize("count", [1, 3, 6])
def test_many_symbols_stay_cheap(feed, count):
    inputs = ", ".join(f"float[A{k},B{k}] x{k}" for k in range(6))
    body = " ".join(f"y{k} = Relu(x{k})" for k in range(6))
    outputs = ", ".join(f"float[A{k},B{k}] y{k}" for k in range(6))
    feeds = feed(f"g ({inputs}) => ({outputs}) {{ {body} }}", samples=count)
    assert len(feeds.samples) == count
    assert feeds.trials <= 20


def test_overridable_initializers_keep_their_default_but_once(feed):
    text = "g (float[N,4] x, float[4] w = {1, 2, 3, 4}) => (float[N,4] y) { y = Mul(x, w) }"
    samples = feed(text).samples
    assert [number for number, sample in enumerate(samples) if "w" in sample.values] == [1]
    assert "overrides 'w'" in samples[1].note
    np.testing.assert_allclose(samples[1].answer["y"], samples[1].values["x"] * samples[1].values["w"])
