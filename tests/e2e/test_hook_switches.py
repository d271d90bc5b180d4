"""Each check of the hook fails when its feature is switched off; a check that cannot fail checks nothing."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SWITCHES = tomllib.loads((HERE / "hook_switches.toml").read_text(encoding="utf-8"))

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("check", SWITCHES)
def test_a_check_fails_without_its_feature(check: str, tmp_path: Path) -> None:
    if check.startswith("lfs") and shutil.which("git-lfs") is None:
        pytest.skip("git-lfs is not installed (Debian's package git-lfs)")
    manager = SWITCHES[check].get("manager", "prek")
    test = f"{HERE / 'test_hook.py'}::test_{check}[{manager}]"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-n",
        "0",
        "--basetemp",
        str(tmp_path),
    ]
    done = subprocess.run(
        [*command, test],
        cwd=HERE.parent.parent, env={**os.environ, "E2E_SWITCH_OFF": check}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed" in done.stdout
    assert "AssertionError" in done.stdout


def test_every_check_has_a_switch() -> None:
    text = (HERE / "test_hook.py").read_text(encoding="utf-8")
    checks = {
        line.partition("def test_")[2].partition("(")[0] for line in text.splitlines() if "def test_" in line
    }
    assert set(SWITCHES) == checks - {"the_environment_fits_the_free_tier"}
