"""The response of a weight to a term: rows are added one after the other, whatever their number and width."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsim_ci.rewrite.absorbing import WIDE, summed


@pytest.mark.parametrize("columns", [1, 2, 3, WIDE - 1, WIDE, WIDE + 1, 64, 301])
@pytest.mark.parametrize("count", [1, 2, 9, 130, 2049])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_are_added_in_order(columns: int, count: int, order: str) -> None:
    numbers = np.random.default_rng(count + columns).standard_normal((count, columns))
    rows = np.asarray(numbers * 2.0 ** (np.arange(columns) % 40), order=order)  # type: ignore[call-overload]
    total = np.zeros(columns)
    for row in numbers * 2.0 ** (np.arange(columns) % 40):
        total = total + row
    assert np.array_equal(summed(rows), total, equal_nan=True)
