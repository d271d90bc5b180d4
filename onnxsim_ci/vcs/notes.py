"""A git note on the blob of a file: kept beside the history, so that no file is added to a commit.

House: vcs. Standard library, errors.
Touch: `REF` is what people fetch and push: `git push origin refs/notes/onnxsim-ci`.
"""

import time
from pathlib import Path

from onnxsim_ci.errors import GitFailed
from onnxsim_ci.vcs.git import git

REF = "onnxsim-ci"
_TRIES = 20
_WAIT = 0.05


def write_note(root: Path, path: str, text: str) -> None:
    """Put `text` on the blob that `git add` would make of the file; the index is not touched.

    Raises:
        GitFailed: There is no git, or another process keeps the notes locked.
    """
    blob = git(root, "hash-object", "-w", "--", path).decode("ascii").strip()
    for left in range(_TRIES, 0, -1):  # another child may be writing its note
        try:
            git(root, "notes", f"--ref={REF}", "add", "--force", "--file=-", blob, stdin=text.encode())
        except GitFailed:
            if left == 1:
                raise
            time.sleep(_WAIT)
        else:
            return


def read_note(root: Path, path: str) -> str | None:
    """The note on the content of the file; None if there is none."""
    try:
        blob = git(root, "hash-object", "--", path).decode("ascii").strip()
        return git(root, "notes", f"--ref={REF}", "show", blob).decode(errors="replace")
    except GitFailed:
        return None
