"""Overrides that match no file: warnings of `policy check`.

House: policy. May import policy.layers, loading; vcs.
Touch: tests/policy/test_unused.py.
"""

from onnxsim_ci.policy.layers import Resolved, matches
from onnxsim_ci.policy.loading import read_policy
from onnxsim_ci.vcs import WorkTree


def unused_overrides(resolved: Resolved) -> list[str]:
    """One sentence for each override of the last policy file that matches no file below its folder."""
    if resolved.folder is None:
        return []
    tree = WorkTree(resolved.folder)
    file = read_policy(tree, resolved.files[-1].rpartition("/")[2])
    if file is None:
        return []
    paths = list(tree.list())
    return [
        f"{file.place(('overrides', index, 'files'))}: overrides.{index}.files matches no file"
        for index, override in enumerate(file.tables.get("overrides", ()))
        if not any(matches(override["files"], "", path) for path in paths)
    ]
