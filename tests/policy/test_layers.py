"""Where policies are found, how they are merged, and where each value comes from."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from onnxsim_ci.errors import BadPolicy
from onnxsim_ci.policy import Policy, Setting, matches, resolve

Write = Callable[[str, str], Path]


def test_nothing_found_means_the_defaults(repository: Path) -> None:
    resolved = resolve(repository / "m.onnx", environ={})
    assert resolved.policy == Policy()
    assert resolved.origin("verify", "samples") == "default"
    assert resolved.files == ()


def test_the_nearest_file_wins_and_the_first_of_three_names(repository: Path, write: Write) -> None:
    write("onnxsim-ci.toml", "[verify]\nseed = 1")
    write("models/pyproject.toml", "[tool.onnxsim-ci.verify]\nseed = 2")
    write("models/.onnxsim-ci.toml", "[verify]\nseed = 3")
    resolved = resolve(repository / "models" / "vad" / "x.onnx", environ={})
    assert resolved.policy.verify.seed == 3
    assert resolved.origin("verify", "seed") == "models/.onnxsim-ci.toml:2:1"
    assert resolved.folder == repository / "models"


def test_a_pyproject_without_our_table_is_passed_over(repository: Path, write: Write) -> None:
    write("models/pyproject.toml", "[tool.other]\nseed = 2")
    write("pyproject.toml", "[tool.other]\n\n[tool.onnxsim-ci]\nverify.seed = 4")
    resolved = resolve(repository / "models" / "x.onnx", environ={})
    assert resolved.policy.verify.seed == 4
    assert resolved.origin("verify", "seed") == "pyproject.toml:4:8"


def test_the_search_ends_at_the_repository(repository: Path) -> None:
    (repository.parent / "onnxsim-ci.toml").write_text("[verify]\nseed = 9")
    assert resolve(repository / "m.onnx", environ={}).files == ()


def test_without_a_repository_the_models_folder_and_the_current_folder_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "onnxsim-ci.toml").write_text("[verify]\nseed = 1")
    (tmp_path / "here" / "onnxsim-ci.toml").write_text("[verify]\nseed = 2")
    monkeypatch.chdir(tmp_path / "here")
    assert resolve(tmp_path / "a" / "b" / "m.onnx", environ={}).policy.verify.seed == 2
    assert resolve(tmp_path / "a" / "m.onnx", environ={}).policy.verify.seed == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_outside_a_repository_the_file_of_another_user_is_refused(tmp_path: Path) -> None:
    policy = tmp_path / "onnxsim-ci.toml"
    policy.write_text("[verify]\nseed = 1")
    os.chown(policy, 12345, 12345)
    with pytest.raises(BadPolicy, match="belongs to another user"):
        resolve(tmp_path / "m.onnx", environ={})
    assert resolve(tmp_path / "m.onnx", file=policy, environ={}).policy.verify.seed == 1
    (tmp_path / ".git").mkdir()
    assert resolve(tmp_path / "m.onnx", environ={}).policy.verify.seed == 1


def test_a_link_out_of_the_repository_is_no_policy(repository: Path) -> None:
    outside = repository.parent / "outside.toml"
    outside.write_text("[verify]\nseed = 9")
    (repository / "onnxsim-ci.toml").symlink_to(outside)
    assert resolve(repository / "m.onnx", environ={}).policy.verify.seed == 0


def test_extended_tables_merge_key_by_key_and_lists_replace(repository: Path, write: Write) -> None:
    write("base.toml", "[simplify]\nskip = ['conv']\nkeep = ['w']\n[verify]\nseed = 1\nsamples = 9")
    write("models/onnxsim-ci.toml", "extends = ['../base.toml']\n[simplify]\nskip = []\n[verify]\nseed = 2")
    resolved = resolve(repository / "models" / "m.onnx", environ={})
    policy = resolved.policy
    assert (policy.simplify.skip, policy.simplify.keep) == ((), ("w",))
    assert (policy.verify.seed, policy.verify.samples) == (2, 9)
    assert resolved.origin("verify", "samples") == "base.toml:6:1"
    assert resolved.files == ("base.toml", "models/onnxsim-ci.toml")


def test_a_circle_prints_its_chain(repository: Path, write: Write) -> None:
    write("onnxsim-ci.toml", "extends = ['a.toml']")
    write("a.toml", "\nextends = ['onnxsim-ci.toml']")
    with pytest.raises(
        BadPolicy, match=r"a.toml:2:12: extends in a circle: onnxsim-ci.toml -> a.toml -> onnxsim-ci.toml"
    ):
        resolve(repository / "m.onnx", environ={})


def test_extends_stays_inside_and_exists_and_is_not_too_deep(repository: Path, write: Write) -> None:
    for target, message in [
        ("../x.toml", "out of the repository"),
        ("/x.toml", "out of"),
        ("no.toml", "no policy"),
    ]:
        write("onnxsim-ci.toml", f"extends = ['{target}']")
        with pytest.raises(BadPolicy, match=message):
            resolve(repository / "m.onnx", environ={})
    write("onnxsim-ci.toml", "extends = ['1.toml']")
    for depth in range(1, 10):
        write(f"{depth}.toml", f"extends = ['{depth + 1}.toml']")
    with pytest.raises(BadPolicy, match="more than 8 files deep"):
        resolve(repository / "m.onnx", environ={})


def test_all_matching_overrides_apply_in_order(repository: Path, write: Write) -> None:
    write(
        "models/onnxsim-ci.toml",
        "[verify]\nseed = 1\n"
        "[[overrides]]\nfiles = ['vad/**']\nverify.seed = 2\nverify.samples = 3\n"
        "[[overrides]]\nfiles = ['x.onnx']\nverify.seed = 4\n"
        "[[overrides]]\nfiles = ['other/**']\nverify.seed = 5\n",
    )
    resolved = resolve(repository / "models" / "vad" / "x.onnx", environ={})
    assert (resolved.policy.verify.seed, resolved.policy.verify.samples) == (4, 3)
    assert resolved.policy.overrides == ()
    assert resolved.origin("verify", "seed") == "models/onnxsim-ci.toml:9:8"


def test_globs_of_an_extended_file_are_relative_to_it(repository: Path, write: Write) -> None:
    write("models/base.toml", "[[overrides]]\nfiles = ['/vad/x.onnx']\nverify.seed = 2")
    write("onnxsim-ci.toml", "extends = ['models/base.toml']")
    assert resolve(repository / "models" / "vad" / "x.onnx", environ={}).policy.verify.seed == 2
    assert resolve(repository / "vad" / "x.onnx", environ={}).policy.verify.seed == 0


def test_flags_stand_above_the_environment_and_that_above_files(repository: Path, write: Write) -> None:
    write("onnxsim-ci.toml", "[verify]\nseed = 1\nsamples = 2\nsymbol_values = 3")
    environ = {"ONNXSIM_CI_VERIFY__SEED": "4", "ONNXSIM_CI_VERIFY__SAMPLES": "5", "ONNXSIM_CI_OTHER": "x"}
    flag = Setting(path=("verify", "seed"), value=6, origin="flag --seed")
    resolved = resolve(repository / "m.onnx", environ=environ, settings=[flag])
    verify = resolved.policy.verify
    assert (verify.seed, verify.samples, verify.symbol_values) == (6, 5, 3)
    assert resolved.origin("verify", "seed") == "flag --seed"
    assert resolved.origin("verify", "samples") == "environment ONNXSIM_CI_VERIFY__SAMPLES"


def test_a_flag_that_adds_keeps_the_list_of_the_file(repository: Path, write: Write) -> None:
    write("onnxsim-ci.toml", "[simplify]\nskip = ['conv']")
    flag = Setting(path=("simplify", "skip"), value=["matmul"], origin="flag --skip-optimization", adds=True)
    assert resolve(repository / "m.onnx", environ={}, settings=[flag]).policy.simplify.skip == (
        "conv",
        "matmul",
    )


def test_a_named_file_replaces_the_search(repository: Path, write: Write, tmp_path: Path) -> None:
    write("onnxsim-ci.toml", "[verify]\nseed = 1")
    other = tmp_path / "other.toml"
    other.write_text("[verify]\nseed = 2")
    assert resolve(repository / "m.onnx", file=other, environ={}).policy.verify.seed == 2
    named = {"ONNXSIM_CI_POLICY": str(other)}
    assert resolve(repository / "m.onnx", environ=named).policy.verify.seed == 2
    with pytest.raises(BadPolicy, match="no such policy file"):
        resolve(repository / "m.onnx", file=tmp_path / "no.toml", environ={})


def test_a_tree_of_a_revision_is_searched_like_a_folder(repository: Path) -> None:
    class Revision:
        def __init__(self) -> None:
            self.files = {"onnxsim-ci.toml": b"[verify]\nseed = 3\n"}

        def read(self, path: str) -> bytes | None:
            return self.files.get(path)

        def list(self) -> Iterator[str]:
            return iter(self.files)

    assert Policy.discover("models/x.onnx", Revision()).verify.seed == 3


@pytest.mark.parametrize(
    ("patterns", "path", "expected"),
    [
        (["models/**"], "models/a/b.onnx", True),
        (["*.onnx"], "models/a.onnx", True),
        (["/a.onnx"], "models/a.onnx", False),
        (["**/*.onnx", "!third/**"], "third/a.onnx", False),
        (["models/"], "models/x/y.onnx", True),
    ],
)
def test_globs_are_those_of_gitignore(patterns: list[str], path: str, expected: bool) -> None:
    assert matches(patterns, "", path) is expected
