"""What the answer about a model rests on in `verify.data`: its files, and the folders where more may appear.

House: hooks. May import policy.
Touch: `Verify.data_files` when `verify.data` means something new.
"""

from collections.abc import Iterator
from pathlib import Path, PurePath

from onnxsim_ci.policy import Verify


def watched(verify: Verify, folder: Path) -> Iterator[Path]:
    """Files and folders that decide which inputs a proof takes.

    Args:
        verify: As it holds for one model.
        folder: Of the model.
    """
    if not verify.data:
        return
    for found in verify.data_files(folder):
        yield found
        if found.is_dir():
            yield from found.rglob("*")
    level = [verify.base(folder)]
    for part in PurePath(verify.data).parts:
        yield from level
        level = [inner for outer in level for inner in outer.glob(part) if inner.is_dir()]
