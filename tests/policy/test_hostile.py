"""Policies that were written to stop us: one sentence, in bounded time."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from onnxsim_ci.errors import BadPolicy
from onnxsim_ci.policy import resolve
from onnxsim_ci.policy.loading import MAX_BYTES, MAX_FILES

SECONDS = 5.0
Write = Callable[[str, str], Path]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('extends = ["a\\u0000b"]', "there is no policy at"),
        (f'extends = ["{"a" * 5000}"]', "there is no policy at"),
        ('extends = [".."]', "there is no policy at|out of the repository"),
        (".".join(["a"] * 5000) + " = 1", "nested too deeply"),
        ("a = " + "[" * 10_000 + "]" * 10_000, "nested too deeply"),
        ("version = " + "9" * 5000, "too many digits"),
        ("include = [" + "'a',\n" * (MAX_BYTES // 5) + "]", f"a policy at most {MAX_BYTES:,}"),
        ("include = [" + "'a**b',\n" * (MAX_BYTES // 9) + "]\n[[x]]", "unknown"),
        ("exclude = ['" + "a*" * 24 + "c']", "more than 4 times"),
    ],
    ids=["nul", "long", "above", "keys", "lists", "digits", "huge", "large", "stars"],
)
def test_a_hostile_text_is_one_mistake_at_once(
    text: str, sentence: str, repository: Path, write: Write
) -> None:
    write("onnxsim-ci.toml", text)
    begin = time.process_time()
    with pytest.raises(BadPolicy, match=sentence) as caught:
        resolve(repository / ("a" * 40 + "b.onnx"), environ={})
    assert len(str(caught.value).splitlines()) == 1
    assert time.process_time() - begin < SECONDS


def test_files_that_extend_each_other_many_times_are_refused_at_once(repository: Path, write: Write) -> None:
    for depth in range(6):
        write(f"p{depth}.toml", "extends = [" + f"'p{depth + 1}.toml'," * 40 + "]")
    write("p6.toml", "version = 1")
    write("onnxsim-ci.toml", "extends = ['p0.toml']")
    begin = time.process_time()
    with pytest.raises(BadPolicy, match=f"more than {MAX_FILES} files"):
        resolve(repository / "m.onnx", environ={})
    assert time.process_time() - begin < SECONDS


@pytest.mark.parametrize("text", ["tool = 3", "[tool.other]\nx = 1", "# " + "x" * MAX_BYTES])
def test_another_pyproject_is_no_policy(text: str, repository: Path, write: Write) -> None:
    write("pyproject.toml", text)
    assert resolve(repository / "m.onnx", environ={}).files == ()


def test_a_value_where_our_table_belongs_is_a_mistake(repository: Path, write: Write) -> None:
    write("pyproject.toml", "[tool]\nonnxsim-ci = 3")
    with pytest.raises(BadPolicy, match=r"pyproject.toml: tool.onnxsim-ci: expected a table"):
        resolve(repository / "m.onnx", environ={})


def test_a_circle_of_links_is_no_policy(repository: Path) -> None:
    (repository / "onnxsim-ci.toml").symlink_to("onnxsim-ci.toml")
    assert resolve(repository / "m.onnx", environ={}).files == ()


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root reads everything")
def test_a_policy_that_may_not_be_read_is_one_sentence(repository: Path, write: Write) -> None:
    write("onnxsim-ci.toml", "version = 1").chmod(0)
    with pytest.raises(BadPolicy, match=r"onnxsim-ci.toml: cannot be read"):
        resolve(repository / "m.onnx", environ={})
