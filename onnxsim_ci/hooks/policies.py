"""The policy hook: every mistake of the policy files that were handed over.

House: hooks. May import policy.
Touch: cli/policy.py does the same for people.
"""

from collections.abc import Sequence
from pathlib import Path

from onnxsim_ci.errors import BadPolicy, ExitCode, shown
from onnxsim_ci.hooks.said import say
from onnxsim_ci.policy.checking import check_policy_file


def check_policies(names: Sequence[str]) -> ExitCode:
    """Say each mistake and each warning once; BAD_INPUT if there is a mistake."""
    found = [check_policy_file(Path(name)) for name in names]
    problems = dict.fromkeys(problem for findings in found for problem in findings.problems)
    for problem in problems:
        say(shown(f"error[{BadPolicy.code}]: {problem}"))
    for warning in dict.fromkeys(warning for findings in found for warning in findings.warnings):
        say(shown(f"warning: {warning}"))
    return ExitCode.BAD_INPUT if problems else ExitCode.FINE
