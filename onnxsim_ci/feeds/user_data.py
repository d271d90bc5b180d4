"""Inputs from the user's files: `.npz`, folders of `.npy`, and `test_data_set_N` folders of `.pb`.

Nothing is unpickled. A name that is no input of the model, or a tensor of another element type, is an
error that names the file.

House: feeds; imports numpy and onnx.
Touch: docs of the policy key verify.data.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from onnxsim_ci.feeds.sample import Sample
from onnxsim_ci.feeds.specs import InputSpec, Kind
from onnxsim_ci.feeds.values import dtype_of


class BadUserData(Exception):
    """A file given as verify.data is no set of inputs of this model; `str()` is the sentence."""


def read_user_data(data: str | Sequence[str], specs: tuple[InputSpec, ...]) -> Iterator[Sample]:
    """One sample for each `.npz` file and each folder, in sorted order.

    Raises:
        BadUserData: A pattern matches nothing, or a file does not fit the model.
    """
    for pattern in [data] if isinstance(data, str) else data:
        paths = sorted(glob.glob(pattern))
        if not paths:
            raise BadUserData(f"verify.data: no file matches {pattern!r}")
        for path in paths:
            yield from _samples(Path(path), specs)


def _samples(path: Path, specs: tuple[InputSpec, ...]) -> Iterator[Sample]:
    nested = sorted(path.glob("test_data_set_*")) if path.is_dir() else []
    for place in nested or [path]:
        try:
            values = _folder(place, specs) if place.is_dir() else _archive(place)
        except (OSError, ValueError, EOFError, KeyError) as error:
            raise BadUserData(f"verify.data: {place}: {error}") from None
        yield Sample(values=_checked(place, values, specs), profile="user data", note=str(place))


def _archive(path: Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as stored:
        if not hasattr(stored, "files"):
            raise ValueError("a single array has no input name; store arrays by name with numpy.savez")
        return {name: stored[name] for name in stored.files}


def _folder(path: Path, specs: tuple[InputSpec, ...]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    required = [spec for spec in specs if not spec.overridable]
    for file in sorted(path.iterdir()):
        numbered = re.fullmatch(r"input_(\d+)\.pb", file.name)
        if file.suffix == ".npy":
            values[file.stem] = np.load(file, allow_pickle=False)
        elif numbered and int(numbered[1]) < len(required):
            spec = required[int(numbered[1])]
            values[spec.name] = _protobuf(file.read_bytes(), spec)
    return values


def _protobuf(data: bytes, spec: InputSpec) -> Any:
    try:
        if spec.kind is Kind.SEQUENCE:
            return onnx.numpy_helper.to_list(onnx.SequenceProto.FromString(data))
        return onnx.numpy_helper.to_array(onnx.TensorProto.FromString(data))
    except Exception:  # protobuf's DecodeError: its module has no type information
        raise ValueError(f"input {spec.name!r} is not a serialized tensor") from None


def _checked(path: Path, values: dict[str, Any], specs: tuple[InputSpec, ...]) -> dict[str, Any]:
    by_name = {spec.name: spec for spec in specs}
    missing = [spec.name for spec in specs if spec.name not in values and not spec.overridable]
    unknown = [name for name in values if name not in by_name]
    if missing or unknown:
        problem = f"no input {missing[0]!r}" if missing else f"{unknown[0]!r} is no input of the model"
        raise BadUserData(f"verify.data: {path}: {problem} (inputs: {', '.join(by_name)})")
    for name, value in values.items():
        wanted = dtype_of(by_name[name].element)
        for array in value if isinstance(value, list) else [value]:
            if array.dtype != wanted and not (wanted.kind == "O" and array.dtype.kind in "OUS"):
                raise BadUserData(f"verify.data: {path}: {name!r} is {array.dtype}, the model wants {wanted}")
    return {
        name: value.astype(object) if by_name[name].element == onnx.TensorProto.STRING else value
        for name, value in values.items()
    }
