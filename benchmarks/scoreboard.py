"""What every benchmark prints and records: a plain table, and the machine and versions its figures depend on.

House: benchmarks. Standard library only.
Touch: run.py collects the JSON of all benchmarks.
"""

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

PACKAGES = ("onnxsim-ci", "onnx", "onnxruntime", "numpy", "onnxsim", "onnxslim", "onnxscript")


def print_table(head: list[str], rows: list[list[str]]) -> None:
    """Columns as wide as their cells; the first to the left, figures to the right."""
    widths = [max(len(line[i]) for line in (head, *rows)) for i in range(len(head))]
    for line in (head, ["-" * width for width in widths], *rows):
        first, *rest = (
            cell.ljust(w) if i == 0 else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        )
        print("  ".join([first, *rest]).rstrip())


def environment() -> dict[str, Any]:
    """Versions and machine, as plain data without names of users, hosts or folders."""
    return {
        "packages": {name: version for name in PACKAGES if (version := _version(name))},
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "processors": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
    }


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown"
    )
