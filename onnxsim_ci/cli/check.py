"""`onnxsim-ci check`: fail if simplify would write other bytes, or a budget fails; write nothing.

House: cli. May import fleet, report, policy.
Touch: docs/cli.md (`make docs`).
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from onnxsim_ci.cli import options
from onnxsim_ci.errors import BadInput

if TYPE_CHECKING:
    from onnxsim_ci.cli.sources import Resolve, Source
    from onnxsim_ci.policy import Setting


def check(
    sources: Annotated[
        list[str] | None, typer.Argument(metavar="SRC...", help="Models or folders.", show_default=False)
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="All models that git tracks, by the policy.")] = False,
    since: Annotated[
        str | None, typer.Option("--since", help="Only rules that are newer than this version.")
    ] = None,
    require_content: Annotated[
        bool, typer.Option("--require-content", help="A git-LFS pointer is an error.")
    ] = False,
    save_repro: Annotated[
        Path | None, typer.Option("--save-repro", help="Folder for what shows a mismatch.")
    ] = None,
    policy: options.PolicyFile = None,
    set_: options.Sets = [],
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    jobs: options.Jobs = None,
    no_cache: options.NoCache = False,
    color: options.ColorChoice = options.Color.AUTO,
) -> None:
    """Fail if a model would be simplified, or is over its budget; write nothing."""
    from onnxsim_ci.cli.many import Job, print_report, run_models

    options.use_cache(is_off=no_cache)
    job = Job(
        command="check",
        choice=options.choice(policy, set_, _since(since)),
        output=options.Output(is_json=json, is_quiet=quiet, is_verbose=verbose, is_grouped=True, color=color),
        jobs=jobs,
        requires_content=require_content,
        save_repro=save_repro,
    )
    found = _found(sources or [], job.choice.resolve, is_all=all_)
    finished = run_models(job, found, [None] * len(found))
    print_report(finished.report, job.output)
    raise typer.Exit(int(finished.code))


def _found(sources: list[str], resolve: "Resolve", *, is_all: bool) -> "list[Source]":
    from onnxsim_ci.cli.sources import find_sources
    from onnxsim_ci.cli.tracked import find_tracked

    if is_all and sources:
        raise BadInput("--all and SRC exclude each other")
    if not is_all and not sources:
        raise BadInput("no model was named", hint="name files or folders, or pass --all")
    return find_tracked(resolve) if is_all else find_sources(sources, resolve)


def _since(version: str | None) -> "tuple[Setting, ...]":
    """Settings that leave out every rule which `version` had already."""
    from onnxsim_ci.policy import Setting
    from onnxsim_ci.policy.rule_history import rules_of

    if version is None:
        return ()
    try:
        old = rules_of(version)
    except ValueError as error:
        raise BadInput(f"--since: {error}") from None
    return (Setting(path=("simplify", "skip"), value=old, origin="flag --since", adds=True),)
