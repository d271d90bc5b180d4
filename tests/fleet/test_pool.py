"""Isolation: what a child does to itself costs one model."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from onnxsim_ci.fleet import Task, default_jobs, run_all
from onnxsim_ci.policy import Policy
from onnxsim_ci.report import ModelReport

PROBE = """
import json, os, sys, time
from onnxsim_ci.fleet import Task, run_all
from onnxsim_ci.policy import Policy
from onnxsim_ci.report import ModelReport


def worker(task):
    if task.path == "dies":
        os._exit(11)
    if task.path == "aborts":
        os.abort()
    if task.path == "eats":
        hoard = [bytearray(os.urandom(1 << 20)) for _ in range(400)]
        time.sleep(60)
    return ModelReport(path=task.path, outcome="unchanged", warnings=(str(os.getpid()),))


if __name__ == "__main__":
    policy = Policy.model_validate({"limits": {"memory": "200MiB"}})
    done = []
    tasks = [Task(path=name, policy=policy) for name in sys.argv[1:]]
    entries = run_all(tasks, jobs=2, on_done=lambda index, entry: done.append(index), worker=worker)
    models = [entry.model_dump(mode="json") for entry in entries]
    print(json.dumps({"done": done, "parent": os.getpid(), "models": models}))
"""


def probe(tmp_path: Path, *names: str) -> dict[str, object]:
    script = tmp_path / "probe.py"
    script.write_text(PROBE)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(script), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=100)
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_a_dead_worker_costs_one_file_and_results_keep_their_order(tmp_path: Path) -> None:
    found = probe(tmp_path, "a", "dies", "b", "c")
    models = found["models"]
    assert isinstance(models, list)
    assert [entry["path"] for entry in models] == ["a", "dies", "b", "c"]
    assert [entry["outcome"] for entry in models] == ["unchanged", "unproven", "unchanged", "unchanged"]
    assert (
        models[1]["verdict"]["reason"] == "crash: the process that worked on this model died (exit code 11)"
    )
    assert found["done"] == [0, 1, 2, 3]
    assert str(found["parent"]) not in {warning for entry in models for warning in entry["warnings"]}


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_a_child_over_the_memory_limit_is_stopped_and_its_model_left_as_it_is(tmp_path: Path) -> None:
    models = probe(tmp_path, "a", "eats")["models"]
    assert isinstance(models, list)
    assert [entry["outcome"] for entry in models] == ["unchanged", "unproven"]
    assert (
        models[1]["verdict"]["reason"] == "memory limit: the child was stopped above 200MiB (limits.memory)"
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="one model is forked on Linux only")
@pytest.mark.parametrize(
    ("name", "outcome", "reason"),
    [
        ("fine", "unchanged", "nothing was compared"),
        ("aborts", "unproven", "crash: the process that worked on this model died (SIGABRT)"),
        ("eats", "unproven", "memory limit: the child was stopped above 200MiB (limits.memory)"),
    ],
)
def test_one_model_is_isolated_by_a_fork(tmp_path: Path, name: str, outcome: str, reason: str) -> None:
    found = probe(tmp_path, name)
    models = found["models"]
    assert isinstance(models, list)
    assert (models[0]["outcome"], models[0]["verdict"]["reason"]) == (outcome, reason)
    assert str(found["parent"]) not in models[0]["warnings"]


def test_where_a_runtime_is_loaded_one_model_stays_in_this_process() -> None:
    import onnxruntime

    assert onnxruntime.__version__

    def worker(task: Task) -> ModelReport:
        return ModelReport(path=task.path, outcome="unchanged", warnings=(str(os.getpid()),))

    (entry,) = run_all([Task(path="a", policy=Policy())], worker=worker)
    assert entry.warnings == (str(os.getpid()),)


def test_workers_are_at_most_one_a_model() -> None:
    assert default_jobs(1) == 1
    assert default_jobs(100, need=1 << 60) == 1
    assert 1 <= default_jobs(100) <= (os.cpu_count() or 1)


def test_a_fault_in_one_model_is_an_entry_not_an_exception(tmp_path: Path) -> None:
    from onnxsim_ci.fleet import work

    entry = work(Task(path=str(tmp_path / "gone.onnx"), policy=Policy()))
    assert entry.outcome == "failed"
    assert entry.failure is not None
    assert entry.failure.exit_code == 2
