from __future__ import annotations

import os
import signal
import time

import numpy as np

from onnxsim_ci.runtime import RunFailure, isolated, open_session


def test_answers_come_back_in_order():
    assert isolated([lambda: 1, lambda: "two", lambda: np.arange(3).tolist()]) == [1, "two", [0, 1, 2]]
    assert isolated([]) == []


def test_a_large_answer_passes():
    (answer,) = isolated([lambda: np.ones(3_000_000)])
    assert answer.sum() == 3_000_000


def test_a_child_that_dies_costs_one_answer():
    first, died, last = isolated([lambda: 1, lambda: os.kill(os.getpid(), signal.SIGFPE), lambda: 3])
    assert (first, last) == (1, 3)
    assert isinstance(died, RunFailure)
    assert "signal 8" in str(died)


def test_a_failure_is_passed_on():
    def fail():
        raise RunFailure("what it said")

    failed, fine = isolated([fail, lambda: 2])
    assert failed.message == "what it said"
    assert fine == 2


def test_a_child_that_hangs_is_stopped():
    started = time.monotonic()
    answers = isolated([lambda: 1, lambda: time.sleep(60), lambda: 3], seconds=0.3)
    assert answers[0] == 1
    assert answers[1].timed_out
    assert isinstance(answers[2], RunFailure)
    assert time.monotonic() - started < 10


def test_an_operator_that_ends_the_process_is_a_failure(image):
    """Einsum of onnxruntime 1.32 divides by the size of an empty batch."""
    text = 'g (float[N,4] x, float[4,M] w) => (float[N,M] y) { y = Einsum<equation = "ij,jk->ik">(x, w) }'
    session = open_session(image(text))
    weight = np.ones((4, 3), np.float32)
    full, empty, again = session.run_isolated(
        [{"x": np.ones((n, 4), np.float32), "w": weight} for n in (2, 0, 1)], ["y"]
    )
    assert full["y"].shape == (2, 3)
    assert isinstance(empty, RunFailure) or empty["y"].shape == (0, 3)
    assert again["y"].shape == (1, 3)
