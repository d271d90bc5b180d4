from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxsim_ci.feeds import InputSpec, Kind
from onnxsim_ci.feeds.meaning import Meaning
from onnxsim_ci.feeds.values import PROFILES, Draw, dtype_of, mask, tensor

T = onnx.TensorProto


def draw(profile="normal", seed=0, sizes=None):
    return Draw(np.random.default_rng(seed), profile, sizes or {})


def spec(element, name="x"):
    return InputSpec(name=name, kind=Kind.TENSOR, element=element, dims=())


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("element", [T.FLOAT, T.DOUBLE, T.FLOAT16, T.BFLOAT16])
def test_profiles_are_finite_in_every_float_dtype(profile, element):
    value = tensor(spec(element), (2, 3, 8, 8), Meaning(), {}, draw(profile))
    assert value.dtype == dtype_of(element)
    assert np.isfinite(value.astype(np.float64)).all()
    assert np.unique(value.astype(np.float64)).size > 3


@pytest.mark.parametrize("element", [T.INT8, T.UINT8, T.INT16, T.INT32, T.INT64, T.UINT64])
def test_integers_stay_in_their_range(element):
    value = tensor(spec(element), (200,), Meaning(low=1, high=5), {}, draw())
    assert set(value.tolist()) == {1, 2, 3, 4}
    assert value.dtype == dtype_of(element)


def test_the_same_seed_gives_the_same_bytes():
    first, second = (tensor(spec(T.FLOAT), (4, 4), Meaning(), {}, draw("smooth", 3)) for _ in range(2))
    assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize("shape", [(), (4,), (0,), (3, 0), (2, 9), (2, 1, 1, 9)])
def test_a_mask_is_padded_at_the_right_and_never_all_zero(shape):
    value = mask(np.random.default_rng(0), shape)
    assert value.shape == shape
    if value.size:
        assert (value.reshape(-1, shape[-1] if shape else 1)[:, 0] == 1).all()
        assert (np.diff(value, axis=-1) <= 0).all() if shape else True


def test_masks_by_name_and_strings():
    assert set(np.unique(tensor(spec(T.INT64, "attention_mask"), (4, 16), Meaning(), {}, draw()))) <= {0, 1}
    words = tensor(spec(T.STRING), (3, 2), Meaning(), {}, draw())
    assert words.dtype == object
    assert all(isinstance(word, str) for word in words.ravel())


def test_symbols_limit_indices():
    value = tensor(spec(T.INT64), (100,), Meaning(size_of=["M"]), {}, draw(sizes={"M": 3}))
    assert set(value.tolist()) == {0, 1, 2}


@pytest.mark.parametrize(
    ("hint", "check"),
    [
        ({"value": 7}, lambda v: (v == 7).all()),
        ({"kind": "ones"}, lambda v: (v == 1).all()),
        ({"kind": "arange"}, lambda v: v.tolist() == [[0, 1, 2], [0, 1, 2]]),
        ({"low": 5, "high": 6}, lambda v: (v == 5).all()),
    ],
)
def test_hints(hint, check):
    assert check(tensor(spec(T.INT64), (2, 3), Meaning(), hint, draw()))


def test_float_hints_bound_every_profile():
    for profile in PROFILES:
        value = tensor(spec(T.FLOAT), (1, 1, 16, 16), Meaning(), {"low": -1, "high": 1}, draw(profile))
        assert value.min() >= -1
        assert value.max() <= 1
