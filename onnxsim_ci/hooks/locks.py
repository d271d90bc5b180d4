"""One lock a file, so that two hook processes never write the same model, or share a data file while they do.

Managers start a second process for very long command lines, and people start hooks by hand; what one process
knows the other does not, so the locks are files in the repository's git directory.

House: hooks. Standard library.
Touch: nothing else.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: the atomic rename still keeps each model whole
    fcntl = None  # type: ignore[assignment]  # tested where it is used


@contextmanager
def locked(folder: Path | None, files: Iterable[Path]) -> Iterator[None]:
    """Hold the locks of all `files`; taken in one order everywhere, so that nobody waits in a circle."""
    with ExitStack() as held:
        if folder is not None and fcntl is not None:
            for name in sorted({hashlib.sha256(os.fsencode(file)).hexdigest()[:32] for file in files}):
                held.enter_context(_one(folder / name))
        yield


@contextmanager
def _one(place: Path) -> Iterator[None]:
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
