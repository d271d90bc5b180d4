"""The results cache: what it gives back, and what it survives."""

from pathlib import Path

import pytest

from onnxsim_ci.cache import Known, ResultsCache, default_cache

DIGEST = "0f" * 32
KNOWN = Known(refusals=(("fuse-pad-into-conv", "differs"),), verdicts={"x": {"verdict": "equivalent"}})


def test_what_was_written_is_read(tmp_path: Path) -> None:
    cache = ResultsCache(tmp_path / "new" / "folder")
    assert cache.read(DIGEST) == Known()
    cache.write(DIGEST, KNOWN)
    assert cache.read(DIGEST) == KNOWN
    assert cache.size().entries == 1
    assert [path.name for path in (tmp_path / "new" / "folder" / "0f").iterdir()] == [f"{DIGEST}.json"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": 99}', '{"format": 1, "refusals": [1], "verdicts": {}}']
)
def test_what_cannot_be_read_is_not_known(tmp_path: Path, text: str) -> None:
    cache = ResultsCache(tmp_path)
    cache.write(DIGEST, KNOWN)
    (tmp_path / "0f" / f"{DIGEST}.json").write_text(text)
    assert cache.read(DIGEST) == Known()


def test_a_place_that_cannot_be_written_is_an_empty_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = ResultsCache(tmp_path / "file")
    cache.write(DIGEST, KNOWN)
    assert cache.read(DIGEST) == Known()
    assert cache.clear().entries == 0


def test_clear_removes_entries_and_nothing_else(tmp_path: Path) -> None:
    cache = ResultsCache(tmp_path)
    cache.write(DIGEST, KNOWN)
    (tmp_path / "notes.txt").write_text("mine")
    assert cache.clear().entries == 1
    assert (tmp_path / "notes.txt").exists()


def test_the_environment_places_it_or_switches_it_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONNXSIM_CI_CACHE", str(tmp_path))
    assert default_cache().folder.is_relative_to(tmp_path)
    monkeypatch.setenv("ONNXSIM_CI_NO_CACHE", "1")
    default_cache().write(DIGEST, KNOWN)
    assert default_cache().read(DIGEST) == Known()
