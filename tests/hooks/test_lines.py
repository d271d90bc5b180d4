"""One line a model, and the exit code of each outcome."""

from typing import Any

import pytest

from onnxsim_ci.errors import shown
from onnxsim_ci.hooks.lines import overrides, said
from onnxsim_ci.hooks.said import pasted
from onnxsim_ci.policy import Policy
from onnxsim_ci.report import Figures, ModelReport, Refusal, VerdictReport, judge

NAME = "models/m.onnx"


def figures(nodes: int, size: int) -> Figures:
    return Figures(
        nodes=nodes,
        parameters=0,
        initializers=0,
        file_bytes=size,
        operators={},
        opsets={"": 17},
        ir_version=8,
    )


def entry(outcome: str, verdict: str = "equivalent", **more: Any) -> ModelReport:
    basis = "samples" if verdict == "equivalent" else None
    said_so = VerdictReport(verdict=verdict, basis=basis, reason="the reason")  # type: ignore[arg-type]
    return ModelReport(
        path=NAME,
        outcome=outcome,
        verdict=said_so,
        source=figures(312, 13_000_000),
        result=figures(187, 12_700_000),
        **more,
    )


def line(outcome: str, verdict: str = "equivalent", **more: Any) -> tuple[str, int, str]:
    policy = Policy.model_validate(more.pop("policy", {}))
    flags = {"was_written": False, "is_check": False, **more}
    judged = judge(entry(outcome, verdict), policy, command="check")
    found = said(NAME, judged, policy.verify, **flags)
    return found.kind, int(found.code), found.line


def test_a_rewritten_model() -> None:
    assert line("simplified", was_written=True) == (
        "rewritten",
        1,
        "models/m.onnx: 312 → 187 nodes, 12.4 → 12.1 MiB, proven (samples)",
    )


def test_a_model_that_another_process_wrote() -> None:
    assert line("unchanged", was_written=True) == (
        "rewritten",
        1,
        "models/m.onnx: was written by another process meanwhile",
    )


@pytest.mark.parametrize(
    ("outcome", "verdict", "policy", "code"),
    [
        ("unproven", "inconclusive", {}, 0),
        ("unproven", "not run", {}, 0),
        ("unproven", "inconclusive", {"verify": {"strict": True}}, 1),
        ("differs", "differs", {}, 0),
        ("differs", "differs", {"verify": {"strict": True}}, 1),
        ("differs", "differs", {"verify": {"on_mismatch": "fail"}}, 1),
    ],
)
def test_what_is_not_proven_is_left_alone(outcome: str, verdict: str, policy: Any, code: int) -> None:
    kind, found, text = line(outcome, verdict, policy=policy)
    assert (kind, found) == ("left alone", code)
    assert text == f"models/m.onnx: left alone, {verdict}: the reason"


def test_check_tells_what_would_be_and_a_switched_off_gate_says_nothing() -> None:
    kind, code, text = line("simplified", is_check=True)
    assert (kind, code) == ("would change", 1)
    assert text.startswith("models/m.onnx: would become 312 → 187 nodes")
    assert line("simplified", is_check=True, policy={"gate": {"simplified": False}}) == ("clean", 0, "")


def test_an_unchanged_model_is_not_mentioned_unless_it_is_over_its_budget() -> None:
    assert line("unchanged") == ("clean", 0, "")
    kind, code, text = line("unchanged", policy={"budget": {"max_nodes": 100}})
    assert (kind, code) == ("refused", 1)
    assert text == "models/m.onnx: budget.max_nodes is 187, allowed is 100"
    assert "not written, budget.max_nodes" in line("over budget", policy={"budget": {"max_nodes": 100}})[2]


def test_refused_rules_are_policy_lines() -> None:
    left_out = (Refusal(rule="fuse-x", reason="r"), Refusal(rule="rounding", reason="r"))
    assert overrides(NAME, entry("simplified", refusals=left_out))[1:] == [
        "[[overrides]]",
        'files = ["/models/m.onnx"]',
        'simplify.skip = ["fuse-x"]',
        "simplify.rounding = false",
    ]
    assert overrides(NAME, entry("simplified")) == []


@pytest.mark.parametrize(
    ("name", "seen", "word"),
    [
        ("a.onnx", "a.onnx", "a.onnx"),
        ("a b.onnx", "a b.onnx", "'a b.onnx'"),
        ("-x.onnx", "-x.onnx", "./-x.onnx"),
        ("q'$(x).onnx", "q'$(x).onnx", "'q'\"'\"'$(x).onnx'"),
        ("a\n\x1b[31mb", "a\\x0a\\x1b[31mb", r"$'a\x0a\x1b[31mb'"),
        ("l\udce9'\\", "l\\xe9'\\", r"$'l\xe9\x27\x5c'"),
        ("rtl\u202efdp", "rtl\\u202efdp", r"$'rtl\xe2\x80\xaefdp'"),
    ],
)
def test_names_cannot_disturb_a_terminal_and_survive_a_shell(name: str, seen: str, word: str) -> None:
    import os
    import subprocess

    assert shown(name) == seen
    assert pasted(name) == word
    done = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, check=True)
    assert os.fsdecode(done.stdout) in (name, f"./{name}")
