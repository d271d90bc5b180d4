"""Git and folders: trees of files, what is tracked, LFS pointers, attributes.

Belongs here: reading what a repository holds, by its objects and without a checkout. Does not: what a file
means (model, policy); nothing here writes to the index or to a branch.

House: vcs, on the ground floor. Standard library and errors only, so that the hook's fast path may use it.
Touch: `Tree` is what policy discovery, `check --all` and the Action read through.
"""

from onnxsim_ci.vcs.attributes import lfs_paths
from onnxsim_ci.vcs.lfs import DamagedPointer, Pointer, mismatch, read_pointer
from onnxsim_ci.vcs.notes import read_note, write_note
from onnxsim_ci.vcs.repository import TrackedFile, common_folder, repository_root, staged_size, tracked_files
from onnxsim_ci.vcs.revision import RevisionTree, TreeEntry
from onnxsim_ci.vcs.tree import ReadingTree, Tree, WorkTree

__all__ = [
    "DamagedPointer",
    "Pointer",
    "ReadingTree",
    "RevisionTree",
    "TrackedFile",
    "Tree",
    "TreeEntry",
    "WorkTree",
    "common_folder",
    "lfs_paths",
    "mismatch",
    "read_note",
    "read_pointer",
    "repository_root",
    "staged_size",
    "tracked_files",
    "write_note",
]
