"""Saving: what the file holds, where weights go, and that either the old or the new model is whole."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, numpy_helper
from onnx_text import parse

from onnxsim_ci.errors import BadInput, ExternalDataError, InternalError
from onnxsim_ci.model import LoadedModel, SavedFiles, embedded, filled, image_of, load, save, save_beside
from onnxsim_ci.model.external import ExternalFiles, contained_path
from onnxsim_ci.model.readback import check_written
from onnxsim_ci.model.temporary import remove_stale, temporary_beside
from onnxsim_ci.model.walk import all_tensors

MIB = 1 << 20


def with_weights(*arrays: np.ndarray) -> ModelProto:
    names = [f"w{i}" for i in range(len(arrays))]
    model = parse(f"g (float[N] x) => (float[N] y) {{ y = Sum({', '.join(['x', *names])}) }}")
    model.graph.initializer.extend(numpy_helper.from_array(a, n) for a, n in zip(arrays, names, strict=True))
    return model


def stored_outside(folder: Path, *places: tuple[str, int, int]) -> Path:
    """A model whose initializers w0, w1, ... lie at (file, offset, count of floats)."""
    names = [f"w{i}" for i in range(len(places))]
    model = parse(f"g (float[N] x) => (float[N] y) {{ y = Sum({', '.join(['x', *names])}) }}")
    for name, (location, offset, count) in zip(names, places, strict=True):
        tensor = model.graph.initializer.add(
            name=name, data_type=1, dims=[count], data_location=TensorProto.EXTERNAL
        )
        for key, value in (("location", location), ("offset", str(offset)), ("length", str(4 * count))):
            tensor.external_data.add(key=key, value=value)
        tensor.external_data.add(key="checksum", value="kept")
    path = folder / "m.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def saved(loaded: LoadedModel, target: Path) -> SavedFiles:
    return save_beside(loaded.proto, loaded.weights, loaded.folder, target)


def arrays_of(path: Path) -> list[np.ndarray]:
    return [numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer]


def numbers(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(count).astype(np.float32)


# ---- one file


def test_nothing_is_at_the_target_before_the_commit(tmp_path: Path) -> None:
    files = saved(load(with_weights(numbers(4))), tmp_path / "o.onnx")
    assert not (tmp_path / "o.onnx").exists()
    files.discard()
    assert os.listdir(tmp_path) == []
    files = saved(load(with_weights(numbers(4))), tmp_path / "o.onnx")
    assert files.commit() == ()
    assert os.listdir(tmp_path) == ["o.onnx"]


def test_streamed_weights_are_the_same(tmp_path: Path) -> None:
    source = with_weights(numbers(MIB), numbers(3), numbers(MIB // 2, 1))
    (tmp_path / "m.onnx").write_bytes(source.SerializeToString())
    loaded = load(tmp_path / "m.onnx")
    loaded.proto.graph.node[0].name = "changed"
    saved(loaded, tmp_path / "o.onnx").commit()
    source.graph.node[0].name = "changed"
    assert onnx.load(tmp_path / "o.onnx") == source


def test_a_model_may_be_streamed_over_itself(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    source = with_weights(numbers(2 * MIB))
    path.write_bytes(source.SerializeToString())
    loaded = load(path)
    loaded.proto.graph.node[0].name = "changed"
    saved(loaded, path).commit()
    np.testing.assert_array_equal(arrays_of(path)[0], numbers(2 * MIB))


def test_a_streamed_file_is_read_back_before_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = with_weights(numbers(2 * MIB))
    (tmp_path / "m.onnx").write_bytes(source.SerializeToString())
    loaded = load(tmp_path / "m.onnx")
    real = save.serialized

    def bad_disk(*arguments: object) -> object:
        for piece in real(*arguments):  # type: ignore[arg-type]
            yield bytes(piece).replace(numbers(2 * MIB)[7:9].tobytes(), b"\0" * 8)

    monkeypatch.setattr(save, "serialized", bad_disk)
    with pytest.raises(InternalError, match="not what was proven"):
        saved(loaded, tmp_path / "o.onnx")
    assert os.listdir(tmp_path) == ["m.onnx"]


def test_read_back_accepts_what_was_meant(tmp_path: Path) -> None:
    source = with_weights(numbers(2 * MIB))
    (tmp_path / "m.onnx").write_bytes(source.SerializeToString())
    loaded = load(tmp_path / "m.onnx")
    check_written(tmp_path / "m.onnx", loaded.proto, loaded.weights)
    loaded.proto.graph.name = "other"
    with pytest.raises(InternalError):
        check_written(tmp_path / "m.onnx", loaded.proto, loaded.weights)


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664])
def test_the_mode_of_a_replaced_file_is_kept(mode: int, tmp_path: Path) -> None:
    target = tmp_path / "o.onnx"
    target.write_bytes(b"old")
    target.chmod(mode)
    saved(load(with_weights(numbers(4))), target).commit()
    assert stat.S_IMODE(target.stat().st_mode) == mode


def test_a_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    saved(load(with_weights(numbers(4))), tmp_path / "o.onnx").commit()
    assert (tmp_path / "o.onnx").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_folder_as_target_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(BadInput, match="cannot be written"):
        saved(load(with_weights(numbers(4))), tmp_path / "folder").commit()
    assert os.listdir(tmp_path) == ["folder"]


# ---- temporary files


def test_temporary_files_of_dead_processes_are_removed_and_others_stay(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    dead = [f".o.onnx.{child.pid}.onnxsim-ci.tmp", f".o.onnx.data.{child.pid}-3.onnxsim-ci.tmp"]
    others = [
        f".o.onnx.{os.getpid()}-1.onnxsim-ci.tmp",
        f".other.onnx.{child.pid}.onnxsim-ci.tmp",
        ".o.onnx.backup",
        "o.onnx",
        ".o.onnx.9999999999999999999.onnxsim-ci.tmp",
    ]
    for name in (*dead, *others):
        (tmp_path / name).touch()
    assert temporary_beside(tmp_path / "o.onnx") != temporary_beside(tmp_path / "o.onnx")
    assert sorted(os.listdir(tmp_path)) == sorted(others)
    remove_stale(tmp_path / "nowhere" / "o.onnx")


# ---- external data


def test_in_the_same_folder_data_files_stay_and_only_the_model_is_replaced(tmp_path: Path) -> None:
    numbers(100).tofile(tmp_path / "w.bin")
    path = stored_outside(tmp_path, ("w.bin", 0, 40), ("w.bin", 200, 10))
    loaded = load(path)
    loaded.proto.graph.node[0].name = "changed"
    assert saved(loaded, path).commit() == ()
    assert sorted(os.listdir(tmp_path)) == ["m.onnx", "w.bin"]
    np.testing.assert_array_equal(arrays_of(path)[1], numbers(100)[50:60])


def test_elsewhere_live_ranges_go_into_one_file_aligned_and_shared_ones_once(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    numbers(1000).tofile(tmp_path / "w.bin")
    numbers(50, 1).tofile(tmp_path / "sub" / "v.bin")
    path = stored_outside(
        tmp_path, ("w.bin", 40, 10), ("sub/v.bin", 0, 50), ("w.bin", 40, 10), ("w.bin", 400, 100)
    )
    out = tmp_path / "out"
    out.mkdir()
    loaded = load(path)
    (data,) = saved(loaded, out / "o.onnx").commit()
    assert sorted(os.listdir(out)) == sorted(["o.onnx", data.name])
    assert data.name.startswith("o.")
    assert data.suffix == ".data"
    moved = onnx.load(out / "o.onnx", load_external_data=False).graph.initializer
    entries = [{e.key: e.value for e in t.external_data} for t in moved]
    assert {e["location"] for e in entries} == {data.name}
    assert [int(e["offset"]) for e in entries] == [0, 64, 0, 320]
    assert [e["length"] for e in entries] == ["40", "200", "40", "400"]
    assert {e["checksum"] for e in entries} == {"kept"}
    assert data.stat().st_size == 720
    for before, after in zip(arrays_of(path), arrays_of(out / "o.onnx"), strict=True):
        np.testing.assert_array_equal(before, after)
    assert {
        e.value for t in load(path).proto.graph.initializer for e in t.external_data if e.key == "location"
    } == {
        "w.bin",
        "sub/v.bin",
    }


def test_the_same_content_gets_the_same_name_twice(tmp_path: Path) -> None:
    numbers(1000).tofile(tmp_path / "w.bin")
    path = stored_outside(tmp_path, ("w.bin", 0, 1000))
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        saved(load(path), tmp_path / name / "o.onnx").commit()
    assert sorted(os.listdir(tmp_path / "a")) == sorted(os.listdir(tmp_path / "b"))
    assert (tmp_path / "a" / "o.onnx").read_bytes() == (tmp_path / "b" / "o.onnx").read_bytes()


def test_many_new_weights_in_place_go_with_the_old_ones_into_a_new_file(tmp_path: Path) -> None:
    numbers(1000).tofile(tmp_path / "w.bin")
    path = stored_outside(tmp_path, ("w.bin", 0, 1000))
    old = path.read_bytes()
    loaded = load(path)
    loaded.proto.graph.initializer.append(numpy_helper.from_array(numbers(MIB, 2), "new"))
    files = saved(loaded, path)
    assert path.read_bytes() == old
    (data,) = files.commit()
    assert data.name != "w.bin"
    first, second = arrays_of(path)
    np.testing.assert_array_equal(first, numbers(1000))
    np.testing.assert_array_equal(second, numbers(MIB, 2))


@pytest.mark.parametrize("name", ["w.bin", "m.onnx"])
def test_a_file_that_holds_weights_is_never_written_over(name: str, tmp_path: Path) -> None:
    """Neither by naming a data file as the output, nor by a model that keeps weights in its own file."""
    numbers(1000).tofile(tmp_path / "w.bin")
    path = stored_outside(tmp_path, (name, 0, 4))
    before = (tmp_path / name).read_bytes()
    with pytest.raises(BadInput, match="holds weights of the model itself"):
        saved(load(path), tmp_path / name)
    assert (tmp_path / name).read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["m.onnx", "w.bin"]


def test_discarding_removes_the_data_file_too(tmp_path: Path) -> None:
    numbers(1000).tofile(tmp_path / "w.bin")
    path = stored_outside(tmp_path, ("w.bin", 0, 1000))
    out = tmp_path / "out"
    out.mkdir()
    saved(load(path), out / "o.onnx").discard()
    assert os.listdir(out) == []


def test_external_tensors_of_attributes_bodies_sparse_and_training_graphs_go_along(tmp_path: Path) -> None:
    numbers(100).tofile(tmp_path / "w.bin")
    path = stored_outside(tmp_path, ("w.bin", 0, 10))
    model = onnx.load(path, load_external_data=False)
    outside = model.graph.initializer[0]
    model.graph.node.add(op_type="Constant", output=["k"]).attribute.add(
        name="value", type=onnx.AttributeProto.TENSOR
    ).t.CopyFrom(outside)
    body = model.graph.node.add(op_type="Loop").attribute.add(name="body", type=onnx.AttributeProto.GRAPH)
    body.g.initializer.append(outside)
    sparse = model.graph.sparse_initializer.add()
    sparse.values.CopyFrom(outside)
    sparse.indices.CopyFrom(outside)
    holder = model.graph.node.add(op_type="Odd", domain="my")
    holder.attribute.add(name="s", type=onnx.AttributeProto.SPARSE_TENSOR).sparse_tensor.CopyFrom(sparse)
    holder.attribute.add(name="ts", type=onnx.AttributeProto.TENSORS).tensors.append(outside)
    model.training_info.add().algorithm.initializer.append(outside)
    assert len([t for t in all_tensors(model) if t.external_data]) == 9
    path.write_bytes(model.SerializeToString())
    out = tmp_path / "out"
    out.mkdir()
    (data,) = saved(load(path), out / "o.onnx").commit()
    found = load(out / "o.onnx").proto
    locations = {e.value for t in all_tensors(found) for e in t.external_data if e.key == "location"}
    assert locations == {data.name}


def test_embedded_and_filled_models_need_no_file(tmp_path: Path) -> None:
    numbers(100).tofile(tmp_path / "w.bin")
    loaded = load(stored_outside(tmp_path, ("w.bin", 0, 10)))
    whole = embedded(loaded.proto, loaded.weights)
    np.testing.assert_array_equal(numpy_helper.to_array(whole.graph.initializer[0]), numbers(100)[:10])
    source = with_weights(numbers(2 * MIB))
    loaded = load(source.SerializeToString())
    assert filled(loaded.proto, loaded.weights) == source


def test_a_session_maps_the_weights_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(with_weights(numbers(2 * MIB)).SerializeToString())
    loaded = load(path)
    data, folder = image_of(loaded.proto, loaded.weights, loaded.path)
    assert len(data) < 1000
    assert folder == str(tmp_path.resolve())
    (tensor,) = ModelProto.FromString(data).graph.initializer
    assert [e.key for e in tensor.external_data] == ["location", "offset", "length"]
    assert tensor.external_data[0].value == "m.onnx"
    offset, length = (int(e.value) for e in tensor.external_data[1:])
    assert path.read_bytes()[offset : offset + length] == numbers(2 * MIB).tobytes()


# ---- containment


@pytest.mark.parametrize(
    "location", ["../w.bin", "a/../../w.bin", "/etc/passwd", "\\\\host\\w.bin", "w\0.bin"]
)
def test_paths_out_of_the_folder_are_refused(location: str, tmp_path: Path) -> None:
    with pytest.raises(ExternalDataError, match=r"refused|missing"):
        contained_path(tmp_path, location)


def test_links_inside_the_folder_are_followed_and_a_relative_folder_is_no_hole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real.bin").write_bytes(b"1" * 16)
    os.symlink("real.bin", tmp_path / "link.bin")
    assert contained_path(tmp_path, "link.bin") == (tmp_path / "real.bin").resolve()
    monkeypatch.chdir(tmp_path)
    assert contained_path(Path(), "real.bin").is_absolute()
    with pytest.raises(ExternalDataError):
        contained_path(Path(), "../outside.bin")


def test_data_without_a_folder_is_refused() -> None:
    with pytest.raises(ExternalDataError, match="pass its path"):
        contained_path(None, "w.bin")


def test_an_empty_data_file_holds_empty_tensors(tmp_path: Path) -> None:
    (tmp_path / "w.bin").touch()
    loaded = load(stored_outside(tmp_path, ("w.bin", 0, 0)))
    assert loaded.weights.array(loaded.proto.graph.initializer[0]).shape == (0,)
    assert len(ExternalFiles(tmp_path).open("w.bin")[1]) == 0
