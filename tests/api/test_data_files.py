"""In-place results with data files: what is added, what goes, what is left after a kill."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import numpy_helper

from onnxsim_ci.api import optimize
from onnxsim_ci.model import load, named_data_files, note_outdated, remove_outdated

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,512,3,3] x) => (float[1,512,3,3] y) {
  c = Conv(x, w)  n = BatchNormalization(c, scale, bias, mean, var)  y = Conv(n, kept)
}"""


@pytest.fixture
def fused(tmp_path: Path) -> Path:
    """A model with external weights; its fused weights are over 1 MiB, so they get a file of their own."""
    rng = np.random.default_rng(7)
    arrays = {
        "kept": rng.standard_normal((512, 512, 1, 1)) / 20,
        "w": rng.standard_normal((512, 512, 1, 1)) / 20,
        "scale": rng.uniform(0.5, 1.5, 512),
        "bias": rng.standard_normal(512),
        "mean": rng.standard_normal(512),
        "var": rng.uniform(0.5, 1.5, 512),
    }
    model = onnx.parser.parse_model(TEXT)
    for name, array in arrays.items():
        model.graph.initializer.append(numpy_helper.from_array(array.astype(np.float32), name))
    path = tmp_path / "repository" / "models" / "m.onnx"
    path.parent.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    onnx.save(model, path, save_as_external_data=True, location="m.onnx.data", size_threshold=0)
    return path


def test_a_file_whose_weights_all_went_into_the_model_goes(fused: Path) -> None:
    model = onnx.load(fused)
    small = numpy_helper.from_array(np.ones((512, 1, 1, 1), np.float32), "kept")
    model.graph.initializer[0].CopyFrom(small)
    model.graph.node[2].attribute.add(name="group", i=512, type=onnx.AttributeProto.INT)
    onnx.save(model, fused, save_as_external_data=True, location="w.data", size_threshold=4096)
    (fused.parent / "m.onnx.data").unlink()
    entry = optimize(fused, output=fused).report.models[0]
    assert entry.outcome == "simplified", entry
    assert (entry.added_files, entry.removed_files, entry.data_files) == ((), ("w.data",), ())
    assert os.listdir(fused.parent) == ["m.onnx"]


def test_the_old_file_goes_and_the_report_names_both(fused: Path) -> None:
    entry = optimize(fused, output=fused).report.models[0]
    (new,) = entry.added_files
    assert entry.removed_files == ("m.onnx.data",)
    assert entry.data_files == (new,)
    assert sorted(os.listdir(fused.parent)) == sorted(["m.onnx", new])
    onnx.checker.check_model(fused)
    again = optimize(fused, output=fused).report.models[0]
    assert (again.outcome, again.added_files, again.removed_files) == ("unchanged", (), ())


@pytest.mark.parametrize("place", ["other.onnx", "../above.onnx", "list.txt"])
def test_a_file_that_another_model_may_need_stays(fused: Path, place: str) -> None:
    (fused.parent / place).write_bytes(b"\x08\x07 ... m.onnx.data ...")
    entry = optimize(fused, output=fused).report.models[0]
    assert entry.removed_files == ()
    assert (fused.parent / "m.onnx.data").exists()


def test_a_model_outside_the_repository_is_not_asked(fused: Path) -> None:
    (fused.parent.parent.parent / "above.onnx").write_bytes(b"m.onnx.data")
    assert optimize(fused, output=fused).report.models[0].removed_files == ("m.onnx.data",)


def test_another_place_leaves_the_source_alone(fused: Path, tmp_path: Path) -> None:
    entry = optimize(fused, output=tmp_path / "out.onnx").report.models[0]
    assert entry.removed_files == ()
    assert (fused.parent / "m.onnx.data").exists()


def test_a_run_that_died_after_the_rename_is_ended_by_the_next(fused: Path) -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom onnxsim_ci.model import note_outdated\n"
        "note_outdated(Path(sys.argv[1]), ['stale.data', 'm.onnx.data'])\n"
    )
    (fused.parent / "stale.data").write_bytes(b"x")
    subprocess.run([sys.executable, "-c", script, str(fused)], check=True)
    assert remove_outdated(fused) == ("stale.data",)
    assert sorted(os.listdir(fused.parent)) == ["m.onnx", "m.onnx.data"]


def test_the_note_of_a_running_process_is_left_alone(fused: Path) -> None:
    (fused.parent / f".m.onnx.{os.getppid()}.onnxsim-ci.outdated").write_text('["gone.data"]')
    (fused.parent / "gone.data").write_bytes(b"x")
    assert remove_outdated(fused) == ()
    assert (fused.parent / "gone.data").exists()


@pytest.mark.parametrize("name", ["../secret", "/etc/hostname", "sub/../../secret", "missing"])
def test_a_note_cannot_remove_what_lies_elsewhere(fused: Path, name: str) -> None:
    (fused.parent.parent / "secret").write_bytes(b"x")
    note_outdated(fused, [name])
    assert remove_outdated(fused) == ()
    assert (fused.parent.parent / "secret").exists()
    assert sorted(os.listdir(fused.parent)) == ["m.onnx", "m.onnx.data"]


def test_locations_are_named_once_in_order(fused: Path) -> None:
    assert named_data_files(load(fused).proto) == ("m.onnx.data",)
