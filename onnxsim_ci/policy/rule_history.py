"""Which version brought which rule, so that `check --since` can tell what an upgrade changes.

House: policy. May import rewrite (its catalogue).
Touch: a rule after the first release has a line here; tests/cli/test_check_all.py holds the list to it.
"""

FIRST_RELEASE = "0.1.0"

INTRODUCED: dict[str, str] = {}
"""Rule id -> version that brought it; every other rule is as old as the first release."""


def rules_of(version: str) -> list[str]:
    """Ids of the rules that `version` had, folding and merging among them, sorted.

    Raises:
        ValueError: It is no version.
    """
    from packaging.version import InvalidVersion, Version

    from onnxsim_ci.rewrite import FOLD, MERGE_CONSTANTS, MERGE_NODES, RULES

    try:
        asked = Version(version)
    except InvalidVersion:
        raise ValueError(f"{version!r} is no version such as {FIRST_RELEASE}") from None
    ids = [FOLD, MERGE_CONSTANTS, MERGE_NODES, *(rule.id for rule in RULES)]
    return sorted(name for name in ids if Version(INTRODUCED.get(name, FIRST_RELEASE)) <= asked)
