"""onnxsim-ci beside its peers on models that you name: nodes, bytes, CPU seconds, memory, right or wrong.

Usage: peers.py MODEL... [--tools onnxsim-ci onnxsim onnxslim onnxscript ort_basic] [--timeout 120]

Each tool gets each model in a fresh process, which imports the tool, runs it once on a small model, and times
its call alone: no proof, no check, no file. What comes back is judged in
judging.py. A tool that is not installed is left out.

House: benchmarks. Each tool runs as a child process of this script.
Touch: `TOOLS` for another peer; run.py.
"""

import argparse
import contextlib
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphs import gpt_like
from judging import Judge
from processes import MIB, run
from scoreboard import environment, print_table

Call = Callable[[Any], Any]


def ours() -> Call:
    """`optimize` with the proof off."""
    from onnxsim_ci import Policy, optimize

    policy = Policy.model_validate({"verify": {"mode": "off"}})
    return lambda model: optimize(model, policy=policy).model


def onnxsim() -> Call:
    """`simplify` without its check."""
    import onnxsim

    return lambda model: onnxsim.simplify(model, check_n=0)[0]


def onnxslim() -> Call:
    """`slim`."""
    import onnxslim

    return onnxslim.slim


def onnxscript() -> Call:
    """`optimizer.optimize`."""
    from onnxscript import optimizer

    return optimizer.optimize


def ort_basic() -> Call:
    """ONNX Runtime's basic level, saved."""
    import onnx
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC

    def call(model: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            options.optimized_model_filepath = f"{folder}/out.onnx"
            onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
            return onnx.load(options.optimized_model_filepath)

    return call


TOOLS = {
    "onnxsim-ci": ours,
    "onnxsim": onnxsim,
    "onnxslim": onnxslim,
    "onnxscript": onnxscript,
    "ort_basic": ort_basic,
}


def work(tool: str, source: Path, target: Path) -> None:
    """The child: run one tool on one model, write what it returns, print what the call cost."""
    import onnx

    with contextlib.redirect_stdout(sys.stderr):
        call = TOOLS[tool]()
        call(gpt_like(60, dynamic=False))
        model = onnx.load(source)
        before = memory_kib("VmRSS", restart=True)
        cpu = time.process_time()
        result = call(model)
        cpu = time.process_time() - cpu
        after = memory_kib("VmHWM")
        target.write_bytes(result.SerializeToString())
    print(json.dumps({"cpu_seconds": cpu, "grown_mib": (after - before) / 1024}))


def memory_kib(name: str, *, restart: bool = False) -> int:
    """A line of this process's status in KiB, 0 where there is none; `restart` forgets the peak so far."""
    with contextlib.suppress(OSError):
        if restart:
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        text = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return next(int(line.split()[1]) for line in text.splitlines() if line.startswith(f"{name}:"))
    return 0


def available(tool: str) -> bool:
    """Whether the tool can be imported here."""
    try:
        TOOLS[tool]()
    except ImportError:
        return False
    return True


def score(model: Path, tools: list[str], timeout: float) -> dict[str, Any]:
    """Figures of all tools on one model, as plain data."""
    judge = Judge(model)
    found: dict[str, Any] = {"model": model.stem, **figures(model), "tools": {}}
    with tempfile.TemporaryDirectory() as name:
        for tool in tools:
            target = Path(name) / f"{tool}.onnx"
            done = run([sys.executable, __file__, "--child", tool, str(model), str(target)], timeout=timeout)
            if done.code:
                lines = done.error.strip().splitlines() or ["no message"]
                found["tools"][tool] = {
                    "verdict": "timeout" if done.code < 0 else "raises",
                    "note": lines[-1],
                }
                continue
            cost = json.loads(done.out.splitlines()[-1])
            found["tools"][tool] = {
                "verdict": judge.verdict(target),
                **figures(target),
                "cpu_seconds": round(cost["cpu_seconds"], 4),
                "grown_mib": round(cost["grown_mib"], 1),
                "rss_mib": round(done.rss_bytes / MIB),
            }
    return found


def figures(path: Path) -> dict[str, int]:
    """Nodes and bytes of a file."""
    from onnxsim_ci.model import load, statistics_of

    loaded = load(path)
    counted = statistics_of(loaded.proto, loaded.size)
    return {"nodes": counted.nodes, "bytes": counted.total_bytes}


def show(found: list[dict[str, Any]]) -> None:
    """Print the table, and one line a tool over all models."""
    print("\nbeside the peers, each in a fresh process, the call alone")
    lines = []
    for one in found:
        lines.append([one["model"], "source", str(one["nodes"]), f"{one['bytes'] / 1e6:.2f}", "", "", "", ""])
        lines.extend([one["model"], tool, *cells(row)] for tool, row in one["tools"].items())
    head = ["model", "tool", "nodes", "MB", "CPU s", "grown MiB", "RSS MiB", "verdict"]
    print_table(head, lines)
    print()
    tools = list(found[0]["tools"]) if found else []
    print_table(
        ["tool", "right", "nodes", "bytes", "CPU s"], [[tool, *overall(found, tool)] for tool in tools]
    )
    print("nodes and bytes: geometric mean of result over source; a result that is not right counts as 1")


def cells(row: dict[str, Any]) -> list[str]:
    """One row of the table."""
    if "nodes" not in row:
        return ["", "", "", "", "", f"{row['verdict']}: {row['note'][:60]}"]
    return [
        str(row["nodes"]),
        f"{row['bytes'] / 1e6:.2f}",
        f"{row['cpu_seconds']:.3f}",
        f"{row['grown_mib']:.0f}",
        str(row["rss_mib"]),
        row["verdict"],
    ]


def overall(found: list[dict[str, Any]], tool: str) -> list[str]:
    """How many are right, geometric means of the ratios, sum of seconds."""
    rows = [(one, one["tools"][tool]) for one in found]
    right = [(one, row) for one, row in rows if row["verdict"] in ("right", "not run")]

    def mean(key: str) -> float:
        logs = [math.log(row[key] / one[key]) for one, row in right if one[key] and row[key]]
        return math.exp(sum(logs) / max(len(rows), 1))

    seconds = sum(row.get("cpu_seconds", 0.0) for _, row in rows)
    return [f"{len(right)} of {len(rows)}", f"{mean('nodes'):.3f}", f"{mean('bytes'):.3f}", f"{seconds:.2f}"]


def main() -> int:
    """Print the tables; 0 always."""
    if sys.argv[1:2] == ["--child"]:
        work(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
        return 0
    parser = argparse.ArgumentParser(description="onnxsim-ci beside its peers.")
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--tools", nargs="+", choices=list(TOOLS), default=list(TOOLS))
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--json", type=Path, help="Write the figures here too.")
    arguments = parser.parse_args()
    tools = [tool for tool in arguments.tools if available(tool)]
    found = [score(model, tools, arguments.timeout) for model in arguments.models]
    show(found)
    if arguments.json:
        arguments.json.write_text(json.dumps({**environment(), "peers": found}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
