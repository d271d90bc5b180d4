"""No rule without a fixture, no fixture without a rule, no topic and no reason without a case."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from pathlib import Path

import fixture_files
import onnx
import pytest
from one_rule import BY_ID, apply_rule, refusals
from onnx_text import canonical, parse

from onnxsim_ci.rewrite import RULES, Rule
from onnxsim_ci.rewrite.plan import FOLD_SLACK_BYTES

PATHS = {fixture_files.rule_id_of(path): path for path in fixture_files.files()}
TOPICS = ("plain", "symbolic", "second_reader", "graph_output", "body", "function", "first_opset")
WITHOUT_CASE_BELOW = {
    "eliminate-cast": "no evaluator has a kernel for Cast below opset 6",
    "eliminate-dropout": "no evaluator has a kernel for Dropout below opset 7",
    "eliminate-tile": "no evaluator has a kernel for Tile below opset 6",
    "fuse-batchnorm-into-gemm": "no evaluator has a kernel for Gemm below opset 7 that broadcasts",
    "eliminate-expand-before-broadcast": "there is no Expand below opset 8",
    "merge-split-transposes": "no evaluator has a kernel for Split below opset 2",
    "fuse-add-into-layer-normalization": "there is no LayerNormalization below opset 17",
    "eliminate-zero-state": "no evaluator has a kernel for RNN below opset 7",
    "convert-reshape-target": "Reshape has no target to convert below opset 5",
}
"""Rules that start above the first version of their operators, and have no case one opset below."""
UNREACHABLE = {
    "an input is absent",
    "its input is absent",
    "it has not two branches",
    "the branch of {0!r} holds sparse initializers",
    "it has not two operands",
    "the convolution has no weight",
    "the bias of {0!r} has another shape or element type",
    "the matrices beside {0!r} are too large to be joined",
    "its branches have more outputs than it names",
    "the weight {0!r} is shared, a copy would make the model larger",
}
"""Reasons that guard against what checker and runtime refuse, or that ONNX text cannot show: a large weight
has its test below, sparse initializers theirs in tests/rewrite/test_splicing.py."""


def test_every_rule_has_a_fixture_and_every_fixture_a_rule() -> None:
    assert sorted(PATHS) == sorted(BY_ID)
    for rule in RULES:
        assert PATHS[rule.id].parent.name == rule.family


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.id)
def test_every_topic_has_a_case(rule: Rule) -> None:
    names = [case.name for case in fixture_files.read(PATHS[rule.id])]
    assert len(set(names)) == len(names)
    topics = [*TOPICS, *(["opset_below"] if _exists_below(rule) else [])]
    assert [topic for topic in topics if not any(topic in name for name in names)] == []


def _exists_below(rule: Rule) -> bool:
    if rule.id in WITHOUT_CASE_BELOW:
        return False
    return any(
        s.name in rule.roots and s.since_version < rule.since_opset
        for s in onnx.defs.get_all_schemas_with_history()
    )


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.id)
def test_names_say_what_happens(rule: Rule) -> None:
    for case in fixture_files.read(PATHS[rule.id]):
        if case.declined != ("not written yet",) and (case.becomes or case.declined):
            assert case.name.startswith("declines") == bool(case.declined), case.name


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.id)
def test_every_case_stands_in_the_range_that_it_names(rule: Rule) -> None:
    for case in fixture_files.read(PATHS[rule.id]):
        version = next(o.version for o in parse(case.source).opset_import if o.domain == "")
        if case.name == "first_opset":
            assert version == rule.since_opset
        if case.name == "declines_one_opset_below":
            assert version == rule.since_opset - 1


def test_every_reason_has_a_case() -> None:
    shown = [
        reason for path in PATHS.values() for case in fixture_files.read(path) for reason in case.declined
    ]
    missing = {
        f"{where}: {template}"
        for where, template in _templates()
        if template not in UNREACHABLE and not any(_pattern(template).fullmatch(reason) for reason in shown)
    }
    assert not missing, "\n".join(sorted(missing))
    assert not [t for t in UNREACHABLE if any(_pattern(t).fullmatch(reason) for reason in shown)]


def test_a_large_weight_with_a_second_reader_is_not_copied() -> None:
    numbers = ", ".join(f"{n}.0" for n in range(1, FOLD_SLACK_BYTES // 4 + 2))
    source = parse(
        f"g (float[1,1,2000] x) => (float[1,1,?] y, float[1,1,?] z) "
        f"<float[1,1,{FOLD_SLACK_BYTES // 4 + 1}] w = {{{numbers}}}, "
        "float b = {3.0}> { a = Conv(x, w)  y = Mul(a, b)  z = Neg(w) }"
    )
    rule = BY_ID["fuse-mul-into-conv"]
    result, _ = apply_rule(source, rule)
    assert canonical(result) == canonical(source)
    assert refusals(source, rule) == ["the weight 'w' is shared, a copy would make the model larger"]


def _templates() -> set[tuple[str, str]]:
    """(module, text) of every Declined that a rule, or a module that rules share, may return."""
    modules = {inspect.getmodule(rule.propose) for rule in RULES} | {sys.modules["onnxsim_ci.rewrite.linear"]}
    found: set[tuple[str, str]] = set()
    for module in modules:
        assert module is not None
        assert module.__file__ is not None
        for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Declined":
                template = ast.literal_eval(node.args[0])
                found.add((module.__name__.rpartition(".")[2], template))
    return found


def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{\d(?:!r)?\\\}", ".*", re.escape(template)))
