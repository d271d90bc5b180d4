"""The whole command with its proof beside onnxsim's with its check, as processes, on models that you name.

Usage: command.py MODEL... [--repeats 5]

Runs `onnxsim-ci simplify IN -o OUT` and `onnxsim IN OUT 3` by turns. Seconds are the shortest of all
repeats, memory is the largest. A further run with --json splits our seconds: start is what the phases of the
report leave over (the interpreter, imports, the child process, printing).

House: benchmarks. Runs both tools as commands of this interpreter's environment.
Touch: the phases of the report (`seconds` in onnxsim_ci/report/model.py).
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from processes import MIB, Run, run
from scoreboard import environment, print_table

BIN = Path(sys.executable).parent
SECONDS_LIMIT, MEMORY_LIMIT = 0.8, 0.7
SPLIT = {"load": ("load", "analyse"), "simplify": ("rewrite",), "prove": ("prove",), "save": ("save",)}
"""Columns of the split, each with the phases of the report that it sums; loading includes the checks."""


def commands(model: Path, folder: Path) -> dict[str, list[str]]:
    """The command of each tool."""
    ours = [str(BIN / "onnxsim-ci"), "simplify", str(model), "-o", str(folder / "ours.onnx")]
    return {
        "onnxsim-ci": ours,
        "onnxsim": [str(BIN / "onnxsim"), str(model), str(folder / "onnxsim.onnx"), "3"],
    }


def own_environment(folder: Path) -> Mapping[str, str]:
    """This process's environment, with a results cache that no earlier run has filled."""
    return {**os.environ, "ONNXSIM_CI_CACHE": str(folder / "cache")}


def compare(model: Path, repeats: int) -> dict[str, Any]:
    """Figures of both tools on one model, as plain data."""
    runs: dict[str, list[Run]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for _ in range(repeats):
            for tool, command in commands(model, folder).items():
                runs.setdefault(tool, []).append(run(command, environment=own_environment(folder)))
        split = [split_of(model, folder) for _ in range(repeats)]
    return {
        "model": model.stem,
        "mib": round(model.stat().st_size / MIB, 1),
        "tools": {tool: summary(found) for tool, found in runs.items()},
        "split": {column: min(one[column] for one in split) for column in split[0]},
    }


def summary(runs: list[Run]) -> dict[str, Any]:
    """Shortest seconds, largest memory."""
    return {
        "code": max(one.code for one in runs),
        "seconds": round(min(one.seconds for one in runs), 3),
        "cpu_seconds": round(min(one.cpu_seconds for one in runs), 3),
        "rss_mib": round(max(one.rss_bytes for one in runs) / MIB),
        "pss_mib": round(max(one.pss_bytes for one in runs) / MIB),
        "anonymous_mib": round(max(one.anonymous_bytes for one in runs) / MIB),
        "error": "" if not any(one.code for one in runs) else runs[-1].error.strip()[-200:],
    }


def split_of(model: Path, folder: Path) -> dict[str, float]:
    """Seconds of our command by phase."""
    command = [*commands(model, folder)["onnxsim-ci"], "--json"]
    found = run(command, environment=own_environment(folder))
    phases = json.loads(found.out)["models"][0]["seconds"]
    split = {column: sum(phases.get(phase, 0.0) for phase in names) for column, names in SPLIT.items()}
    return {
        column: round(spent, 3)
        for column, spent in {"start": found.seconds - sum(phases.values()), **split}.items()
    }


def show(found: list[dict[str, Any]]) -> None:
    """Print the comparison, the ratios with their limits, and the split."""
    print("\nthe whole command with proof, beside onnxsim with its check")
    figures = ("seconds", "cpu_seconds", "rss_mib", "pss_mib", "anonymous_mib")
    lines = []
    for one in found:
        for tool, row in one["tools"].items():
            cells = [str(row[figure]) for figure in figures]
            lines.append([one["model"], str(one["mib"]), tool, *cells, str(row["code"])])
        ours, theirs = one["tools"]["onnxsim-ci"], one["tools"]["onnxsim"]
        ratios = [f"{ours[figure] / max(theirs[figure], 1e-9):.2f} x" for figure in figures]
        lines.append(["", "", "ratio", *ratios, ""])
    print_table(["model", "MiB", "tool", "wall s", "CPU s", "RSS MiB", "PSS MiB", "anon MiB", "exit"], lines)
    print(f"limits: wall {SECONDS_LIMIT} x, RSS {MEMORY_LIMIT} x\n\nseconds of onnxsim-ci")
    columns = ["start", *SPLIT]
    print_table(
        ["model", *columns],
        [[one["model"], *(f"{one['split'][column]:.3f}" for column in columns)] for one in found],
    )


def main() -> int:
    """Print the tables; 0 always."""
    parser = argparse.ArgumentParser(description="The whole command beside onnxsim's.")
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path, help="Write the figures here too.")
    arguments = parser.parse_args()
    found = [compare(model, arguments.repeats) for model in arguments.models]
    show(found)
    if arguments.json:
        arguments.json.write_text(json.dumps({**environment(), "command": found}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
