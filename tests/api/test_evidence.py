"""Evidence of the author's machine: without times, about exact bytes, rewritten only with its model."""

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import onnx
import pytest
from small_models import BLOATED, SIMPLE, save

from onnxsim_ci.api import optimize
from onnxsim_ci.policy import Policy
from onnxsim_ci.report.evidence import read_claim

FILE = Policy.model_validate({"report": {"evidence": "file"}})
NOTE = Policy.model_validate({"report": {"evidence": "git-note"}})


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for name in ("GIT_AUTHOR", "GIT_COMMITTER"):
        monkeypatch.setenv(f"{name}_NAME", "t")
        monkeypatch.setenv(f"{name}_EMAIL", "t@example.invalid")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_file_names_both_models_and_the_proof(here: Path) -> None:
    model = save(here / "m.onnx", BLOATED)
    before = sha(model)
    entry = optimize(model, policy=FILE, output=model).report.models[0]
    assert entry.added_files == ("m.onnx.evidence.json",)
    claim = read_claim((here / "m.onnx.evidence.json").read_bytes())
    assert claim is not None
    assert (claim.source_sha256, claim.model_sha256) == (before, sha(model))
    assert (claim.verdict.verdict, claim.verdict.basis) == ("equivalent", "exact")
    assert (claim.source.nodes, claim.result.nodes) == (3, 1)
    assert {use.rule for use in claim.rules} >= {"eliminate-identity"}


def test_the_same_proof_gives_the_same_bytes_and_no_times(here: Path) -> None:
    texts = []
    for name in ("one", "two"):
        model = save(here / name / "m.onnx", BLOATED)
        optimize(model, policy=FILE, output=model)
        texts.append((here / name / "m.onnx.evidence.json").read_text())
    assert texts[0] == texts[1]
    assert "seconds" not in texts[0]
    assert str(here) not in texts[0]


def test_it_is_rewritten_only_with_its_model(here: Path) -> None:
    model = save(here / "m.onnx", BLOATED)
    optimize(model, policy=FILE, output=model)
    place = here / "m.onnx.evidence.json"
    place.write_text("somebody else's")
    entry = optimize(model, policy=FILE, output=model).report.models[0]
    assert (entry.outcome, entry.added_files, place.read_text()) == ("unchanged", (), "somebody else's")
    save(model, SIMPLE)
    place.unlink()
    optimize(model, policy=FILE, output=model)
    assert not place.exists()


def test_off_and_unproven_leave_nothing(here: Path) -> None:
    model = save(here / "m.onnx", BLOATED)
    optimize(model, output=here / "out.onnx")
    tight = Policy.model_validate({"report": {"evidence": "file"}, "budget": {"nodes": "+0", "max_nodes": 0}})
    optimize(model, policy=FILE)
    assert sorted(path.name for path in here.iterdir()) == [".git", "m.onnx", "out.onnx"]
    entry = optimize(model, policy=tight, output=model).report.models[0]
    assert entry.outcome == "simplified"
    assert (here / "m.onnx.evidence.json").exists()


def test_digests_of_data_files_are_those_on_disk(here: Path) -> None:
    import numpy as np

    model = save(
        here / "m.onnx", BLOATED.replace("y = Relu(b)", "c = Relu(b)  y = Add(c, w)"), w=np.ones((1, 3))
    )
    onnx.save(onnx.load(model), model, save_as_external_data=True, location="m.data", size_threshold=0)
    optimize(model, policy=FILE, output=model)
    claim = read_claim((here / "m.onnx.evidence.json").read_bytes())
    assert claim is not None
    assert dict(claim.data_sha256) == {"m.data": sha(here / "m.data")}


def test_a_note_hangs_on_the_blob_and_touches_neither_index_nor_files(here: Path) -> None:
    model = save(here / "m.onnx", BLOATED)
    entry = optimize(model, policy=NOTE, output=model).report.models[0]
    assert (entry.added_files, entry.warnings) == ((), ())
    blob = subprocess.run(["git", "hash-object", "m.onnx"], cwd=here, capture_output=True, check=True).stdout
    note = subprocess.run(
        ["git", "notes", "--ref=onnxsim-ci", "show", blob.decode().strip()],
        cwd=here, capture_output=True, check=True,
    ).stdout  # fmt: skip
    claim = read_claim(note)
    assert claim is not None
    assert claim.model_sha256 == sha(model)
    assert sorted(path.name for path in here.iterdir()) == [".git", "m.onnx"]
    assert not (here / ".git" / "index").exists()


def test_outside_a_repository_a_note_is_a_warning(here: Path) -> None:
    shutil.rmtree(here / ".git")
    model = save(here / "m.onnx", BLOATED)
    entry = optimize(model, policy=NOTE, output=model).report.models[0]
    assert entry.outcome == "simplified"
    assert "this is no repository" in entry.warnings[0]


@pytest.mark.parametrize("text", [b"", b"{}", b"[]", b"nonsense", b'{"form": 2}'])
def test_another_form_is_no_claim(text: bytes) -> None:
    assert read_claim(text) is None


@pytest.mark.parametrize("policy", [FILE, NOTE])
def test_inspect_shows_what_was_claimed_and_for_which_bytes(here: Path, policy: Policy, capsys: Any) -> None:
    from onnxsim_ci.cli import run

    model = save(here / "m.onnx", BLOATED)
    optimize(model, policy=policy, output=model)
    assert run(["inspect", str(model), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["evidence"]
    assert shown["matches"] is True
    assert shown["proof"].startswith("equivalent (exact)")
    assert run(["inspect", str(model)]) == 0
    assert "claimed by onnxsim-ci" in capsys.readouterr().out
    if policy is FILE:
        save(model, SIMPLE.replace("Relu", "Abs"))
        assert run(["inspect", str(model)]) == 0
        assert "is about other bytes than these" in capsys.readouterr().out
