import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnxsim_ci.policy import quantities


@pytest.mark.parametrize(
    ("text", "count"),
    [("64MiB", 64 * 2**20), ("1KB", 1000), ("1.5GB", 1_500_000_000), ("0", 0), ("7B", 7), (12, 12)],
)
def test_sizes_are_read(text: object, count: int) -> None:
    assert quantities.parse_bytes(text) == count


@pytest.mark.parametrize(
    "text", ["64 MiB", "64mib", "MiB", "-1B", "12", "", None, True, -5, [1], "1e3B", "1 TB"]
)
def test_what_is_no_size_is_refused_with_the_grammar(text: object) -> None:
    with pytest.raises(ValueError, match="B KB MB GB KiB MiB GiB"):
        quantities.parse_bytes(text)


@given(st.integers(0, 2**60))
def test_a_size_is_written_as_it_is_read(count: int) -> None:
    assert quantities.parse_bytes(quantities.format_bytes(count)) == count


@given(st.integers(0, 10**15))
def test_a_count_is_written_as_it_is_read(count: int) -> None:
    assert quantities.parse_count(quantities.format_count(count)) == count


@pytest.mark.parametrize(("text", "seconds"), [("300s", 300.0), ("1.5min", 90.0), ("1h", 3600.0), (2, 2.0)])
def test_durations_are_read(text: object, seconds: float) -> None:
    assert quantities.parse_seconds(text) == seconds


@pytest.mark.parametrize("text", ["0s", -1, float("inf"), float("nan"), "5 s", "5", True])
def test_what_is_no_duration_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="duration"):
        quantities.parse_seconds(text)


@pytest.mark.parametrize(
    ("text", "source", "limit"),
    [
        ("+0", 100, 100),
        ("0", 100, 100),
        ("+5%", 100, 105),
        ("+5%", 19, 19),
        ("-10%", 100, 90),
        ("+2MiB", 10, 10 + 2 * 2**20),
        ("-3", 2, 0),
        (7, 1, 8),
        ("+10%", 30, 33),
    ],
)
def test_an_allowance_limits_relative_to_the_source(text: object, source: int, limit: int) -> None:
    assert quantities.parse_allowance(text).limit(source) == limit


@pytest.mark.parametrize("text", ["++1", "5 %", "five", "+2XB", None, True, 1.5])
def test_what_is_no_allowance_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="allowance"):
        quantities.parse_allowance(text)
