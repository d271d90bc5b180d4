from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from onnxsim_ci.equivalence.differences import difference, same_bits


def f(*numbers, dtype=np.float32):
    return np.array(numbers, dtype)


def test_l2_is_taken_over_finite_elements_in_float64():
    seen = difference(f(3, np.inf, np.nan), f(7, np.inf, np.nan))
    assert seen.structure is None
    assert (seen.l2, seen.norm, seen.max_abs) == (4, 3, 4)
    assert not seen.bits_equal


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        (f(1, 2), f(1, 2, 3), "shape"),
        (f(1, 2), f(1, 2, dtype=np.float64), "dtype"),
        (f(1, np.nan), f(np.nan, 1), "NaN"),
        (f(1, np.inf), f(1, -np.inf), "infinities"),
        (f(1, np.inf), f(1, 2), "infinities"),
        (f(1, 2), f(1, np.inf), "infinities"),
        ([f(1)], [f(1), f(2)], "sequences"),
        ({"a": f(1)}, {"b": f(1)}, "maps"),
        (None, f(1), "optional"),
        ([f(1)], f(1), "sequences"),
        ([f(1, 2)], [f(1)], "shape"),
    ],
)
def test_structure(a, b, reason):
    seen = difference(a, b)
    assert reason in seen.structure
    assert not seen.bits_equal


def test_any_nan_equals_any_nan_but_zeros_have_signs():
    quiet = np.array([0x7FC00000], np.uint32).view(np.float32)
    other = np.array([0xFFC00001], np.uint32).view(np.float32)
    assert same_bits(quiet, other)
    assert not same_bits(f(0.0), f(-0.0))
    assert difference(f(0.0), f(-0.0)).l2 == 0.0


@pytest.mark.parametrize(
    "value",
    [
        np.array(["a", "é"], object),
        np.array([True, False]),
        np.zeros((0, 3), np.float32),
        np.array(3),
        np.array([1.5], ml_dtypes.bfloat16),
        [f(1), f(2)],
        {1: 2.0, 3: 4.0},
        None,
        np.array([1 + 2j], np.complex64),
    ],
)
def test_everything_equals_itself(value):
    assert same_bits(value, value)


def test_exact_values_are_counted():
    seen = difference(np.array([1, 2, 3]), np.array([1, 5, 6]))
    assert (seen.unequal, seen.count, seen.floats) == (2, 3, False)
    assert difference(np.array(["a"], object), np.array(["b"], object)).unequal == 1


def test_doubles_do_not_overflow_the_norm():
    seen = difference(f(1e300, 1e300, dtype=np.float64), f(1e300, 1.1e300, dtype=np.float64))
    assert np.isfinite(seen.norm)
    assert seen.relative_l2 == pytest.approx(0.0707, rel=1e-2)


def test_a_difference_from_zero_is_whole():
    assert difference(f(0, 0), f(0, 1e-20)).relative_l2 == 1.0


def test_epsilon_follows_the_dtype():
    assert difference(f(1, dtype=np.float16), f(2, dtype=np.float16)).eps == pytest.approx(2**-10)
    assert difference(np.array([1], ml_dtypes.bfloat16), np.array([2], ml_dtypes.bfloat16)).eps == 2**-7
