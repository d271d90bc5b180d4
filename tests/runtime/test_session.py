from __future__ import annotations

import subprocess
import sys
import time

import ml_dtypes
import numpy as np
import onnx
import pytest

from onnxsim_ci.runtime import Level, ModelImage, RunFailure, RuntimeRefusal, open_session

SCALE = """g (float[N,4] x) => (float[N,4] y, float[N,4] z) <float[4] w = {1, 2, 3, 4}>
      { y = Mul(x, w) z = Neg(y) }"""
LOOP = """
g (int64 count, float[64,64] x) => (float[64,64] y) {
  go = Constant<value = bool {1}>()
  y = Loop(count, go, x) <body = b (int64 i, bool c, float[64,64] s) => (bool d, float[64,64] t) {
    d = Identity(c)
    p = MatMul(s, s)
    t = Tanh(p)
  }>
}
"""


def test_returns_outputs_by_name_in_the_order_asked_for(image):
    session = open_session(image(SCALE))
    answer = session.run({"x": np.ones((2, 4), np.float32)}, ["z", "y"])
    assert list(answer) == ["z", "y"]
    np.testing.assert_array_equal(answer["y"][0], [1, 2, 3, 4])
    assert list(session.run({"x": np.ones((1, 4), np.float32)})) == ["y", "z"]


def test_ports_say_name_type_and_shape(image):
    session = open_session(image(SCALE))
    assert [(port.name, port.type, port.shape) for port in session.inputs] == [
        ("x", "tensor(float)", ("N", 4))
    ]
    assert [port.name for port in session.outputs] == ["y", "z"]


@pytest.mark.parametrize("level", list(Level))
def test_levels_and_threads_give_the_same_function(image, level):
    answer = open_session(image(SCALE), level=level, threads=2).run({"x": np.ones((1, 4), np.float32)})
    np.testing.assert_array_equal(answer["z"], [[-1, -2, -3, -4]])


def test_level_by_name(image):
    assert open_session(image(SCALE), level="all").inputs[0].name == "x"


def test_refusal_carries_the_first_line_without_source_places(image):
    with pytest.raises(RuntimeRefusal) as caught:
        open_session(
            image(
                """<ir_version: 8, opset_import: ["" : 17, "my" : 1]> g (float x) => (float y)
      { y = my.Odd(x) }"""
            )
        )
    assert "Odd" in str(caught.value)
    assert "onnxruntime_src" not in caught.value.message
    assert "\n" not in str(caught.value)


def test_failure_of_a_run_leaves_the_session_usable(image):
    session = open_session(image(SCALE))
    with pytest.raises(RunFailure, match="invalid dimensions") as caught:
        session.run({"x": np.ones((1, 5), np.float32)})
    assert "Expected: 4" in caught.value.message
    assert not caught.value.timed_out
    assert session.run({"x": np.ones((1, 4), np.float32)})["y"].shape == (1, 4)


def test_a_run_is_stopped_when_its_time_is_over(image):
    session = open_session(image(LOOP))
    feeds = {"count": np.array(10_000_000), "x": np.full((64, 64), 0.01, np.float32)}
    started = time.monotonic()
    with pytest.raises(RunFailure) as caught:
        session.run(feeds, seconds=0.2)
    assert caught.value.timed_out
    assert time.monotonic() - started < 10


OVERRIDES = """
g (float[4] x, bool c) => (float[4] y, float[4] z) <float[4] w = {1, 2, 3, 4}> {
  k = Constant<value = float[4] {10, 20, 30, 40}>()
  a = Mul(x, w)
  y = Add(a, k)
  z = If(c) <
    then_branch = t () => (float[4] o) <float[4] inner = {5, 5, 5, 5}> { o = Mul(a, inner) },
    else_branch = e () => (float[4] o2) { kk = Constant<value = float[4] {7, 7, 7, 7}>() o2 = Mul(a, kk) }
  >
}
"""


@pytest.mark.parametrize(
    ("name", "condition", "output", "expected"),
    [
        ("w", True, "y", [110, 120, 130, 140]),
        ("k", True, "y", [101, 102, 103, 104]),
        ("inner", True, "z", [100, 200, 300, 400]),
        ("kk", False, "z", [100, 200, 300, 400]),
    ],
)
def test_overrides_reach_initializers_constants_and_bodies(image, name, condition, output, expected):
    session = open_session(image(OVERRIDES), overrides={name: np.full(4, 100, np.float32)})
    answer = session.run({"x": np.ones(4, np.float32), "c": np.array(condition)})
    np.testing.assert_array_equal(answer[output], expected)


def test_external_data_is_found_in_the_folder_and_can_be_overridden(image, tmp_path):
    model = onnx.ModelProto.FromString(image(SCALE).data)
    tensor = model.graph.initializer[0]
    (tmp_path / "w.bin").write_bytes(b"skip" + np.arange(4, dtype=np.float32).tobytes())
    tensor.ClearField("float_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", "w.bin"), ("offset", "4"), ("length", "16")):
        tensor.external_data.add(key=key, value=value)
    outside = ModelImage(data=model.SerializeToString(), folder=str(tmp_path))
    ones = {"x": np.ones((1, 4), np.float32)}
    np.testing.assert_array_equal(open_session(outside).run(ones)["y"], [[0, 1, 2, 3]])
    changed = open_session(outside, overrides={"w": np.full(4, 9, np.float32)})
    np.testing.assert_array_equal(changed.run(ones)["y"], [[9, 9, 9, 9]])


def test_bfloat16_passes_both_ways(image):
    session = open_session(image("g (bfloat16[2,3] x) => (bfloat16[2,3] y) { y = Identity(x) }"))
    value = np.arange(6).reshape(2, 3).astype(ml_dtypes.bfloat16)
    answer = session.run({"x": value})["y"]
    assert answer.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(answer, value)


def test_sequences_strings_and_empty_tensors(image):
    text = """g (seq(float[K]) s, string[2] t) => (float[M] y, string[2] u)
      { y = ConcatFromSequence<axis = 0>(s) u = Identity(t) }"""
    answer = open_session(image(text)).run(
        {"s": [np.ones(2, np.float32), np.zeros(0, np.float32)], "t": np.array(["a", "é"], object)}
    )
    assert answer["y"].shape == (2,)
    assert list(answer["u"]) == ["a", "é"]


def test_overridable_initializers_are_listed_apart(image):
    text = "g (float[4] x, float[4] w = {1, 2, 3, 4}) => (float[4] y) { y = Mul(x, w) }"
    session = open_session(image(text))
    assert [port.name for port in session.inputs] == ["x"]
    assert [port.name for port in session.overridable] == ["w"]


def test_importing_the_room_does_not_import_onnxruntime():
    code = "import sys, onnxsim_ci.runtime; sys.exit('onnxruntime' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
