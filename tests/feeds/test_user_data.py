from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxsim_ci.feeds import BadUserData

TEXT = "g (float[N] x, int64[N] i) => (float[N] y, int64[N] j) { y = Relu(x) j = Neg(i) }"
X, INDICES = np.array([1.0, -2.0], np.float32), np.array([3, 4])


def test_npz_files_come_first_and_in_order(feed, tmp_path):
    for number in (2, 1):
        np.savez(tmp_path / f"s{number}.npz", x=X * number, i=INDICES)
    feeds = feed(TEXT, data=str(tmp_path / "*.npz"))
    assert [sample.values["x"][0] for sample in feeds.samples] == [1.0, 2.0]
    assert feeds.samples[0].profile == "user data"
    assert feeds.samples[0].note.endswith("s1.npz")
    np.testing.assert_array_equal(feeds.samples[0].answer["y"], [1, 0])


def test_a_folder_of_npy_files(feed, tmp_path):
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "i.npy", INDICES)
    assert len(feed(TEXT, data=str(tmp_path)).samples) == 1


def test_test_data_sets_with_tensors_and_sequences(feed, tmp_path):
    text = """g (float[N] x, seq(float[N]) s) => (float[N] y, float[M] z)
      { y = Relu(x) z = ConcatFromSequence<axis=0>(s) }"""
    for number in range(2):
        folder = tmp_path / f"test_data_set_{number}"
        folder.mkdir()
        (folder / "input_0.pb").write_bytes(onnx.numpy_helper.from_array(X).SerializeToString())
        (folder / "input_1.pb").write_bytes(onnx.numpy_helper.from_list([X, X]).SerializeToString())
    feeds = feed(text, data=str(tmp_path))
    assert len(feeds.samples) == 2
    np.testing.assert_array_equal(feeds.samples[0].values["s"][1], X)


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda p: np.savez(p / "a.npz", x=X), "no input 'i'"),
        (lambda p: np.savez(p / "a.npz", x=X, i=INDICES, q=X), "'q' is no input"),
        (lambda p: np.savez(p / "a.npz", x=X.astype(np.float64), i=INDICES), "'x' is float64"),
        (lambda p: (p / "a.npz").write_bytes(b"no zip"), r"a\.npz"),
        (lambda p: None, "no file matches"),
        (lambda p: np.savez(p / "a.npz", x=np.array([object()]), i=INDICES), r"a\.npz"),
    ],
)
def test_bad_files_are_named(feed, tmp_path, write, message):
    write(tmp_path)
    with pytest.raises(BadUserData, match=message):
        feed(TEXT, data=str(tmp_path / "*.npz"))


def test_data_that_the_source_refuses_is_a_failure_and_made_samples_take_over(feed, tmp_path):
    np.savez(tmp_path / "a.npz", x=X, z=np.ones(5, np.float32))
    text = "g (float[N] x, float[N] z) => (float[N] y) { y = Add(x, z) }"
    feeds = feed(text, data=str(tmp_path / "a.npz"))
    assert feeds.failures
    assert feeds.samples[0].profile != "user data"
