"""The command line as processes, in a repository of small models."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from e2e_record import Recorder
from onnx import numpy_helper

FAULTY = Path(__file__).with_name("faulty.py")
CHAIN = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N,3,8,8] x) => (float[N,3,8,8] y) { a = Identity(x)  b = Relu(a)  c = Dropout(b)  y = Abs(c) }"""
CONV = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N,3,12,12] x) => (float[N,5,8,8] y) {
  i = Identity(x)
  c = Conv(i, w)
  [norm1] n = BatchNormalization(c, scale, bias, mean, var)
  r = Relu(n)
  d = Conv(r, w2)
  [norm2] m = BatchNormalization(d, scale, bias, mean, var)
  y = Relu(m)
}"""
GEMM = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N,7] x) => (float[N,5] y) {
  i = Identity(x)
  c = Gemm(i, w)
  [norm1] n = BatchNormalization(c, scale, bias, mean, var)
  y = Sigmoid(n)
}"""
GROWS = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N,64] x) => (float[N,64] y) <int64[1] n = {64}> { e = Expand(w, n)  a = Add(x, e)  y = Mul(a, e) }"""


@dataclass(frozen=True)
class Done:
    """What a process left behind."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()


Tool = Callable[..., Done]


def save(path: Path, text: str, **tensors: np.ndarray) -> Path:
    model = onnx.parser.parse_model(text)
    for name, array in tensors.items():
        model.graph.initializer.append(numpy_helper.from_array(array.astype(np.float32), name))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())
    return path


def trained(channels: int) -> dict[str, np.ndarray]:
    """Statistics as training leaves them: variances over three decades, scales near 1."""
    rng = np.random.default_rng(11)
    return {
        "scale": rng.uniform(0.5, 1.5, channels),
        "bias": 0.3 * rng.standard_normal(channels),
        "mean": rng.standard_normal(channels),
        "var": 10.0 ** rng.uniform(-2, 1, channels),
    }


def conv_model(path: Path) -> Path:
    rng = np.random.default_rng(5)
    weights = {"w": rng.standard_normal((5, 3, 3, 3)) / 5, "w2": rng.standard_normal((5, 5, 3, 3)) / 7}
    return save(path, CONV, **weights, **trained(5))


def gemm_model(path: Path) -> Path:
    return save(path, GEMM, w=np.random.default_rng(5).standard_normal((7, 5)) / 3, **trained(5))


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A repository: two chains of no-ops, two models with a BatchNormalization, one that folding enlarges."""
    (tmp_path / ".git").mkdir()
    save(tmp_path / "models" / "a.onnx", CHAIN)
    save(tmp_path / "models" / "deep" / "b.onnx", CHAIN)
    conv_model(tmp_path / "conv.onnx")
    gemm_model(tmp_path / "gemm.onnx")
    save(tmp_path / "grows.onnx", GROWS, w=np.ones(1))
    return tmp_path


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ONNXSIM_CI_", "E2E_"))}
    return {**kept, "ONNXSIM_CI_CACHE": str(tmp_path / "cache"), "COLUMNS": "120", "NO_COLOR": "1"}


@pytest.fixture
def tool(here: Path, environment: dict[str, str]) -> Tool:
    """Runs `onnxsim-ci ARGUMENTS` in the repository; with `fault`, the faulty one."""

    def call(*arguments: object, stdin: bytes = b"", fault: str = "") -> Done:
        command = [sys.executable, *(["-m", "onnxsim_ci"] if not fault else [str(FAULTY)])]
        done = subprocess.run(
            [*command, *map(str, arguments)],
            input=stdin,
            capture_output=True,
            cwd=here,
            env={**environment, **({"E2E_FAULT": fault} if fault else {})},
            timeout=120,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr.decode())

    return call


@pytest.fixture
def interrupted(here: Path, environment: dict[str, str]) -> Tool:
    """Runs a command that waits, presses Ctrl-C (to the whole group, as a terminal does) once it does."""

    def call(*arguments: object, waiting: int) -> Done:
        with subprocess.Popen(
            [sys.executable, str(FAULTY), *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=here,
            env={**environment, "E2E_FAULT": "wait"},
            start_new_session=True,
        ) as process:
            try:
                while len(list(here.glob("waiting-*"))) < waiting and process.poll() is None:
                    time.sleep(0.02)
                os.killpg(process.pid, signal.SIGINT)
                out, err = process.communicate(timeout=60)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
        return Done(process.returncode, out, err.decode())

    return call


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Recorder(), "e2e-record")
