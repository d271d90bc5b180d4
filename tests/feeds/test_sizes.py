from __future__ import annotations

import itertools

import pytest

from onnxsim_ci.feeds.sizes import assignments, candidates, divisible, shared_axes
from onnxsim_ci.feeds.specs import input_specs


@pytest.mark.parametrize(
    ("declared", "symbol", "first"),
    [
        ("float[N,3,H,W]", "N", 2),
        ("float[N,3,H,W]", "H", 64),
        ("float[N,C,8,8]", "C", 3),
        ("int64[B,S]", "S", 8),
        ("float[B,samples]", "samples", 64),
        ("float[B,T,40]", "T", 32),
        ('float[1,"?",64]', "x#1", 2),
        ("int64[batch_size]", "batch_size", 2),
    ],
)
def test_the_role_of_an_axis_orders_its_sizes(model, declared, symbol, first):
    specs = input_specs(model(f"g ({declared} x) => (float y) {{ y = Identity(x) }}"))
    assert candidates(specs)[symbol][0] == first


def test_a_symbol_on_two_axes_takes_sizes_that_fit_both(model):
    specs = input_specs(model("g (float[N,T] x, int64[T] z) => (float y) { y = Identity(x) }"))
    assert set(candidates(specs)["T"]) <= {64, 512, 256, 576, 1024, 16000}
    assert shared_axes(specs) == {"T": [("x", 1), ("z", 0)]}


def test_assignments_grow_from_the_first_sizes():
    found = list(assignments({"a": (1, 2), "b": (5, 6)}, {}))
    assert found[0] == {"a": 1, "b": 5}
    assert len(found) == 4
    assert found[-1] == {"a": 2, "b": 6}
    assert list(assignments({"a": (1, 2), "b": (5, 6)}, {"a": 9})) == [{"a": 9, "b": 5}, {"a": 9, "b": 6}]


def test_many_symbols_vary_one_at_a_time_first():
    found = list(itertools.islice(assignments({f"s{k}": (1, 2, 3) for k in range(9)}, {}), 19))
    assert all(sum(value != 1 for value in sizes.values()) <= 1 for sizes in found)


def test_the_last_resort_is_one_size_with_many_divisors_for_every_free_symbol():
    found = list(divisible({"a": (1, 2), "b": (5, 6)}, {"a": 9}))
    assert all(sizes["a"] == 9 and sizes["b"] % 12 == 0 for sizes in found)
    assert found
    assert not list(divisible({"a": (1, 2)}, {"a": 9}))
