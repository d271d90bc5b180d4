"""Clean files cost no heavy import and little time, in the console script itself."""

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from small_models import SIMPLE, save

HEAVY = {
    "onnx",
    "numpy",
    "onnxruntime",
    "pydantic",
    "typer",
    "rich",
    "ml_dtypes",
    "google",
    "pathspec",
    "pebble",
}
COUNT = 200

PROBE = """
import atexit, os, sys
def note():
    with open(os.environ["MODULES"], "w") as file:
        file.write("\\n".join(sys.modules))
atexit.register(note)
sys.argv[0] = "onnxsim-ci"
from onnxsim_ci.__main__ import main
main()
"""


def seconds(command: list[str], here: Path, environment: dict[str, str]) -> tuple[float, int]:
    """(user CPU seconds of the process, exit code)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(command, cwd=here, env=environment, capture_output=True, check=False)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, done.returncode


@pytest.fixture
def clean(here: Path) -> list[str]:
    """200 simple models, each different, seen once."""
    first = save(here / "models" / "m0.onnx", SIMPLE)
    names = [f"models/m{index}.onnx" for index in range(COUNT)]
    for index, name in enumerate(names):
        data = bytearray(first.read_bytes())
        (here / name).write_bytes(bytes(data) + b"\x1a" + bytes([len(str(index))]) + str(index).encode())
    return names


def test_clean_files_cost_no_heavy_import_and_little_time(
    here: Path, clean: list[str], tmp_path: Path
) -> None:
    modules = tmp_path / "modules.txt"
    environment = {**os.environ, "MODULES": str(modules)}
    script = shutil.which("onnxsim-ci", path=str(Path(sys.executable).parent))
    assert script is not None
    first = subprocess.run(
        [script, "hook", *clean], cwd=here, env=environment, capture_output=True, check=False
    )
    assert (first.returncode, first.stdout) == (0, b"")
    probe = subprocess.run(
        [sys.executable, "-c", PROBE, "hook", *clean],
        cwd=here,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert (probe.returncode, probe.stdout, probe.stderr) == (0, b"", b"")
    loaded = set(modules.read_text().splitlines())
    assert "onnxsim_ci.hooks.seen" in loaded
    assert not {name.partition(".")[0] for name in loaded} & HEAVY
    nothing = min(seconds([sys.executable, "-c", "pass"], here, environment)[0] for _ in range(3))
    spent = min(seconds([script, "hook", *clean], here, environment)[0] for _ in range(3))
    assert spent <= 1.5 * nothing + 0.25
    environment["CI"] = "true"
    spent = min(seconds([script, "hook", *clean], here, environment)[0] for _ in range(3))
    assert spent <= 1.5 * nothing + 0.25


def test_a_usage_mistake_and_help_import_nothing_either(here: Path, tmp_path: Path) -> None:
    modules = tmp_path / "modules.txt"
    environment = {**os.environ, "MODULES": str(modules)}
    for words, code in ((["--help"], 0), (["--jobs", "no"], 2), ([], 0), (["gone.onnx"], 2)):
        command = [sys.executable, "-c", PROBE, "hook", *words]
        assert (
            subprocess.run(command, cwd=here, env=environment, capture_output=True, check=False).returncode
            == code
        )
        assert not {name.partition(".")[0] for name in modules.read_text().splitlines()} & HEAVY
