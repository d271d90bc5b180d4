"""`onnxsim-ci check`: fail if simplify would write other bytes, or a budget fails; write nothing.

House: cli. May import fleet, report, policy.
Touch: docs/cli.md (`make docs`).
"""

from pathlib import Path
from typing import Annotated

import typer

from onnxsim_ci.cli import options
from onnxsim_ci.errors import BadInput, NotAvailable


def check(
    sources: Annotated[
        list[str] | None, typer.Argument(metavar="SRC...", help="Models or folders.", show_default=False)
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="All models of the repository, by the policy.")] = False,
    since: Annotated[str | None, typer.Option("--since", help="Only rules up to this version.")] = None,
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
    from onnxsim_ci.cli.sources import find_sources

    if since is not None:
        raise NotAvailable("--since is not available in this version")
    options.use_cache(is_off=no_cache)
    job = Job(
        command="check",
        choice=options.choice(policy, set_),
        output=options.Output(is_json=json, is_quiet=quiet, is_verbose=verbose, color=color),
        jobs=jobs,
        requires_content=require_content,
        save_repro=save_repro,
    )
    found = find_sources(_names(sources or [], is_all=all_), job.choice.resolve)
    finished = run_models(job, found, [None] * len(found))
    print_report(finished.report, job.output)
    raise typer.Exit(int(finished.code))


def _names(sources: list[str], *, is_all: bool) -> list[str]:
    from onnxsim_ci.vcs import repository_root

    if is_all and sources:
        raise BadInput("--all and SRC exclude each other")
    if is_all:
        root = repository_root(Path.cwd())
        if root is None:
            raise BadInput(
                "--all needs a git repository around the current folder", hint="name a folder instead"
            )
        return [str(root.relative_to(Path.cwd())) if root == Path.cwd() else str(root)]
    if not sources:
        raise BadInput("no model was named", hint="name files or folders, or pass --all")
    return sources
