"""What a session is made from: a serialized model and the folder of its external data.

House: runtime; standard library only.
Touch: session.py and evaluation.py read it; equivalence makes throw-away copies of it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelImage:
    """A model ready to be run, with its weights inside or left in files."""

    data: bytes
    """Serialized ModelProto. Tensors may be external; a light proto may name its own file for them."""
    folder: str | None = None
    """Folder that external locations are relative to; containment was checked by whoever made the image."""
    custom_libraries: tuple[str, ...] = ()
    """Custom-operator libraries that the caller named; never taken from a model."""

    def with_data(self, data: bytes) -> ModelImage:
        """The same folder and libraries around another serialized model."""
        return ModelImage(data=data, folder=self.folder, custom_libraries=self.custom_libraries)
