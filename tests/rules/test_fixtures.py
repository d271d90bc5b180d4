"""Every case of every rule's fixture: the graph that the rule makes of it, with equal outputs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import fixture_files
import pytest
from fixture_files import Case
from fixture_run import check_case, update_case
from one_rule import BY_ID
from onnx_text import canonical, parse

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite import Declined
from onnxsim_ci.rewrite.contract import Edit, NodeSpec
from onnxsim_ci.rewrite.contract import replace as replaced

KNOWN_BUGS: dict[str, str] = {}
"""Cases that fail, with where the bug is; strict, so that a line leaves together with its bug."""
CASES = [case for path in fixture_files.files() for case in fixture_files.read(path)]


def parameters() -> list[object]:
    """One parameter a case; known bugs are expected to fail."""
    found = []
    for case in CASES:
        name = f"{case.rule_id}-{case.name}"
        marks = [pytest.mark.xfail(reason=KNOWN_BUGS[name])] if name in KNOWN_BUGS else []
        found.append(pytest.param(case, id=name, marks=marks))
    return found


@pytest.mark.parametrize("case", parameters())
def test_case(case: Case, request: pytest.FixtureRequest) -> None:
    rule = BY_ID[case.rule_id]
    if request.config.getoption("--fixtures-update"):
        update_case(case, rule)
        return
    becomes, reasons = check_case(case, rule)
    assert case.becomes or case.declined, "no expectation yet: run `make fixtures`"
    assert reasons == case.declined
    if becomes:
        assert case.becomes, f"expected to be declined, became\n{becomes}"
        assert canonical(parse(becomes)) == canonical(parse(case.becomes)), f"became\n{becomes}"


# ---- the runner itself

TWO_TRANSPOSES = """# merge-transposes

## plain
A remark stays.

```onnx
g (float[2,3,5] x) => (float[5,2,3] y) { a = Transpose<perm=[0,2,1]>(x)  y = Transpose<perm=[1,0,2]>(a) }
```
declined: yesterday it was

## next_case_stays
```onnx
```
"""


def composed_the_wrong_way_round(node: Node, facts: Facts) -> Edit | Declined:
    inner = node.inputs[0].producer
    if inner is None:
        return Declined("no producer")
    first, second = inner.attribute("perm"), node.attribute("perm")
    perm = tuple(second[axis] for axis in first)
    return replaced(node, NodeSpec("Transpose", (inner.inputs[0],), {"perm": perm}, like=node), "wrong")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "merge_transposes.md"
    path.write_text(TWO_TRANSPOSES, encoding="utf-8")
    return path


def test_the_expectation_of_a_right_rule_is_written(file: Path) -> None:
    update_case(fixture_files.read(file)[0], BY_ID["merge-transposes"])
    text = file.read_text(encoding="utf-8")
    assert text.startswith(TWO_TRANSPOSES.partition("declined")[0])
    assert text.endswith("## next_case_stays\n```onnx\n```\n")
    assert "perm: ints = [2, 0, 1]" in fixture_files.read(file)[0].becomes
    update_case(fixture_files.read(file)[0], BY_ID["merge-transposes"])
    assert file.read_text(encoding="utf-8") == text


def test_a_wrong_rule_is_not_blessed(file: Path) -> None:
    wrong = replace(BY_ID["merge-transposes"], propose=composed_the_wrong_way_round)
    case = fixture_files.read(file)[0]
    with pytest.raises(Exception, match="differ in dimension"):
        update_case(case, wrong)
    untyped = replace(case, source=case.source.replace("float[5,2,3] y", "float[?,?,?] y"))
    with pytest.raises(AssertionError, match="became"):
        update_case(untyped, wrong)
    assert file.read_text(encoding="utf-8") == TWO_TRANSPOSES


def test_a_case_without_a_model_fails(file: Path) -> None:
    with pytest.raises(AssertionError, match="has no model"):
        update_case(fixture_files.read(file)[1], BY_ID["merge-transposes"])
