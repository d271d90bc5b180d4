"""Peak memory and seconds of the whole command, proof on, on models larger than one likes to copy.

Usage: memory.py [--single-mb 500] [--external-mb 3000] [--folder DIR] [--ours-only]

Writes a single-file model and one with external data (MatMul, Add, Relu and a redundant node a step) into a
temporary folder, runs `onnxsim-ci simplify IN -o OUT` and `onnxsim IN OUT 3` on each, and removes them. The
figure that counts is peak RssAnon above that of an interpreter that has imported onnx, numpy and onnxruntime.

House: benchmarks. Needs disk for both models and what either tool writes: about three times the sizes given.
Touch: design budget "weights never copied, by engine or proof".
"""

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from command import commands, own_environment
from graphs import write_chain
from processes import MIB, Run, run
from scoreboard import environment, print_table

LIMIT_MIB = 150
IDLE = "import onnx, numpy, onnxruntime"


def idle_bytes() -> int:
    """RssAnon of an interpreter that imported the three libraries and waits."""
    return run([sys.executable, "-c", f"{IDLE}; import time; time.sleep(0.2)"]).anonymous_bytes


def measure(model: Path, tools: list[str], idle: int) -> list[dict[str, Any]]:
    """One row a tool; what it wrote is removed at once."""
    rows = []
    for tool in tools:
        with tempfile.TemporaryDirectory(dir=model.parent) as name:
            folder = Path(name)
            more = ["--json"] if tool == "onnxsim-ci" else []
            done = run([*commands(model, folder)[tool], *more], environment=own_environment(folder))
            rows.append(row_of(tool, done, idle))
    return rows


def row_of(tool: str, done: Run, idle: int) -> dict[str, Any]:
    """Figures of one run as plain data."""
    row: dict[str, Any] = {
        "tool": tool,
        "code": done.code,
        "seconds": round(done.seconds, 1),
        "cpu_seconds": round(done.cpu_seconds, 1),
        "rss_mib": round(done.rss_bytes / MIB),
        "anonymous_mib": round(done.anonymous_bytes / MIB),
        "above_idle_mib": round((done.anonymous_bytes - idle) / MIB),
        "note": "",
    }
    if done.code:
        row["note"] = (done.error.strip() or "no message").splitlines()[-1][:90]
    elif tool == "onnxsim-ci":
        entry = json.loads(done.out)["models"][0]
        row["seconds_by_phase"] = {phase: round(spent, 2) for phase, spent in entry["seconds"].items()}
        row["note"] = (
            f"{entry['source']['nodes']} -> {entry['result']['nodes']} nodes, "
            f"{entry['verdict']['verdict']} by {entry['verdict']['basis']}"
        )
    return row


def show(found: dict[str, list[dict[str, Any]]], idle: int) -> None:
    """Print the table, with the limit."""
    print(f"\nlarge models, proof on; an idle interpreter has {idle / MIB:.0f} MiB of RssAnon")
    figures = ("seconds", "cpu_seconds", "rss_mib", "anonymous_mib", "above_idle_mib", "code")
    lines = [
        [name, row["tool"], *(str(row[figure]) for figure in figures), row["note"]]
        for name, rows in found.items()
        for row in rows
    ]
    print_table(
        ["model", "tool", "wall s", "CPU s", "RSS MiB", "anon MiB", "above idle", "exit", "note"], lines
    )
    for name, rows in found.items():
        for row in rows:
            if row["tool"] == "onnxsim-ci":
                word = "within" if row["above_idle_mib"] <= LIMIT_MIB else "NOT within"
                phases = row.get("seconds_by_phase")
                print(f"{name}: {row['above_idle_mib']} MiB above idle, {word} {LIMIT_MIB}; {phases}")


def main() -> int:
    """Print the table; 0 always."""
    parser = argparse.ArgumentParser(description="Memory on large models, proof on.")
    parser.add_argument("--single-mb", type=int, default=500)
    parser.add_argument("--external-mb", type=int, default=3000)
    parser.add_argument("--width", type=int, default=2048, help="A matrix has width x width elements.")
    parser.add_argument("--folder", type=Path, help="Where the temporary folder is made.")
    parser.add_argument("--ours-only", action="store_true")
    parser.add_argument("--json", type=Path, help="Write the figures here too.")
    arguments = parser.parse_args()
    idle = idle_bytes()
    tools = ["onnxsim-ci"] if arguments.ours_only else ["onnxsim-ci", "onnxsim"]
    found = {}
    forms = (("single", arguments.single_mb, False), ("external", arguments.external_mb, True))
    for form, megabytes, external in forms:
        if not megabytes:
            continue
        folder = Path(tempfile.mkdtemp(prefix="onnxsim-ci-bench-", dir=arguments.folder))
        try:
            model = folder / f"{form}.onnx"
            write_chain(model, megabytes * 1_000_000, external=external, width=arguments.width)
            found[f"{megabytes} MB {form}"] = measure(model, tools, idle)
        finally:
            shutil.rmtree(folder)
    show(found, idle)
    if arguments.json:
        figures = {"idle_mib": round(idle / MIB), "models": found}
        arguments.json.write_text(json.dumps({**environment(), "memory": figures}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
