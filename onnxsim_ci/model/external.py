"""External data files: never outside the model's folder, mapped on demand, lengths checked before use.

House: model. May import onnx and errors.
Touch: `weights.py` (reads), `save.py` (copies live ranges).
"""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass
from pathlib import Path

from onnx import TensorProto

from onnxsim_ci.errors import ExternalDataError
from onnxsim_ci.model.tensors import stored_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalRange:
    """Where a tensor's raw data lies: file relative to the model's folder, offset and length in bytes."""

    location: str
    offset: int
    length: int


def external_range(tensor: TensorProto) -> ExternalRange:
    """The range that `tensor` names; without a length, what its shape asks for.

    Raises:
        ExternalDataError: No location, or numbers that are none or negative.
    """
    entries = {e.key: e.value for e in tensor.external_data}
    location = entries.get("location", "")
    if not location:
        raise ExternalDataError(f"tensor {tensor.name!r} is stored outside the model but names no file")
    wanted = stored_bytes(tensor.data_type, tensor.dims)
    try:
        offset, length = int(entries.get("offset", "0")), int(entries.get("length", wanted))
    except ValueError as error:
        raise ExternalDataError(
            f"tensor {tensor.name!r} has an external offset or length that is no number"
        ) from error
    if offset < 0 or length < 0:
        raise ExternalDataError(f"tensor {tensor.name!r} has a negative external offset or length")
    if length != wanted:
        raise ExternalDataError(
            f"tensor {tensor.name!r} declares {wanted} bytes by its shape and {length} bytes in {location!r}"
        )
    return ExternalRange(location=location, offset=offset, length=length)


class ExternalFiles:
    """The data files beside one model, opened when first needed."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._maps: dict[str, tuple[Path, mmap.mmap | bytes]] = {}

    def check(self, tensor: TensorProto) -> ExternalRange:
        """The tensor's range, after checking that its file may be read and is long enough.

        Raises:
            ExternalDataError: The file lies outside the folder, is missing, or is too short.
        """
        found = external_range(tensor)
        _, content = self.open(found.location)
        if found.offset + found.length > len(content):
            raise ExternalDataError(
                f"{found.location!r} has {len(content)} bytes, but tensor {tensor.name!r} needs "
                f"{found.length} bytes at {found.offset}"
            )
        return found

    def view(self, tensor: TensorProto) -> memoryview:
        """The tensor's raw data, mapped."""
        found = self.check(tensor)
        _, content = self.open(found.location)
        return memoryview(content)[found.offset : found.offset + found.length]

    def open(self, location: str) -> tuple[Path, mmap.mmap | bytes]:
        """(resolved path, content) of a data file.

        Raises:
            ExternalDataError: It may not be read (see `contained_path`) or is not there.
        """
        known = self._maps.get(location)
        if known is None:
            path = contained_path(self.folder, location)
            with path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                content: mmap.mmap | bytes = b""
                if size:
                    content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            known = self._maps[location] = (path, content)
        return known


def contained_path(folder: Path | None, location: str) -> Path:
    """Resolved path of a data file that lies in the model's folder or below.

    Raises:
        ExternalDataError: No folder is known; the location is absolute, climbs with `..`, leaves the folder
        through a
            link, is a hard link, or is missing.
    """
    if folder is None:
        raise ExternalDataError(
            f"the model stores weights in {location!r}, but it was not given as a file: pass its path"
        )
    parts = Path(location.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts or "\0" in location or Path(location).drive:
        raise ExternalDataError(f"external data {location!r} is not inside the model's folder: refused")
    root = folder.resolve()
    path = root / location
    try:
        resolved = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise ExternalDataError(f"external data {location!r} is missing beside the model") from error
    if not resolved.is_relative_to(root):
        raise ExternalDataError(f"external data {location!r} is a link out of the model's folder: refused")
    status = resolved.stat()
    if not resolved.is_file():
        raise ExternalDataError(f"external data {location!r} is not a file")
    if status.st_nlink > 1:
        raise ExternalDataError(
            f"external data {location!r} has several hard links: refused, copy the file instead"
        )
    return resolved
