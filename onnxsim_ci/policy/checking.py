"""One policy file, checked by itself: its mistakes, and what in it never applies.

House: policy. May import policy.layers, loading, unused; vcs.
Touch: cli/policy.py and hooks/policies.py print what this finds.
"""

from pathlib import Path

from onnxsim_ci.policy.layers import resolve
from onnxsim_ci.policy.loading import read_policy
from onnxsim_ci.policy.unused import unused_overrides
from onnxsim_ci.vcs import WorkTree


def check_policy_file(file: Path, root: Path | None = None) -> list[str]:
    """Warnings about the policy in `file`; none for a pyproject.toml without our table.

    Args:
        file: A policy file.
        root: Folder that it must lie in; links out of it are not followed. None for its own.

    Raises:
        BadPolicy: With every mistake in the file and those it extends.
    """
    place = file.absolute()
    base = root if root is not None and place.is_relative_to(root) else place.parent
    tree, path = WorkTree(base.resolve()), place.relative_to(base).as_posix()
    if file.name == "pyproject.toml" and file.is_file() and read_policy(tree, path) is None:
        return []
    return unused_overrides(resolve(place.parent / "model.onnx", file=file))
