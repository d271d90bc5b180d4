"""Bad input gets one sentence and exit 2; nothing is written, nothing is left behind, memory stays small.

Valid input is never refused: two kilobytes that ask for terabytes when folded are simplified unfolded.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import pytest
from broken_models import BROKEN, good, lay_out, model
from onnx import helper, numpy_helper

from onnxsim_ci import BadInput, optimize
from onnxsim_ci.model import save

COMMAND = Path(sys.executable).with_name("onnxsim-ci")

SHOWN = (
    "empty",
    "truncated",
    "LFS pointer",
    "JSON",
    "HTML",
    "external missing",
    "external ../",
    "external absolute",
    "external link",
    "external hard link",
    "external pipe",
    "opset from the future",
    "IR from the future",
    "cycle",
    "unsorted",
    "name twice",
    "nested 10,000 deep",
    "4 GB declared, raw",
    "2 ** 80 elements",
    "not UTF-8 operator",
    "unknown attribute",
    "too many inputs",
    "Exp of int64",
    "shapes that contradict",
    "operator of a newer opset",
    "recursive function",
    "domain not imported",
)
"""Cases that run as whole processes too; the others only in this one."""

MIB = 1 << 20


@dataclass(frozen=True)
class Ended:
    """What a process left behind."""

    code: int
    out: str
    err: str
    peak_bytes: int
    seconds: float


Command = Callable[..., Ended]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for models, with data files and links around it; the current folder is above it."""
    for name in list(os.environ):
        if name.startswith("ONNXSIM_CI_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ONNXSIM_CI_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    made = tmp_path / "models"
    made.mkdir()
    (tmp_path / "out").mkdir()
    lay_out(made)
    return made


@pytest.fixture
def command(folder: Path) -> Iterator[Command]:
    """Runs the installed command in a process group of its own, and measures its largest process."""
    running: list[subprocess.Popen[bytes]] = []

    def run(
        *arguments: str,
        before: Callable[[], None] | None = None,
        after_start: Callable[[int], None] | None = None,
    ) -> Ended:
        out, err = folder.parent / "stdout", folder.parent / "stderr"
        begin = time.monotonic()
        with out.open("wb") as stdout, err.open("wb") as stderr:
            process = subprocess.Popen(
                [COMMAND, *arguments],
                cwd=folder.parent,
                stdout=stdout,
                stderr=stderr,
                preexec_fn=before,  # noqa: PLW1509 - this process has no other threads
                start_new_session=True,
            )
            running.append(process)
            if after_start is not None:
                after_start(process.pid)
            peak = 0
            while process.poll() is None:
                peak = max(peak, peak_of(process.pid))
                time.sleep(0.005)
        seconds = time.monotonic() - begin
        return Ended(process.returncode, out.read_text(), err.read_text(), peak, seconds)

    yield run
    for process in running:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def peak_of(pid: int) -> int:
    """Largest resident memory so far of the process or of one of its children.

    The figure of wait4 counts the pages of this process too, from before the other program was loaded.
    """
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        own = next((int(s.split()[1]) * 1024 for s in status.splitlines() if s.startswith("VmHWM:")), 0)
        return max([own, *(peak_of(child) for child in _children(pid))])
    except OSError:
        return 0


def listing(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


def assert_refused(ended: Ended, says: str) -> None:
    assert ended.code == 2, ended
    assert ended.out == ""
    (line,) = ended.err.splitlines()
    assert line.startswith("error[")
    assert says in line
    assert ended.peak_bytes < 300 * MIB


@pytest.mark.parametrize("name", BROKEN)
def test_the_library_raises_one_sentence_and_writes_nothing(name: str, folder: Path) -> None:
    broken = BROKEN[name]
    path = folder / "m.onnx"
    path.write_bytes(broken.data)
    before = listing(folder.parent)
    with pytest.raises(BadInput) as caught:
        optimize(path, output=folder.parent / "out" / "o.onnx")
    assert broken.says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == broken.data
    assert [n for n in listing(folder.parent) if not n.startswith("cache")] == before


@pytest.mark.parametrize("name", [n for n in BROKEN if "external" not in n])
def test_bytes_are_refused_as_files_are(name: str, folder: Path) -> None:
    with pytest.raises(BadInput):
        optimize(BROKEN[name].data)


@pytest.mark.parametrize("name", SHOWN)
def test_the_command_says_one_sentence_and_ends_with_2(name: str, folder: Path, command: Command) -> None:
    broken = BROKEN[name]
    path = folder / "m.onnx"
    path.write_bytes(broken.data)
    before = listing(folder)
    assert_refused(command("simplify", "models/m.onnx", "-o", "out/o.onnx"), broken.says)
    assert path.read_bytes() == broken.data
    assert (listing(folder), os.listdir(folder.parent / "out")) == (before, [])


def test_in_place_leaves_a_broken_model_as_it_is(folder: Path, command: Command) -> None:
    path = folder / "m.onnx"
    path.write_bytes(BROKEN["cycle"].data)
    before = listing(folder)
    assert_refused(command("simplify", "--in-place", "models/m.onnx"), BROKEN["cycle"].says)
    assert path.read_bytes() == BROKEN["cycle"].data
    assert listing(folder) == before


def test_one_broken_model_among_several_stops_nothing(folder: Path, command: Command) -> None:
    (folder / "a.onnx").write_bytes(good().SerializeToString())
    (folder / "b.onnx").write_bytes(BROKEN["truncated"].data)
    ended = command("simplify", "models/a.onnx", "models/b.onnx", "-o", "out")
    assert ended.code == 2
    assert "cut short" in ended.out + ended.err
    assert os.listdir(folder.parent / "out") != []


@pytest.mark.parametrize(("place", "says"), [("models/none.onnx", "none.onnx"), ("models/pipe", "pipe")])
def test_places_without_a_model(place: str, says: str, command: Command) -> None:
    assert_refused(command("simplify", place, "-o", "out/o.onnx"), says)


def test_the_library_refuses_folders_and_pipes(folder: Path) -> None:
    with pytest.raises(BadInput, match="is a folder"):
        optimize(folder)
    with pytest.raises(BadInput, match="no regular file"):
        optimize(folder / "pipe")
    with pytest.raises(BadInput, match="no regular file"):
        optimize("/dev/zero")


# ---- a disk that is full, and processes that are stopped


@pytest.fixture
def large(folder: Path) -> Path:
    """A model of 2 MB with an edit to make."""
    built = model("g (float[N,700] x) => (float[N,700] y) { a = Identity(x)  y = MatMul(a, w) }")
    weight = np.random.default_rng(0).standard_normal((700, 700)).astype(np.float32)
    built.graph.initializer.append(numpy_helper.from_array(weight, "w"))
    path = folder / "m.onnx"
    path.write_bytes(built.SerializeToString())
    return path


def _small_files_only() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, MIB))


