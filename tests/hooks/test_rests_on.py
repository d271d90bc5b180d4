"""Everything that an answer rests on, through the whole hook: a change of it is a miss, and links stay."""

import itertools
import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from small_models import SIMPLE, save

from onnxsim_ci import __version__
from onnxsim_ci.hooks.arguments import Request
from onnxsim_ci.hooks.inputs import watched
from onnxsim_ci.hooks.seen import Entry, Files, SeenTable, context_of, renewed
from onnxsim_ci.policy import resolve


def old(*files: Path) -> None:
    """Times well before the hook begins, as in a clone: what is younger is read again."""
    for file in files:
        os.utime(file, (1, 1))


def outside(model: Path, name: str) -> Path:
    """The model with its weights in the file `name` beside it."""
    onnx.save(onnx.load(model), model, save_as_external_data=True, location=name, size_threshold=0)
    return model


WITH_WEIGHTS = """<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { i = Identity(x) y = Add(i, w) }"""


def weights(model: Path, name: str = "w.data") -> Path:
    return outside(save(model, WITH_WEIGHTS, w=np.ones(2, np.float32)), name)


def test_a_policy_that_is_named_relative_to_another_folder_is_another_policy(
    here: Path, hook: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(here / "m.onnx")
    (here / "sub").mkdir()
    (here / "sub" / "p.toml").write_text("simplify.level = 'off'\n")
    (here / "p.toml").write_text("version = 1\n")
    monkeypatch.chdir(here / "sub")
    assert hook("--policy", "p.toml", "../m.onnx").code == 0
    monkeypatch.chdir(here)
    assert hook("--policy", "p.toml", "m.onnx").code == 1


def test_inputs_that_appear_change_or_go_are_seen(here: Path) -> None:
    (here / "onnxsim-ci.toml").write_text("[verify]\ndata = 'd/*/x*'\n")
    model = save(here / "m.onnx", SIMPLE)
    verify = resolve(model).policy.verify

    def noted() -> dict[str, str | None]:
        files = Files(here, trusts_stat=False)
        paths = (os.path.relpath(path, here) for path in watched(verify, here))
        return {path: files.note(path).sha256 for path in paths}

    states = [noted()]
    for change in (
        (here / "d").mkdir,
        (here / "d" / "one").mkdir,
        lambda: (here / "d" / "one" / "x.npz").write_bytes(b"1"),
        lambda: (here / "d" / "one" / "x.npz").write_bytes(b"2"),
        (here / "d" / "one" / "x_set").mkdir,
        lambda: (here / "d" / "one" / "x_set" / "input_0.pb").write_bytes(b"1"),
        lambda: (here / "d" / "one" / "x_set" / "input_0.pb").write_bytes(b"2"),
        (here / "d" / "one" / "x.npz").unlink,
    ):
        change()
        states.append(noted())
    assert all(before != after for before, after in itertools.pairwise(states))
    assert all(digest is not None for state in states for digest in state.values())


def test_a_file_that_changes_while_others_are_read_is_read_again_next_time(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"old")
    old(tmp_path / "m.onnx")
    files = Files(tmp_path, trusts_stat=True)
    entry = Entry(model=files.note("m.onnx"), others=(), noted=0, code=0, line="")
    (tmp_path / "m.onnx").write_bytes(b"new")
    old(tmp_path / "m.onnx")
    again = renewed(entry, files)
    files = Files(tmp_path, trusts_stat=True)
    files.began += 10**12
    assert not files.is_same(again.model, files.began)


def test_a_link_out_of_the_repository_is_refused_through_its_data_file_too(
    here: Path, hook: Any, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    target = weights(tmp_path / "elsewhere" / "m.onnx")
    before = target.read_bytes()
    (here / "m.onnx").symlink_to(target)
    (here / "w.data").write_bytes((target.parent / "w.data").read_bytes())
    done = hook("w.data")
    assert (done.code, done.lines) == (2, ["m.onnx: is a link out of the repository"])
    assert (here / "m.onnx").is_symlink()
    assert target.read_bytes() == before


def test_a_model_with_its_data_file_is_told_once(here: Path, hook: Any) -> None:
    weights(here / "n.onnx")
    assert hook("n.onnx", "w.data").code == 1
    assert hook("n.onnx", "w.data").lines == []
    assert hook("w.data").lines == []


def test_a_dead_child_is_remembered_only_where_no_data_file_may_decide(here: Path, hook: Any) -> None:
    (here / "onnxsim-ci.toml").write_text("[limits]\nmemory = '1B'\n")
    weights(here / "outside.onnx")
    save(here / "inside.onnx")
    names = ["outside.onnx", "inside.onnx"]
    done = hook(*names)
    assert (done.code, len(done.lines)) == (0, 2)
    table = SeenTable(
        here / ".git" / "onnxsim-ci", context_of((*Request().options, "."), os.environ, __version__)
    )
    assert set(table.answers(names, Files(here, trusts_stat=False))) == {"inside.onnx"}


@pytest.mark.parametrize("mode", [[], ["--check"]])
def test_weights_that_git_lfs_has_not_fetched_are_told_and_looked_at_again(
    here: Path, hook: Any, mode: list[str]
) -> None:
    weights(here / "m.onnx")
    content = (here / "w.data").read_bytes()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 8\n"
    (here / "w.data").write_text(pointer)
    told = "m.onnx: left alone, not run: w.data is a git-LFS pointer; `git lfs pull` fetches the content"
    done = hook(*mode, "m.onnx")
    assert (done.code, done.lines) == (0, [told])
    assert hook(*mode, "--require-content", "m.onnx").code == 2
    (here / "w.data").write_bytes(content)
    assert hook(*mode, "m.onnx").code == 1
