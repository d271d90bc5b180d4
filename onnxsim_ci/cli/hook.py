"""`onnxsim-ci hook`: its place in the help; the console script goes to `onnxsim_ci.hooks` before this loads.

House: cli. May import hooks.
Touch: hooks/arguments.py, whose options these are.
"""

from typing import Annotated

import typer


def hook(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE...", help="Models.", show_default=False)
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing.")] = False,
    check_policies: Annotated[
        bool, typer.Option("--check-policies", help="FILE are policy files: report every mistake.")
    ] = False,
    policy: Annotated[
        str | None, typer.Option("--policy", help="Policy file of the repository, instead of searching.")
    ] = None,
    set_: Annotated[
        list[str], typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Set one value of the policy.")
    ] = [],
    jobs: Annotated[int | None, typer.Option("--jobs", min=1, help="Models at a time.")] = None,
    require_content: Annotated[
        bool, typer.Option("--require-content", help="A git-LFS pointer is an error.")
    ] = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Neither use nor keep what earlier runs found out.")
    ] = False,
) -> None:
    """What the pre-commit hooks call: simplify FILE in place, prove it, exit 1 if anything was written."""
    from onnxsim_ci.hooks.door import run

    words = [name for name, is_on in _switches(check, check_policies, require_content, no_cache) if is_on]
    words += [f"--policy={policy}"] if policy is not None else []
    words += [f"--set={text}" for text in set_]
    words += [f"--jobs={jobs}"] if jobs is not None else []
    raise typer.Exit(run([*words, "--", *(files or [])]))


def _switches(
    check: bool, check_policies: bool, require_content: bool, no_cache: bool
) -> tuple[tuple[str, bool], ...]:
    return (
        ("--check", check),
        ("--check-policies", check_policies),
        ("--require-content", require_content),
        ("--no-cache", no_cache),
    )
