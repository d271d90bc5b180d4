"""The scoreboard: growth, memory, the whole command and the peers, on public models and generated graphs.

Usage: run.py [--packages silero-vad magika rapidocr-onnxruntime] [--models M.onnx ...] [--large] [--quick]

Models come out of registry packages, downloaded once with pip without their dependencies and opened as the
zip files that wheels are; nothing of them is installed or run. Figures with versions and machine go to
benchmarks/out/scoreboard.json. --large adds memory.py with its 500 MB and 3 GB; --quick takes small sizes.

House: benchmarks. Runs the other scripts as processes, so that none disturbs another.
Touch: Makefile (`make bench`); README of a benchmark that joins.
"""

import argparse
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from scoreboard import environment

FOLDER = Path(__file__).resolve().parent
OUT = FOLDER / "out"
PACKAGES = ("silero-vad", "magika", "rapidocr-onnxruntime")


def models_of(package: str, folder: Path) -> list[Path]:
    """The .onnx files of a package's wheel, unpacked into `folder`; none if it cannot be had."""
    place = folder / package
    if not list(place.glob("*.whl")):
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command = [*pip, "--only-binary", ":all:", "--dest", str(place), package]
        if subprocess.run(command, check=False).returncode:
            print(f"{package}: not downloaded, left out")
            return []
    found = {}
    for wheel in sorted(place.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                if entry.filename.endswith(".onnx"):
                    target = place / f"{package}--{Path(entry.filename).name}"
                    target.write_bytes(archive.read(entry))
                    found[target] = None
    return list(found)


def generated(folder: Path, sizes: list[int]) -> list[Path]:
    """GPT-like graphs, static and dynamic."""
    found = []
    for size in sizes:
        for kind in ("static", "dynamic"):
            path = folder / f"gpt-{size}-{kind}.onnx"
            more = ["--dynamic"] if kind == "dynamic" else []
            script = [sys.executable, str(FOLDER / "graphs.py"), str(path), "--nodes", str(size), *more]
            subprocess.run(script, check=True, stdout=subprocess.DEVNULL)
            found.append(path)
    return found


def bench(name: str, arguments: list[str]) -> dict[str, Any]:
    """Run one benchmark, its tables on the screen, and return its figures."""
    figures = OUT / f"{name}.json"
    figures.unlink(missing_ok=True)
    command = [sys.executable, str(FOLDER / f"{name}.py"), *arguments, "--json", str(figures)]
    done = subprocess.run(command, check=False)
    if done.returncode or not figures.exists():
        print(f"{name}: ended with exit code {done.returncode}")
        return {name: None}
    found = json.loads(figures.read_text(encoding="utf-8"))
    return {key: value for key, value in found.items() if key not in environment()}


def main() -> int:
    """Run all of them and write the JSON; 0 if every one ended well."""
    parser = argparse.ArgumentParser(description="The scoreboard.")
    parser.add_argument("--packages", nargs="*", default=list(PACKAGES))
    parser.add_argument("--models", type=Path, nargs="*", default=[], help="Further models.")
    parser.add_argument("--large", action="store_true", help="The 500 MB and 3 GB models too.")
    parser.add_argument("--quick", action="store_true", help="Small sizes, one repeat.")
    arguments = parser.parse_args()
    OUT.mkdir(exist_ok=True)
    models = [path for package in arguments.packages for path in models_of(package, OUT)]
    models += generated(OUT, [200] if arguments.quick else [1000, 4000]) + arguments.models
    named = [str(path) for path in models]
    repeats = ["--repeats", "1" if arguments.quick else "5"]
    found: dict[str, Any] = environment()
    found |= bench("growth", [*repeats, *(["--nodes", "200", "800"] if arguments.quick else [])])
    found |= bench("peers", named)
    largest = sorted(models, key=lambda path: path.stat().st_size)[-3:]
    found |= bench("command", [*map(str, largest), *repeats])
    if arguments.large:
        found |= bench("memory", [])
    target = OUT / "scoreboard.json"
    target.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"\nfigures, versions and machine: {target.relative_to(FOLDER.parent)}")
    return int(any(found.get(name, 0) is None for name in ("growth", "peers", "command", "memory")))


if __name__ == "__main__":
    sys.exit(main())
