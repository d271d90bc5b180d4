"""The hook on real files in a real repository: what it writes, says, remembers, and with which exit code."""

import hashlib
import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from small_models import HEADER, SIMPLE, save

from onnxsim_ci.errors import ExitCode

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 12345\n"
HOSTILE = (
    "a b.onnx",
    "-dash.onnx",
    "nl\nx.onnx",
    "q'\"`$(x).onnx",
    "ünï-コ.onnx",
    "UPPER.ONNX",
    "--check.onnx",
)


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def git(here: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=here, check=True, capture_output=True, text=True).stdout


def test_a_bloated_model_is_rewritten_once(here: Path, hook: Any) -> None:
    model = save(here / "models" / "m.onnx")
    done = hook("models/m.onnx")
    assert done.code == 1
    assert done.lines == ["models/m.onnx: 3 → 1 nodes, 109 → 73 B, proven (exact, 2)"]
    after = sha(model)
    assert (hook("models/m.onnx"), sha(model)) == (type(done)(0, "", ""), after)
    assert hook("models/m.onnx").code == 0


def test_check_writes_nothing(here: Path, hook: Any) -> None:
    model = save(here / "m.onnx")
    before = sha(model)
    for _ in range(2):
        done = hook("--check", "m.onnx")
        assert (done.code, sha(model)) == (1, before)
        assert done.lines == ["m.onnx: would become 3 → 1 nodes, 109 → 73 B, proven (exact, 2)"]
    save(model, SIMPLE)
    assert hook("--check", "m.onnx").code == 0


def test_many_files_a_line_a_file_and_a_broken_one_stops_nobody(here: Path, hook: Any) -> None:
    save(here / "a.onnx")
    (here / "broken.onnx").write_bytes(b"\x08\x07no model")
    (here / "empty.onnx").write_bytes(b"")
    save(here / "z.onnx")
    done = hook("a.onnx", "broken.onnx", "empty.onnx", "gone.onnx", "z.onnx")
    assert done.code == 2
    told = {line.partition(":")[0]: line for line in done.lines}
    assert set(told) == {"a.onnx", "broken.onnx", "empty.onnx", "gone.onnx", "z.onnx"}
    assert len(done.lines) == 5
    assert told["empty.onnx"] == "empty.onnx: is empty, not an ONNX model"
    assert str(here) not in done.out
    assert "no such file" in told["gone.onnx"]
    assert all("1 nodes" in told[name] for name in ("a.onnx", "z.onnx"))
    assert (here / "broken.onnx").read_bytes() == b"\x08\x07no model"
    assert hook("broken.onnx").code == 2


def test_every_name_is_a_name(here: Path, hook: Any) -> None:
    names = [*HOSTILE, os.fsdecode(b"latin\xe9.onnx")]
    for name in names:
        save(here / name)
    done = hook(*names)
    assert done.code == 1
    assert len(done.lines) == len(names)
    assert all(line.isprintable() for line in done.lines)
    assert hook(*names) == type(done)(0, "", "")
    assert all(len(onnx.load(here / name).graph.node) == 1 for name in names)


def test_the_policy_of_each_path_decides(here: Path, hook: Any) -> None:
    for name in ("a.onnx", "off/b.onnx", "third/c.onnx"):
        save(here / name)
    (here / "onnxsim-ci.toml").write_text(
        'exclude = ["third/**"]\n[[overrides]]\nfiles = ["off/**"]\nsimplify.level = "off"\n'
    )
    done = hook("a.onnx", "off/b.onnx", "third/c.onnx")
    assert [line.partition(":")[0] for line in done.lines] == ["a.onnx"]
    assert hook("off/b.onnx", "third/c.onnx").lines == []
    (here / "third" / "onnxsim-ci.toml").write_text("")
    assert [line.partition(":")[0] for line in hook("off/b.onnx", "third/c.onnx").lines] == ["third/c.onnx"]


def test_a_changed_policy_is_looked_at_again(here: Path, hook: Any) -> None:
    model = save(here / "m.onnx")
    policy = here / "onnxsim-ci.toml"
    policy.write_text('simplify.level = "off"')
    assert hook("m.onnx").code == 0
    assert hook("m.onnx").code == 0
    policy.unlink()
    assert hook("m.onnx").code == 1
    assert len(onnx.load(model).graph.node) == 1


def test_the_mistakes_of_a_policy_are_told_once_and_stop_only_its_models(here: Path, hook: Any) -> None:
    for name in ("bad/a.onnx", "bad/b.onnx", "good.onnx"):
        save(here / name)
    (here / "bad" / "onnxsim-ci.toml").write_text("[verify]\nsampels = 3\nseed = -1\n")
    done = hook("bad/a.onnx", "bad/b.onnx", "good.onnx")
    assert done.code == 2
    assert sum("sampels" in line for line in done.lines) == 1
    assert (
        "error[bad-policy]: bad/onnxsim-ci.toml:2:1: verify.sampels: unknown key; did you mean 'samples'?"
        in done.lines
    )
    assert any(line.startswith("good.onnx: 3 → 1") for line in done.lines)


