"""The hook under real pre-commit and real prek: repositories with real models, some of them in git-lfs."""

import hashlib
import os
import shutil
import subprocess
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest
from hook_rig import MANAGERS, Rig, fetched, hermetic, snapshot, wheelhouse

pytestmark = pytest.mark.slow
with_lfs = pytest.mark.skipif(
    shutil.which("git-lfs") is None, reason="git-lfs is not installed (Debian's package git-lfs)"
)
NAMES = (
    "a b.onnx",
    "-dash.onnx",
    "--check.onnx",
    "ünï-コ.onnx",
    "q'\"`$(x).onnx",
    "nl\nx.onnx",
    "tab\tx.onnx",
    "UP.ONNX",
)
MANY = 300


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The hook's repository, and the environment in which managers install it, once each."""
    folder = tmp_path_factory.mktemp("managers")
    environment = hermetic(folder, wheelhouse())
    name = os.environ.get("E2E_SWITCH_OFF", "")
    switches = tomllib.loads(Path(__file__).with_name("hook_switches.toml").read_text(encoding="utf-8"))
    return snapshot(folder, environment, switches[name] if name else None), environment


@pytest.fixture(params=MANAGERS)
def rig(
    request: pytest.FixtureRequest,
    installed: tuple[Path, dict[str, str]],
    tmp_path: Path,
    record_property: Any,
) -> Iterator[Rig]:
    """A repository under one manager; what ran is handed to the report."""
    hooks, environment = installed
    found = Rig(request.param, tmp_path / "repository", hooks, environment)
    found.start()
    yield found
    record_property("e2e", found.records)


def nodes(data: bytes | Path) -> int:
    return len((onnx.load(data) if isinstance(data, Path) else onnx.load_from_string(data)).graph.node)


def test_rewritten_exit_1(rig: Rig) -> None:
    source = fetched("text")
    model = rig.put("models/text.onnx", source)
    rig.stage()
    ran = rig.run(watch=["models/text.onnx"])
    assert ran.code == 1
    assert "exit code: 1" in ran.out
    assert "models/text.onnx: " in ran.out
    assert ", proven (" in ran.out
    assert nodes(model) < nodes(source)


def test_second_clean(rig: Rig) -> None:
    rig.put("speech.onnx", fetched("speech"))
    rig.stage()
    assert rig.run(watch=["speech.onnx"]).code == 1
    rig.stage()
    for _ in range(2):
        before = rig.digest("speech.onnx")
        assert rig.run(watch=["speech.onnx"]).code == 0
        assert rig.digest("speech.onnx") == before
    rig.git("commit", "-qm", "model")
    assert rig.run("--all-files", watch=["speech.onnx"]).code == 0


def in_lfs(rig: Rig) -> None:
    rig.git("lfs", "install")
    rig.git("lfs", "track", "*.onnx")


@with_lfs
def test_lfs_updated(rig: Rig, tmp_path: Path) -> None:
    in_lfs(rig)
    model = rig.put("speech.onnx", fetched("speech"))
    rig.stage()
    assert rig.run(watch=["speech.onnx"]).code == 1
    assert model.read_bytes() != fetched("speech")
    rig.stage()
    assert rig.run(watch=["speech.onnx"]).code == 0
    pointer = rig.git("show", ":speech.onnx").decode()
    assert pointer.startswith("version https://git-lfs.github.com/spec/v1\n")
    assert hashlib.sha256(model.read_bytes()).hexdigest() in pointer
    assert ".gitattributes says git-LFS, but" not in rig.run("--verbose").out
    rig.git("commit", "-qm", "model")
    remote = tmp_path / "remote.git"
    rig.git("init", "-q", "--bare", str(remote))
    rig.git("push", "-q", f"file://{remote}", "HEAD:main")
    rig.git("clone", "-q", "--branch", "main", f"file://{remote}", str(tmp_path / "clone"))
    assert (tmp_path / "clone" / "speech.onnx").read_bytes() == model.read_bytes()