def test_a_file_that_cannot_grow_is_one_sentence(folder: Path, large: Path, command: Command) -> None:
    before, content = listing(folder), large.read_bytes()
    assert_refused(
        command("simplify", "--in-place", "models/m.onnx", before=_small_files_only),
        "cannot be written (File too",
    )
    assert (listing(folder), large.read_bytes()) == (before, content)


@pytest.mark.parametrize("step", ["write", "fsync"])
def test_a_full_disk_is_one_sentence(
    step: str, folder: Path, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, content = listing(folder), large.read_bytes()

    def full(*_: object) -> Iterator[bytes]:
        yield b"first part"
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def no_room(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if step == "write":
        monkeypatch.setattr(save, "serialized", full)
    else:
        monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(BadInput, match="No space left on device"):
        optimize(large, output=large)
    assert (listing(folder), large.read_bytes()) == (before, content)


KILLED = """
import os, signal, sys
from onnxsim_ci import optimize
name, count = sys.argv[1], int(sys.argv[2])
real = getattr(os, name)
def stop(*arguments):
    global count
    count -= 1
    if count == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments)
setattr(os, name, stop)
optimize(sys.argv[3], output=sys.argv[3])
"""


@pytest.mark.parametrize(("name", "is_new"), [("fsync", False), ("replace", False), ("open", True)])
def test_kill_in_the_middle_of_writing_leaves_one_whole_model(
    name: str, is_new: bool, folder: Path, large: Path
) -> None:
    """`os.open` is called on the folder, after the rename."""
    content = large.read_bytes()
    done = subprocess.run([sys.executable, "-c", KILLED, name, "1", str(large)], check=False, cwd=folder)
    assert done.returncode == -signal.SIGKILL
    operators = [n.op_type for n in onnx.load(large).graph.node]
    assert operators == (["MatMul"] if is_new else ["Identity", "MatMul"])
    assert is_new or large.read_bytes() == content
    left = [n for n in os.listdir(folder) if n.endswith(".onnxsim-ci.tmp")]
    assert len(left) == (0 if is_new else 1)
    large.write_bytes(content)
    optimize(large, output=large)
    assert not [n for n in os.listdir(folder) if n.endswith(".onnxsim-ci.tmp")]


def _children(pid: int) -> list[int]:
    return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_ctrl_c_ends_with_130_and_touches_nothing(folder: Path, command: Command) -> None:
    """A fusion asks for samples, and each of them runs through a hundred million rounds."""
    built = model(
        """g (float[N,4] x) => (float[M,4] y) <int64 trips = {100000000}, bool go = {1}> {
        p = MatMul(x, w)
        a = Add(p, v)
        y = Loop(trips, go, a)<body = b (int64 i, bool c, float[N,4] s) => (bool d, float[N,4] t)
        { d = Identity(c)  t = Sin(s) }> }"""
    )
    rng = np.random.default_rng(0)
    for name, shape in (("w", (4, 4)), ("v", (4,))):
        weight = rng.standard_normal(shape).astype(np.float32)
        built.graph.initializer.append(numpy_helper.from_array(weight, name))
    path = folder / "m.onnx"
    path.write_bytes(built.SerializeToString())
    before = listing(folder)

    def interrupt(pid: int) -> None:
        until = time.monotonic() + 20
        while not _children(pid) and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.7)
        os.killpg(pid, signal.SIGINT)

    ended = command("simplify", "--in-place", "models/m.onnx", after_start=interrupt)
    assert ended.code == 130, ended
    assert len(ended.err.splitlines()) <= 1
    assert ended.seconds < 20
    assert path.read_bytes() == built.SerializeToString()
    assert listing(folder) == before


# ---- valid models that ask for too much when folded


def bomb(nodes: list[onnx.NodeProto], **initializers: np.ndarray) -> bytes:
    """A model that reads `c`, which `nodes` make out of constants, and has one edit to make."""
    tail = [
        helper.make_node("ReduceSum", ["c"], ["r"], keepdims=0),
        helper.make_node("Identity", ["x"], ["a"]),
        helper.make_node("Add", ["a", "r"], ["y"]),
    ]
    built = helper.make_graph(
        [*nodes, *tail],
        "bomb",
        [helper.make_tensor_value_info("x", 1, ["N", 4])],
        [helper.make_tensor_value_info("y", 1, None)],
        [numpy_helper.from_array(np.asarray(a), name) for name, a in initializers.items()],
    )
    return helper.make_model(
        built, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    ).SerializeToString()


def _node(op_type: str, inputs: str, output: str = "c", **attributes: object) -> onnx.NodeProto:
    return helper.make_node(op_type, inputs.split(), [output], **attributes)


ONE = np.ones(1, np.float32)
BOMBS = {
    "doubling": bomb(
        [_node("Concat", f"t{i} t{i}", f"t{i + 1}" if i < 32 else "c", axis=0) for i in range(33)], t0=ONE
    ),
    "ConstantOfShape": bomb([_node("ConstantOfShape", "s")], s=np.array([40_000, 40_000])),
    "ConstantOfShape and Mul": bomb(
        [_node("ConstantOfShape", "s", "b"), _node("Mul", "b b")], s=np.array([1 << 28])
    ),
    "Expand": bomb([_node("Expand", "a0 s")], a0=ONE[0], s=np.array([40_000, 40_000])),
    "Tile": bomb([_node("Tile", "a0 s")], a0=np.ones(10, np.float32), s=np.array([160_000_000])),
    "Range": bomb(
        [_node("Range", "a0 b0 d0", "b"), _node("Cast", "b", to=1)],
        a0=np.int64(0),
        b0=np.int64(1 << 34),
        d0=np.int64(1),
    ),
    "Pad": bomb([_node("Pad", "a0 s")], a0=ONE, s=np.array([0, 1 << 33])),
    "NonZero": bomb(
        [_node("ConstantOfShape", "s", "b"), _node("NonZero", "b", "n"), _node("Cast", "n", to=1)],
        s=np.array([1 << 28]),
    ),
    "outer product": bomb([_node("Einsum", "a0 a0 a0", equation="i,j,k->ijk")], a0=np.ones(2000, np.float32)),
    "many of middle size": bomb(
        [
            _node("ConstantOfShape", "s", "t0"),
            *(_node("Sin", f"t{i}", f"t{i + 1}" if i < 899 else "c") for i in range(900)),
        ],
        s=np.array([1 << 23]),
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_fold_bombs_are_simplified_without_folding_them(name: str, folder: Path, command: Command) -> None:
    path = folder / "m.onnx"
    path.write_bytes(BOMBS[name])
    ended = command("simplify", "models/m.onnx", "-o", "out/o.onnx", "--json")
    assert ended.code == 0, ended
    (entry,) = json.loads(ended.out)["models"]
    assert (entry["outcome"], entry["verdict"]["verdict"]) == ("simplified", "equivalent")
    result = onnx.load(folder.parent / "out" / "o.onnx")
    assert "Identity" not in [n.op_type for n in result.graph.node]
    assert len(result.SerializeToString()) <= len(BOMBS[name])
    assert ended.peak_bytes < 500 * MIB
    assert ended.seconds < 5