def test_arguments_set_values_and_name_a_policy(
    here: Path, hook: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    save(here / "m.onnx")
    (here / "ci.toml").write_text('simplify.level = "off"')
    assert hook("--set", "simplify.level=off", "m.onnx").code == 0
    assert hook("--policy=ci.toml", "m.onnx").code == 0
    assert hook("--policy", "gone.toml", "m.onnx").code == 2
    assert hook("--set", "nonsense", "m.onnx").code == 2
    outside = tmp_path / "outside.toml"
    outside.write_text('simplify.level = "off"')
    for _ in range(2):
        assert hook("--policy", "../outside.toml", "m.onnx") == type(hook("--help"))(0, "", "")
    monkeypatch.setenv("ONNXSIM_CI_POLICY", str(outside))
    assert hook("m.onnx").code == 0
    outside.write_text("")
    assert hook("m.onnx").code == 1


def test_from_a_folder_below_names_and_commands_fit(here: Path, hook: Any, monkeypatch: Any) -> None:
    save(here / "deep" / "m.onnx")
    (here / "onnxsim-ci.toml").write_text('report.evidence = "file"\n')
    monkeypatch.chdir(here / "deep")
    done = hook("m.onnx")
    assert done.lines[0].startswith("deep/m.onnx: 3 → 1 nodes")
    assert done.lines[-1] == "git add m.onnx.evidence.json"


def test_a_budget_refuses_and_the_file_stays(here: Path, hook: Any) -> None:
    model = save(here / "m.onnx")
    (here / "onnxsim-ci.toml").write_text('[budget]\nmax_bytes = "50B"\n')
    before = sha(model)
    done = hook("--set", "budget.max_nodes=0", "m.onnx")
    assert done.code == 1
    assert "budget.max_bytes is 73B, allowed is 50B (onnxsim-ci.toml:2:1)" in done.out
    save(model, SIMPLE)
    done = hook("m.onnx")
    assert done.code == 1
    assert done.lines == ["m.onnx: budget.max_bytes is 73B, allowed is 50B (onnxsim-ci.toml:2:1)"]
    assert before != sha(model)


def test_modes_and_links_stay(here: Path, hook: Any, tmp_path: Path) -> None:
    model = save(here / "real" / "m.onnx")
    model.chmod(0o755)
    (here / "link.onnx").symlink_to("real/m.onnx")
    (here / "folder").symlink_to("real")
    done = hook("link.onnx", "folder/m.onnx", "real/m.onnx")
    assert [line.partition(":")[0] for line in done.lines] == ["real/m.onnx"]
    assert (here / "link.onnx").is_symlink()
    assert stat.S_IMODE(model.stat().st_mode) == 0o755
    assert len(onnx.load(here / "link.onnx").graph.node) == 1


def test_what_must_not_be_written_is_refused(here: Path, hook: Any, tmp_path: Path) -> None:
    outside = save(tmp_path / "outside.onnx")
    (here / "link.onnx").symlink_to(outside)
    (here / "dangling.onnx").symlink_to("gone")
    (here / "folder.onnx").mkdir()
    os.mkfifo(here / "pipe.onnx")
    hard = save(here / "hard.onnx")
    os.link(hard, tmp_path / "second.onnx")
    before = [sha(outside), sha(hard)]
    names = ["link.onnx", "dangling.onnx", "folder.onnx", "pipe.onnx", "hard.onnx"]
    for name in names:
        done = hook(name)
        assert (done.code, len(done.lines)) == (2, 1), name
    assert [sha(outside), sha(hard)] == before
    assert os.stat(hard).st_nlink == 2
    assert hook("--check", "hard.onnx").code == 1


def test_pointers_are_skipped_and_damaged_ones_named(here: Path, hook: Any) -> None:
    (here / "p.onnx").write_text(POINTER)
    (here / "d.onnx").write_text(POINTER.replace("oid", "<<<<<<< HEAD\noid") + "=======\n>>>>>>> x\n")
    done = hook("p.onnx")
    assert (done.code, len(done.lines)) == (0, 1)
    assert "git lfs pull" in done.out
    assert hook("--require-content", "p.onnx").code == 2
    done = hook("d.onnx", "p.onnx")
    assert done.code == 2
    assert "d.onnx: is a damaged git-LFS pointer: it has conflict markers" in done.lines


def test_a_raw_model_where_attributes_say_lfs_is_named(here: Path, hook: Any) -> None:
    weights = np.random.default_rng(0).standard_normal(600)
    save(here / "m.onnx", HEADER + "g (float[600] x) => (float[600] y) { y = Add(x, w) }", w=weights)
    git(here, "add", "m.onnx")
    (here / ".gitattributes").write_text("*.onnx filter=lfs diff=lfs merge=lfs -text\n")
    done = hook("m.onnx")
    assert done.code == 0
    assert "m.onnx: .gitattributes says git-LFS, but the model itself is staged" in done.out


@pytest.fixture
def heavy(here: Path) -> Path:
    """A model whose fused weights are over 1 MiB, so that its result brings a data file of its own."""
    text = (
        HEADER
        + """g (float[1,512,3,3] x) => (float[1,512,3,3] y) {
    c = Conv(x, w)  n = BatchNormalization(c, scale, bias, mean, var)  y = Conv(n, kept) }"""
    )
    rng = np.random.default_rng(7)
    weights = {name: rng.standard_normal((512, 512, 1, 1)) / 20 for name in ("w", "kept")}
    rest = {name: rng.uniform(0.5, 1.5, 512) for name in ("scale", "bias", "mean", "var")}
    path = save(here / "big" / "m.onnx", text, **weights, **rest)
    onnx.save(onnx.load(path), path, save_as_external_data=True, location="m onnx.data", size_threshold=0)
    git(here, "add", "-A")
    return path


def test_new_and_old_data_files_are_named_for_git(here: Path, hook: Any, heavy: Path) -> None:
    done = hook("big/m.onnx")
    assert done.code == 1
    (new,) = {path.name for path in heavy.parent.iterdir()} - {"m.onnx"}
    assert done.lines[-2:] == [f"git add big/{new}", "git rm 'big/m onnx.data'"]
    index = git(here, "diff", "--cached", "--name-only")
    assert new not in index
    for line in done.lines[-2:]:
        subprocess.run(line, shell=True, cwd=here, check=True, capture_output=True)
    git(here, "add", "big/m.onnx")
    assert git(here, "status", "--porcelain", "--untracked-files=all").count("\n") == 2
    assert hook("big/m.onnx") == type(done)(0, "", "")


def test_evidence_is_a_new_file_too(here: Path, hook: Any) -> None:
    save(here / "m.onnx")
    (here / "onnxsim-ci.toml").write_text('report.evidence = "file"\n')
    done = hook("m.onnx")
    assert done.lines[-1] == "git add m.onnx.evidence.json"
    assert hook("m.onnx") == type(done)(0, "", "")


def test_a_data_file_stands_for_the_models_that_name_it(here: Path, hook: Any, heavy: Path) -> None:
    save(heavy.parent / "other.onnx")
    done = hook("big/m onnx.data", "big/m.onnx")
    assert [line.partition(":")[0] for line in done.lines if ":" in line] == ["big/m.onnx"]


def test_changed_data_of_a_clean_model_is_looked_at_again(here: Path, hook: Any, heavy: Path) -> None:
    hook("big/m.onnx")
    assert hook("big/m.onnx").code == 0
    (data,) = heavy.parent.glob("*.data")
    data.write_bytes(data.read_bytes()[:-8])
    done = hook("big/m.onnx")
    assert done.code == 2
    assert "bytes" in done.out


def test_a_model_that_cannot_be_proven_is_left_alone_and_remembered(here: Path, script: Any) -> None:
    model = save(here / "m.onnx")
    before = sha(model)
    words = ["--set", "limits.memory=1MiB", "m.onnx"]
    done = script(*words)
    assert (done.code, sha(model)) == (0, before)
    assert "m.onnx: left alone, not run: memory limit" in done.out
    assert script(*words) == done
    assert script("--set", "verify.strict=true", *words).code == 1
    assert script("m.onnx").code == 1


def test_without_a_repository_nothing_is_remembered(tmp_path: Path, monkeypatch: Any, hook: Any) -> None:
    folder = tmp_path / "plain"
    save(folder / "m.onnx", SIMPLE)
    monkeypatch.chdir(folder)
    assert hook("m.onnx").code == 0
    assert sorted(os.listdir(folder)) == ["m.onnx"]


def test_no_cache_keeps_nothing(here: Path, hook: Any) -> None:
    save(here / "m.onnx", SIMPLE)
    assert hook("--no-cache", "m.onnx").code == 0
    assert not (here / ".git" / "onnxsim-ci" / "seen.sqlite").exists()
    assert hook("m.onnx").code == 0
    assert (here / ".git" / "onnxsim-ci" / "seen.sqlite").exists()


def test_work_trees_share_what_was_seen(here: Path, hook: Any, tmp_path: Path, monkeypatch: Any) -> None:
    save(here / "m.onnx", SIMPLE)
    git(here, "add", "-A")
    git(here, "commit", "-qm", "one")
    git(here, "worktree", "add", "-q", str(tmp_path / "other"))
    assert hook("m.onnx").code == 0
    monkeypatch.chdir(tmp_path / "other")
    monkeypatch.setattr("onnxsim_ci.hooks.rewriting.Run.work", lambda *_: [ExitCode.INTERNAL])
    assert hook("m.onnx").code == 0


def test_the_index_is_never_touched(here: Path, hook: Any) -> None:
    save(here / "m.onnx")
    git(here, "add", "-A")
    before = (here / ".git" / "index").read_bytes()
    assert hook("m.onnx").code == 1
    assert (here / ".git" / "index").read_bytes() == before


def test_modules_in_the_work_tree_are_not_imported(here: Path, script: Any) -> None:
    save(here / "m.onnx")
    for name in ("onnx", "numpy", "tomllib", "sqlite3", "sitecustomize", "onnxsim_ci"):
        (here / f"{name}.py").write_text("raise SystemExit('planted')\n")
    done = script("m.onnx")
    assert (done.code, "planted" in done.out + done.err) == (1, False)