@with_lfs
def test_lfs_pointer_skipped(rig: Rig, tmp_path: Path) -> None:
    in_lfs(rig)
    rig.put("speech.onnx", fetched("speech"))
    rig.stage()
    rig.git("commit", "-qm", "model")
    remote = tmp_path / "remote.git"
    rig.git("init", "-q", "--bare", str(remote))
    rig.git("push", "-q", f"file://{remote}", "HEAD:main")
    clone = tmp_path / "clone"
    rig.git("clone", "-q", "--branch", "main", f"file://{remote}", str(clone), GIT_LFS_SKIP_SMUDGE="1")
    rig.repository = clone
    before = rig.digest("speech.onnx")
    ran = rig.run("--all-files", "--verbose", watch=["speech.onnx"])
    assert ran.code == 0
    assert "speech.onnx: is a git-LFS pointer, skipped; `git lfs pull` fetches the content" in ran.out
    assert rig.digest("speech.onnx") == before


def test_override_respected(rig: Rig) -> None:
    rig.put("models/one.onnx", fetched("small"))
    rig.put("frozen/two.onnx", fetched("small"))
    rig.put("onnxsim-ci.toml", b'[[overrides]]\nfiles = ["frozen/**"]\nsimplify.level = "off"\n')
    rig.stage()
    ran = rig.run(watch=["models/one.onnx", "frozen/two.onnx"])
    assert ran.code == 1
    assert (rig.repository / "frozen/two.onnx").read_bytes() == fetched("small")
    assert nodes(rig.repository / "models/one.onnx") < nodes(fetched("small"))


def test_budget_refused(rig: Rig) -> None:
    """The commit is refused while the model is over the budget; a smaller result is written all the same."""
    rig.put("small.onnx", fetched("small"))
    rig.put("onnxsim-ci.toml", b'[budget]\nmax_nodes = 500\nmax_bytes = "10KiB"\n')
    rig.stage()
    assert rig.run(watch=["small.onnx"]).code == 1
    assert nodes(rig.repository / "small.onnx") < nodes(fetched("small"))
    rig.stage()
    for _ in range(2):
        before = rig.digest("small.onnx")
        ran = rig.run(watch=["small.onnx"])
        assert ran.code == 1
        assert "exit code: 1" in ran.out
        assert "small.onnx: budget.max_bytes is " in ran.out
        assert "allowed is 10KiB (onnxsim-ci.toml:3:1)" in ran.out
        assert rig.digest("small.onnx") == before


def test_broken_untouched(rig: Rig) -> None:
    broken = fetched("speech")[:100_000]
    rig.put("broken.onnx", broken)
    rig.put("first.onnx", fetched("small"))
    rig.put("last.onnx", fetched("small"))
    rig.stage()
    ran = rig.run(watch=["broken.onnx", "first.onnx", "last.onnx"])
    assert ran.code == 1
    assert "exit code: 2" in ran.out
    assert "Traceback" not in ran.out
    assert ran.out.count("broken.onnx: ") == 1
    assert (rig.repository / "broken.onnx").read_bytes() == broken
    for name in ("first.onnx", "last.onnx"):
        assert nodes(rig.repository / name) < nodes(fetched("small"))


def test_external_new_file_named(rig: Rig) -> None:
    model = rig.put("big/text.onnx", fetched("text"))
    onnx.save(
        onnx.load(model), model, save_as_external_data=True, location="text.data", size_threshold=1024,
        convert_attribute=True,
    )  # fmt: skip
    rig.stage()
    rig.git("commit", "-qm", "model", "--no-verify")
    ran = rig.run("--all-files", watch=["big/text.onnx", "big/text.data"])
    assert ran.code == 1
    (new,) = (path.name for path in model.parent.glob("text.*.data"))
    assert f"git add big/{new}" in ran.out
    assert "git rm big/text.data" in ran.out
    assert f"?? big/{new}" in rig.git("status", "--porcelain").decode()
    for words in (["add", f"big/{new}"], ["rm", "-q", "big/text.data"], ["add", "big/text.onnx"]):
        rig.git(*words)
    onnx.checker.check_model(model)
    assert rig.run("--all-files", watch=["big/text.onnx", f"big/{new}"]).code == 0
    rig.git("commit", "-qm", "simplified", "--no-verify")
    assert rig.git("status", "--porcelain") == b""


