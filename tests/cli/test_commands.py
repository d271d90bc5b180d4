"""verify, inspect, explain, rules, rule, policy, cache."""

import json
import tomllib
from pathlib import Path
from typing import Any

from onnxsim_ci.policy.schema import policy_schema_text
from onnxsim_ci.rewrite import RULES


def test_verify_tells_equal_from_different(here: Path, call: Any) -> None:
    assert call("verify", "models/a.onnx", "simple.onnx").code == 0
    done = call("verify", "simple.onnx", "other.onnx", "--json")
    assert done.code == 1
    (entry,) = json.loads(done.out)["models"]
    assert (entry["relation"], entry["compared_with"]) == ("pair", "other.onnx")
    assert entry["verdict"]["verdict"] == "differs"


def test_verify_of_no_model_is_one_sentence(here: Path, call: Any) -> None:
    done = call("verify", "simple.onnx", "gone.onnx")
    assert (done.code, done.err.count("\n")) == (2, 1)


def test_inspect_shows_interface_and_operators(here: Path, call: Any) -> None:
    text = call("inspect", "models/a.onnx").out
    assert "x: float [N, 3, 8, 8]" in text
    assert "ai.onnx 17" in text
    facts = json.loads(call("inspect", "models/a.onnx", "--json", "--shapes").out)
    assert facts["dynamic"] == ["N"]
    assert facts["figures"]["operators"] == {"Identity": 1, "Relu": 2}
    assert {value["name"] for value in facts["values"]} == {"a", "b"}
    assert facts["redundancy"]["identity_and_dropout_nodes"] == 1


def test_explain_gives_reasons_and_refuses_unknown_names(here: Path, call: Any) -> None:
    done = call("explain", "models/a.onnx")
    assert done.code == 0
    assert "+ eliminate-identity" in done.out
    assert call("explain", "models/a.onnx", "no-such-thing").code == 2
    rows = json.loads(call("explain", "models/a.onnx", "eliminate-identity", "--json").out)
    assert any(row["fired"] for row in rows)


def test_rules_lists_the_catalogue(here: Path, call: Any) -> None:
    rows = json.loads(call("rules", "--json").out)
    assert [row["id"] for row in rows] == [rule.id for rule in RULES]
    assert RULES[0].id in call("rules").out
    counted = json.loads(call("rules", "--json", "--stats", "models/a.onnx").out)
    row = next(row for row in counted if row["id"] == "eliminate-identity")
    assert (row["tried"], row["fired"], row["nodes"], row["bytes"]) == (1, 1, -1, 0)
    assert row["milliseconds"] >= 0
    assert "milliseconds" in call("rules", "--stats", "models/a.onnx").out


def test_rule_prints_a_page_and_suggests_the_nearest(call: Any) -> None:
    done = call("rule", "eliminate-identity")
    assert done.code == 0
    assert "result   exact" in done.out
    missed = call("rule", "eliminate-identy")
    assert missed.code == 2
    assert "did you mean 'eliminate-identity'" in missed.err


def test_policy_show_prints_toml_with_origins(here: Path, call: Any) -> None:
    (here / "onnxsim-ci.toml").write_text("[verify]\nsamples = 9\n")
    done = call("policy", "show", "models/a.onnx", "--set", "verify.seed=7")
    table = tomllib.loads(done.out)
    assert (table["verify"]["samples"], table["verify"]["seed"], table["preset"]) == (9, 7, "dynamic")
    assert "# onnxsim-ci.toml:2:1" in done.out
    assert "# flag --set verify.seed" in done.out
    assert "# auto: an input has a free dimension" in done.out


def test_policy_check_reports_all_mistakes_and_unused_overrides(here: Path, call: Any) -> None:
    assert call("policy", "check").code == 0
    (here / "onnxsim-ci.toml").write_text("[[overrides]]\nfiles = ['gone/**']\n")
    done = call("policy", "check")
    assert done.code == 0
    assert "matches no file" in done.err
    (here / "onnxsim-ci.toml").write_text("a = 1\nb = 2\n")
    done = call("policy", "check", "onnxsim-ci.toml", "models/a.onnx")
    assert done.code == 2
    assert done.err.count("\n") == 2


def test_policy_schema_and_init(here: Path, call: Any) -> None:
    assert call("policy", "schema").out == policy_schema_text()
    assert call("policy", "init").code == 0
    text = (here / "onnxsim-ci.toml").read_text()
    assert "# bind = { N = 1 }" in text
    assert call("policy", "check").code == 0
    assert call("policy", "init").code == 2


def test_cache_is_shown_and_cleared(call: Any) -> None:
    from onnxsim_ci.cache import Known, default_cache

    default_cache().write("ab" * 32, Known(refusals=(("r", "why"),)))
    assert "1 entries" in call("cache", "info").out
    assert "removed 1 entries" in call("cache", "clear").out
    assert default_cache().read("ab" * 32) == Known()
