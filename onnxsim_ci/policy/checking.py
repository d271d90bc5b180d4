"""One policy file, checked by itself: its mistakes, and what in it never applies.

House: policy. May import policy.loading, unused, settings; vcs.
Touch: cli/policy.py and hooks/policies.py print what this finds.
"""

from dataclasses import dataclass
from pathlib import Path

from onnxsim_ci.errors import BadPolicy
from onnxsim_ci.policy.loading import gather, read_policy
from onnxsim_ci.policy.unused import idle_names, unused_overrides
from onnxsim_ci.vcs import WorkTree, repository_root


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What is to be said about a policy file, each with its place.

    Attributes:
        problems: Mistakes; with any, no model under this policy is touched.
        warnings: What has no effect.
    """

    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def check_policy_file(file: Path) -> Findings:
    """All that is wrong with the policy in `file` and those it extends; nothing is raised.

    Places are relative to the top of the repository. A pyproject.toml without our table has no findings.
    """
    place = file.parent.resolve() / file.name
    root = repository_root(place.parent) or place.parent
    tree, path = WorkTree(root), place.relative_to(root).as_posix()
    try:
        first = read_policy(tree, path)
    except BadPolicy as mistake:
        return Findings(problems=(str(mistake),))
    if first is None:
        is_other = place.name == "pyproject.toml" and place.is_file()
        return Findings() if is_other else Findings(problems=(f"{file}: there is no such policy file",))
    warnings = (*idle_names(first), *unused_overrides(first, root / first.folder))
    return Findings(problems=gather(tree, first).problems, warnings=warnings)