def test_partially_staged(rig: Rig) -> None:
    staged = fetched("small")
    unstaged = onnx.load_from_string(staged)
    unstaged.doc_string = "edited, not staged"
    rig.put("small.onnx", staged)
    rig.put("other.onnx", staged)
    rig.stage()
    rig.put("small.onnx", unstaged.SerializeToString())
    ran = rig.run(watch=["small.onnx", "other.onnx"])
    assert ran.code == 1
    assert (rig.repository / "small.onnx").read_bytes() == unstaged.SerializeToString()
    for name in ("small.onnx", "other.onnx"):
        assert rig.git("show", f":{name}") == staged


def test_three_hundred_files(rig: Rig) -> None:
    model = onnx.load_from_string(fetched("small"))
    names = [f"models/{index % 7}/m{index}.onnx" for index in range(MANY)]
    for index, name in enumerate(names):
        model.producer_version = str(index)
        rig.put(name, model.SerializeToString())
    rig.stage()
    ran = rig.run(watch=names[:3])
    assert ran.code == 1
    assert sum(", proven (" in line for line in ran.out.splitlines()) == MANY
    rig.stage()
    spent = []
    for _ in range(2):
        begin = time.monotonic()
        assert rig.run(watch=names[:3]).code == 0
        spent.append(time.monotonic() - begin)
    assert spent[1] < spent[0] / 3


def test_dash_and_unicode_names(rig: Rig) -> None:
    for name in NAMES:
        rig.put(name, fetched("small"))
    rig.stage()
    ran = rig.run(watch=NAMES)
    assert ran.code == 1
    assert "exit code: 1" in ran.out
    for name in NAMES:
        assert nodes(rig.repository / name) < nodes(fetched("small")), name
    rig.stage()
    assert rig.run(watch=NAMES).code == 0


def test_user_args(rig: Rig) -> None:
    rig.configure(arguments=["--check", "--set", "verify.seed=3", "--jobs=1"])
    rig.put("small.onnx", fetched("small"))
    rig.stage()
    ran = rig.run(watch=["small.onnx"])
    assert ran.code == 1
    assert "small.onnx: would become " in ran.out
    assert (rig.repository / "small.onnx").read_bytes() == fetched("small")
    rig.configure(arguments=["--set", "simplify.level=off"])
    rig.stage()
    assert rig.run(watch=["small.onnx"]).code == 0
    rig.configure(hook="onnxsim-ci-check")
    rig.stage()
    assert rig.run(watch=["small.onnx"]).code == 1
    assert (rig.repository / "small.onnx").read_bytes() == fetched("small")


def test_unproven_left_alone(rig: Rig) -> None:
    rig.put("speech.onnx", fetched("speech"))
    rig.put("onnxsim-ci.toml", b'[limits]\nmemory = "30MiB"\n')
    rig.stage()
    for _ in range(2):
        ran = rig.run("--verbose", watch=["speech.onnx"])
        assert ran.code == 0
        assert ran.out.count("speech.onnx: left alone, not run: memory limit") == 1
        assert (rig.repository / "speech.onnx").read_bytes() == fetched("speech")
    rig.put("onnxsim-ci.toml", b'[limits]\nmemory = "30MiB"\n[verify]\nstrict = true\n')
    rig.stage()
    assert rig.run(watch=["speech.onnx"]).code == 1
    assert (rig.repository / "speech.onnx").read_bytes() == fetched("speech")


def test_the_environment_fits_the_free_tier(rig: Rig) -> None:
    """pre-commit.ci allows 250 MiB a hook; the alarm rings at 245."""
    rig.put("small.onnx", fetched("small"))
    rig.stage()
    rig.run(watch=["small.onnx"])
    home = Path(rig.environment["PRE_COMMIT_HOME" if rig.manager == "pre-commit" else "PREK_HOME"])
    folders = [path.parent for path in home.rglob("pyvenv.cfg")]
    assert folders
    listed = (subprocess.run(["du", "-sk", path], capture_output=True, check=True).stdout for path in folders)
    assert max(int(line.split()[0]) for line in listed) / 1024 < 245
