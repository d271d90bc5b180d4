import pytest

from onnxsim_ci.report import VerdictReport, wording


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (10**8, "95.4 MiB"), (2**40, "1,024.0 GiB")],
)
def test_sizes(count: int, text: str) -> None:
    assert wording.size(count) == text


@pytest.mark.parametrize(
    ("source", "result", "text"),
    [
        (10, 10, ""),
        (10, 7, "-30.0 %"),
        (0, 3, "+3"),
        (100_000, 99_999, "-1"),
        (100, 250, "+150.0 %"),
        (0, 0, ""),
    ],
)
def test_changes(source: int, result: int, text: str) -> None:
    assert wording.change(source, result) == text


def test_a_tiny_change_of_a_size_is_said_in_bytes() -> None:
    assert wording.size_change(10**9, 10**9 - 2048) == "-2.0 KiB"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.004, "0.00 s"), (9.99, "9.99 s"), (12.34, "12.3 s"), (185, "3 min 5 s")]
)
def test_durations(seconds: float, text: str) -> None:
    assert wording.duration(seconds) == text


def test_what_is_not_equivalent_says_its_reason() -> None:
    verdict = VerdictReport(verdict="not run", reason="the model itself does not run")
    assert wording.proof(verdict) == "not run: the model itself does not run"
