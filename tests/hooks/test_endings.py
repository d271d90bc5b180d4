"""However the hook ends, each model is the old one or the new one, and the next run finishes the rest."""

import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import pytest
from small_models import HEADER, save

CONV = """g (float[1,{c},3,3] x) => (float[1,{c},3,3] y) {{
  i = Identity(x)  c = Conv(i, w)  n = BatchNormalization(c, scale, bias, mean, var)  y = Conv(n, kept) }}"""


def conv(path: Path, channels: int, seed: int) -> Path:
    """A model whose Conv and BatchNormalization are fused: with 512 channels into a new data file."""
    rng = np.random.default_rng(seed)
    weights = {
        name: rng.standard_normal((channels, channels, 1, 1)) / channels**0.5 for name in ("w", "kept")
    }
    rest = {name: rng.uniform(0.5, 1.5, channels) for name in ("scale", "bias", "mean", "var")}
    return save(path, HEADER + CONV.format(c=channels), **weights, **rest)


def files_of(folder: Path) -> dict[str, str]:
    """SHA-256 by name of every file that is there, hidden ones too."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }


def content(model: Path) -> str:
    """Digest of a model with its weights, wherever they lie."""
    loaded = onnx.load(model)
    onnx.checker.check_model(loaded)
    for tensor in loaded.graph.initializer:
        del tensor.external_data[:]
        tensor.ClearField("data_location")
    return hashlib.sha256(loaded.SerializeToString(deterministic=True)).hexdigest()


def start(here: Path, *names: str) -> "subprocess.Popen[str]":
    script = Path(sys.executable).with_name("onnxsim-ci")
    return subprocess.Popen(
        [str(script), "hook", "--no-cache", *names],
        cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def finished(here: Path, *names: str) -> int:
    process = start(here, *names)
    process.communicate(timeout=100)
    return process.returncode


@pytest.fixture
def mixed(here: Path) -> Path:
    """Models with and without external data."""
    for index in range(3):
        conv(here / f"plain{index}.onnx", 16, index)
    for index in range(2):
        path = conv(here / "deep" / f"outside{index}.onnx", 512, index)
        onnx.save(
            onnx.load(path), path, save_as_external_data=True, location=f"o{index}.data", size_threshold=0
        )
    return here


def models_of(here: Path) -> list[str]:
    return sorted(path.relative_to(here).as_posix() for path in here.rglob("*.onnx"))


def test_ctrl_c_keeps_what_is_done(mixed: Path) -> None:
    names = models_of(mixed)
    old = {name: content(mixed / name) for name in names}
    process = start(mixed, "--jobs", "1", *names)
    assert process.stdout is not None
    first = process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)
    rest, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in rest
    assert "Traceback" not in err + rest
    done = [line.partition(":")[0] for line in [first, *rest.splitlines()] if "→" in line]
    assert done
    assert all(content(mixed / name) != old[name] for name in done)
    assert not list(mixed.rglob("*.onnxsim-ci.*"))


@pytest.mark.slow
def test_kill_9_at_random_moments_leaves_old_or_new_and_nothing_stray(mixed: Path, tmp_path: Path) -> None:
    killed_at(mixed, tmp_path, moments=50)


def test_kill_9_leaves_old_or_new_and_nothing_stray(mixed: Path, tmp_path: Path) -> None:
    killed_at(mixed, tmp_path, moments=3)


def killed_at(mixed: Path, tmp_path: Path, moments: int) -> None:
    """Kill a run at random moments of its length, restore, repeat; look at every model and file."""
    names = models_of(mixed)
    source = tmp_path / "source"
    shutil.copytree(mixed, source)
    old = {name: content(source / name) for name in names}
    begin = time.monotonic()
    assert finished(mixed, *names) == 1
    length = time.monotonic() - begin
    expected = files_of(mixed)
    new = {name: content(mixed / name) for name in names}
    random.seed(moments)
    states = {"old": 0, "new": 0}
    for moment in range(moments):
        restore(source, mixed)
        process = start(mixed, *names)
        if moment % 2:  # around the writing, of which there is little in a run
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(random.uniform(0, 0.3) * length)
        else:
            time.sleep(random.uniform(0.2, 1.0) * length)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        for name in names:
            found = content(mixed / name)
            assert found in (old[name], new[name]), name
            states["old" if found == old[name] else "new"] += 1
        assert finished(mixed, *names) in (0, 1)
        assert files_of(mixed) == expected
    assert all(states.values()), f"the moments were all too early or too late: {states}"


def restore(source: Path, target: Path) -> None:
    for path in target.iterdir():
        if path.name != ".git":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git"))
