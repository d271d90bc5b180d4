"""The policy hook: every mistake of the policy files that were handed over.

House: hooks. May import policy, vcs.
Touch: cli/policy.py does the same for people.
"""

from collections.abc import Sequence
from pathlib import Path

from onnxsim_ci.errors import BadPolicy, ExitCode
from onnxsim_ci.hooks.said import say, shown
from onnxsim_ci.policy.checking import check_policy_file
from onnxsim_ci.vcs import repository_root


def check_policies(names: Sequence[str]) -> ExitCode:
    """Say each mistake and each warning once; BAD_INPUT if there is a mistake."""
    here = Path.cwd().resolve()
    root = repository_root(here) or here
    lines: dict[str, None] = {}
    code = ExitCode.FINE
    for name in names:
        try:
            warnings = check_policy_file(Path(name), root)
        except BadPolicy as mistake:
            lines.update((f"error[{mistake.code}]: {line}", None) for line in str(mistake).splitlines())
            code = ExitCode.BAD_INPUT
            continue
        lines.update((f"warning: {line}", None) for line in warnings)
    for line in lines:
        say(shown(line))
    return code
