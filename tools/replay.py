"""Two versions of the engine on the same models: bytes and rewrite counts must agree unless a rule changed.

Usage: replay.py --base main [MODEL...]

The base revision is checked out into a temporary work tree. Without models, those of demo/ are taken.

House: tools. Standard library; runs both versions as child processes.
Touch: CONTRIBUTING, "refactors".
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROBE = """
import hashlib, json, pathlib, sys, tempfile
from onnxsim_ci import Policy, optimize
found = {}
for name in sys.argv[1:]:
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.onnx"
        policy = Policy.model_validate({"verify": {"mode": "off"}})
        result = optimize(name, policy=policy, output=out)
        digest = hashlib.sha256(out.read_bytes()).hexdigest() if out.exists() else ""
        found[name] = [digest, dict(result.journal.counts())]
print(json.dumps(found))
"""


def main() -> int:
    """Print the differences; 1 if there is any."""
    parser = argparse.ArgumentParser(description="Compare two versions of the engine.")
    parser.add_argument("--base", default="main")
    parser.add_argument("models", nargs="*")
    arguments = parser.parse_args()
    models = [str(Path(name).resolve()) for name in arguments.models or (ROOT / "demo").glob("*.onnx")]
    if not models:
        print("no models: name some, or run `make demo` first")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(base), arguments.base], check=True)
        try:
            old, new = probe(base, models), probe(ROOT, models)
        finally:
            subprocess.run([*git, "remove", "--force", str(base)], check=True)
    changed = [name for name in models if old[name] != new[name]]
    for name in changed:
        print(f"{name}: {old[name]} -> {new[name]}")
    print(f"{len(models)} models, {len(changed)} differ")
    return 1 if changed else 0


def probe(tree: Path, models: list[str]) -> dict[str, object]:
    """Digest and rewrite counts by model, as the version in `tree` has them."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "ONNXSIM_CI_NO_CACHE": "1"}
    command = [sys.executable, "-c", PROBE, *models]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, object] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    sys.exit(main())
