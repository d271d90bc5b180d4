from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxsim_ci.equivalence import Edits, ProofSettings, prove
from onnxsim_ci.equivalence.weights import disturbed, float_constants, nudged, read, weight_bytes
from onnxsim_ci.runtime import ModelImage


def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(("dtype", "ulp"), [(np.float16, 2**-10), (np.float32, 2**-23), (np.float64, 2**-52)])
def test_a_nudge_is_one_ulp_and_leaves_the_original(dtype, ulp):
    array = rng().standard_normal(200_000).astype(dtype)
    before = array.copy()
    moved = nudged(array, rng())
    np.testing.assert_array_equal(array, before)
    relative = np.abs(moved.astype(np.float64) - array) / np.abs(array.astype(np.float64))
    assert 0 < relative.max() <= 1.5 * ulp
    assert (moved != array).mean() > 0.2


def test_special_values_stay():
    array = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, np.finfo(np.float32).max], np.float32)
    assert nudged(array, rng()).tobytes() == array.tobytes() or np.isfinite(nudged(array, rng())[5])
    assert np.isnan(nudged(array, rng())[4])


@pytest.mark.parametrize("shape", [(), (0, 3), (3, 1, 5)])
def test_shapes_survive(shape):
    array = np.ones(shape, np.float32)
    assert nudged(array, rng()).shape == shape
    assert disturbed(array, rng(), 0.01).shape == shape


def test_a_disturbance_has_the_size_asked_for():
    array = np.full(100_000, 3, np.float32)
    assert np.std(disturbed(array, rng(), 0.01) / array) == pytest.approx(0.01, rel=0.05)


def test_constants_of_all_scopes_once_each(model):
    built = model(
        """g (bool c, float[2] x, float[2] over = {1, 2}) =>
      (float[2] y, float[2] z) <float[2] w = {1, 2}, int64[1] i = {1}> {
          k = Constant<value = float[2] {3, 4}>() a = Mul(x, w) b = Mul(a, k) z = Mul(b, over)
          y = If(c) <then_branch = t () => (float[2] o) <float[2] inner = {5, 5}> { o = Mul(b, inner) },
                     else_branch = e () => (float[2] p) <float[2] same = {5, 5}> { p = Mul(b, same) }> }"""
    )
    assert {constant.name for constant in float_constants(built)} == {"w", "k", "inner", "same"}


def test_external_tensors_are_mapped(model, tmp_path):
    values = rng().standard_normal((16, 16)).astype(np.float32)
    built = model("g (float[2,16] x) => (float[2,16] y) { y = MatMul(x, w) }", w=values)
    onnx.save(built, tmp_path / "m.onnx", save_as_external_data=True, location="m.bin", size_threshold=0)
    light = onnx.load(tmp_path / "m.onnx", load_external_data=False)
    tensor = light.graph.initializer[0]
    np.testing.assert_array_equal(read(tensor, str(tmp_path)), values)
    assert weight_bytes(light) == values.nbytes
    with pytest.raises(ValueError, match="no folder"):
        read(tensor, None)


TEXT = "g (float[4,16] x) => (float[4,16] y) { a = MatMul(x, w) b = Add(a, c) %s }"


def arrays(**more):
    return {"w": rng().standard_normal((16, 16)).astype(np.float32), "c": np.zeros(16, np.float32), **more}


def test_planted_errors_are_caught_on_a_live_model(image):
    verdict = prove(
        image(TEXT % "y = Tanh(b)", **arrays()), image(TEXT % "n = Neg(b) t = Tanh(n) y = Neg(t)", **arrays())
    )
    assert verdict.verdict == "equivalent"
    assert verdict.evidence.caught == verdict.evidence.planted == 1  # the zero bias is no place for an error


def test_a_saturated_model_is_inconclusive(image):
    text = TEXT % "s = Mul(b, k) y = Sigmoid(s)"
    saturated = arrays(k=np.array(1e6, np.float32))
    other = TEXT % "s = Mul(k, b) n = Neg(s) o = Neg(n) y = Sigmoid(o)"
    verdict = prove(image(text, **saturated), image(other, **saturated))
    assert verdict.verdict in ("equivalent", "inconclusive")
    wrong = arrays(k=np.array(1.5e6, np.float32))
    assert prove(image(text, **saturated), image(text, **wrong)).verdict != "equivalent"


def test_all_zero_weights_leave_nothing_to_plant(image):
    zeros = {"w": np.zeros((16, 16), np.float32), "c": np.zeros(16, np.float32)}
    verdict = prove(image(TEXT % "y = Tanh(b)", **zeros), image(TEXT % "y = Softsign(b)", **zeros))
    assert verdict.verdict == "inconclusive"
    assert "same number everywhere" in verdict.reason


def test_ill_conditioned_outputs_are_inconclusive(image):
    """Sin of a large argument: rounding alone turns it over, so ten units would allow anything."""
    text = "g (float[4,64] x) => (float[4,64] y) { %s s = Mul(m, k) y = Sin(s) }"
    weight = rng().standard_normal((64, 64)).astype(np.float32)
    big = np.array(1e7, np.float32)
    split = "p, q = Split<axis = -1>(x) u = MatMul(p, w1) v = MatMul(q, w2) m = Add(u, v)"
    source = image(text % "m = MatMul(x, w)", w=weight, k=big)
    result = image(text % split, w1=weight[:32], w2=weight[32:], k=big)
    verdict = prove(source, result)
    assert verdict.verdict == "inconclusive"
    assert "rounding alone moves" in verdict.reason
    edits = Edits(all_exact=False, rounding_outputs=("m",))
    assert prove(source, result, edits=edits).basis == "islands"
    wrong = image(text % split, w1=weight[:32], w2=weight[32:] * np.float32(1.01), k=big)
    assert prove(source, wrong, edits=edits).verdict == "differs"


def test_large_models_are_not_copied(model, tmp_path):
    """A sparse file stands for 288 MiB of weights."""
    size = 6144
    texts = {
        "s": """g (float[N,6144] x) => (float[N,8] y)
      { a = MatMul(x, w0) b = MatMul(a, w1) c = Relu(b) y = MatMul(c, t) }""",
        "r": """g (float[N,6144] x) => (float[N,8] y)
      { a = MatMul(x, w0) b = MatMul(a, w1) d = Neg(b) e = Neg(d) c = Relu(e) y = MatMul(c, t) }""",
    }
    with (tmp_path / "big.bin").open("wb") as file:
        file.truncate(2 * size * size * 4)
        for start in (0, size * size * 4):  # a unit diagonal
            for row in range(size):
                file.seek(start + (row * size + row) * 4)
                file.write(np.float32(1).tobytes())
    images = []
    for text in texts.values():
        built = model(text, t=rng().standard_normal((size, 8)).astype(np.float32))
        for number in range(2):
            tensor = built.graph.initializer.add(
                name=f"w{number}", data_type=1, dims=[size, size], data_location=onnx.TensorProto.EXTERNAL
            )
            place = {"location": "big.bin", "offset": number * size * size * 4, "length": size * size * 4}
            for key, value in place.items():
                tensor.external_data.add(key=key, value=str(value))
        images.append(ModelImage(data=built.SerializeToString(), folder=str(tmp_path)))
    before = _anonymous()
    verdict = prove(*images, edits=Edits(all_exact=False, rounding_outputs=("c",)), settings=ProofSettings())
    assert verdict.verdict == "equivalent"
    assert verdict.evidence.samples == 3
    assert _anonymous() - before < 100


def _anonymous():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("RssAnon"))
