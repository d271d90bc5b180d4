"""The demo: one real public model out of a registry package, simplified, proven, shown.

Usage: demo.py [--package silero-vad] [--model silero_vad.onnx] [--folder demo]

The package is downloaded with pip without its dependencies and opened as the zip file that a wheel is;
nothing of it is installed or run.

House: tools. Standard library; runs onnxsim-ci as a command.
Touch: README.md names what `make demo` does.
"""

import argparse
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Fetch, simplify, show; the exit code of the last command."""
    parser = argparse.ArgumentParser(description="Simplify and prove one real public model.")
    parser.add_argument("--package", default="silero-vad", help="Package with an .onnx file in its wheel.")
    parser.add_argument("--model", default="silero_vad.onnx", help="Its name; else the largest is taken.")
    parser.add_argument("--folder", type=Path, default=ROOT / "demo", help="Where files go.")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    model = shortened(fetch(arguments.package, arguments.model, arguments.folder))
    result = model.with_name(f"{model.stem}.simplified.onnx")
    tool = [sys.executable, "-m", "onnxsim_ci"]
    report = arguments.folder / "report.json"
    say(f"the model: {model.name} of {arguments.package}")
    run([*tool, "inspect", str(model)])
    say("simplify it, prove the result, write it")
    code = run([*tool, "simplify", str(model), "-o", str(result)])
    say("a second run finds nothing to do")
    run([*tool, "check", str(result)])
    say("the same as a report for programs")
    with report.open("w", encoding="utf-8") as stream:
        subprocess.run([*tool, "simplify", str(model), "--json", "--quiet"], stdout=stream, check=False)
    print("".join(report.read_text(encoding="utf-8").splitlines(keepends=True)[:40]), end="")
    print(f"  ... ({shortened(report)})")
    return code


def fetch(package: str, name: str, folder: Path) -> Path:
    """The named model of the package's wheel, else its largest, unpacked into `folder`."""
    found = sorted(folder.glob("*.whl"))
    wheels = [path for path in found if path.name.startswith(package.replace("-", "_"))]
    if not wheels:
        say(f"download {package}")
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        run([*pip, "--only-binary", ":all:", "--dest", str(folder), package], is_needed=True)
        wheels = sorted(folder.glob(f"{package.replace('-', '_')}*.whl"))
    with zipfile.ZipFile(wheels[-1]) as archive:
        models = [entry for entry in archive.infolist() if entry.filename.endswith(".onnx")]
        if not models:
            raise SystemExit(f"{wheels[-1].name} holds no .onnx file")
        chosen = max(models, key=lambda entry: (Path(entry.filename).name == name, entry.file_size))
        target = folder / Path(chosen.filename).name
        target.write_bytes(archive.read(chosen))
    return target


def shortened(path: Path) -> Path:
    """The path as seen from the current folder, if it lies below."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def say(text: str) -> None:
    """A heading between the steps."""
    print(f"\n== {text}", flush=True)


def run(command: list[str], *, is_needed: bool = False) -> int:
    """Show and run a command."""
    if not is_needed:
        print("$ onnxsim-ci " + " ".join(command[3:]), flush=True)
    code = subprocess.run(command, check=False).returncode
    if code and is_needed:
        raise SystemExit(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
