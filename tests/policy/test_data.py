"""`verify.data` is relative to whoever says it, and stays in the repository."""

from pathlib import Path
from typing import Any

import pytest

from onnxsim_ci.api.settings import proof_settings_of
from onnxsim_ci.policy import Policy, flag_settings, resolve
from onnxsim_ci.vcs import WorkTree

MODEL = Path("models") / "vad" / "m.onnx"


@pytest.fixture
def data(repository: Path, write: Any) -> Path:
    for name in ("data/a.npz", "models/data/b.npz", "models/vad/data/c.npz", "elsewhere/data/d.npz"):
        write(name, "")
    return repository


def found(repository: Path, **more: Any) -> list[str]:
    policy = resolve(repository / MODEL, environ={}, **more).policy
    paths = proof_settings_of(policy, (repository / MODEL).parent).data or []
    return [Path(path).relative_to(repository).as_posix() for path in paths]


def test_it_is_relative_to_the_file_that_says_it(data: Path, write: Any) -> None:
    write("onnxsim-ci.toml", 'verify.data = "data/*.npz"\n')
    assert found(data) == ["data/a.npz"]
    write("models/onnxsim-ci.toml", 'extends = ["../onnxsim-ci.toml"]\n')
    assert found(data) == ["data/a.npz"]
    write("models/onnxsim-ci.toml", '[[overrides]]\nfiles = ["vad/**"]\nverify.data = "data/*.npz"\n')
    assert found(data) == ["models/data/b.npz"]


def test_a_flag_means_the_current_folder(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(data / "elsewhere")
    assert found(data, settings=flag_settings(["verify.data=data/*.npz"])) == ["elsewhere/data/d.npz"]


def test_a_policy_from_no_file_means_the_models_folder(data: Path) -> None:
    policy = Policy.model_validate({"verify": {"data": "data/*.npz"}})
    (path,) = proof_settings_of(policy, (data / MODEL).parent).data or []
    assert path.endswith("models/vad/data/c.npz")


def test_through_a_tree_its_place_counts_and_the_digest_does_not_know_it(data: Path, write: Any) -> None:
    from onnxsim_ci.report import policy_sha256

    write("onnxsim-ci.toml", 'verify.data = "data/*.npz"\n')
    resolved = resolve(MODEL.as_posix(), tree=WorkTree(data), environ={}, place=data)
    assert [path.name for path in resolved.policy.verify.data_files(data)] == ["a.npz"]
    plain = Policy.model_validate({"verify": {"data": "data/*.npz"}})
    assert policy_sha256(resolved.policy) == policy_sha256(plain)
    settled = resolved.policy.settled(live_weight_bytes=0, has_dynamic_inputs=True)
    assert [path.name for path in settled.verify.data_files(Path("/"))] == ["a.npz"]


def test_links_out_of_the_repository_are_left_out(data: Path, write: Any, tmp_path: Path) -> None:
    (tmp_path / "secret.npz").write_bytes(b"")
    (data / "data" / "link.npz").symlink_to(tmp_path / "secret.npz")
    write("onnxsim-ci.toml", 'verify.data = "data/*.npz"\n')
    assert found(data) == ["data/a.npz"]
