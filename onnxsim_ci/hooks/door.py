"""The hook from arguments to exit code; whatever was seen before is answered without a heavy import.

House: hooks, fast path. Standard library, errors, cache, vcs; the rest is imported when there is work.
Touch: `onnxsim_ci/__main__.py` calls `run`; tests/hooks/test_fast_path.py holds the imports to this.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from onnxsim_ci import __version__
from onnxsim_ci.cache import OFF_VARIABLE
from onnxsim_ci.errors import ExitCode, OnnxsimCiError, shown, worst
from onnxsim_ci.hooks.arguments import USAGE, Request, parse
from onnxsim_ci.hooks.places import Place, locate
from onnxsim_ci.hooks.said import said_again, say
from onnxsim_ci.hooks.seen import Files, SeenTable, context_of
from onnxsim_ci.vcs.repository import common_folder, repository_root

FOLDER = "onnxsim-ci"
"""Our folder in the repository's git directory."""


def run(arguments: Sequence[str]) -> int:
    """Do what the arguments ask for; nothing but the exit code comes out."""
    try:
        request = parse(arguments)
        if request.wants_help:
            say(USAGE.rstrip())
            return int(ExitCode.FINE)
        if request.mode == "policies":
            from onnxsim_ci.hooks.policies import check_policies

            return int(check_policies(request.files))
        return int(_models(request))
    except KeyboardInterrupt:
        say("interrupted; each model is either as it was or simplified and proven")
        return int(ExitCode.INTERRUPTED)
    except OnnxsimCiError as error:
        say(f"error[{error.code}]: {shown(str(error))}")
        return int(error.exit_code)
    except Exception as error:  # the last place where a fault of ours can be told from bad input
        from onnxsim_ci.report.trouble import print_fault

        print_fault(error)
        return int(ExitCode.INTERNAL)


def _models(request: Request) -> ExitCode:
    if not request.files:
        return ExitCode.FINE
    here = Path.cwd().resolve()
    root = repository_root(here)
    ours = None if root is None else common_folder(root)
    folder = None if ours is None else ours / FOLDER
    top = root or here
    places, refused = locate(request.files, top, is_written=request.mode == "rewrite")
    codes = []
    for refusal in refused:
        say(f"{shown(refusal.named)}: {refusal.reason}")
        codes.append(ExitCode.BAD_INPUT)
    files = Files(top, trusts_stat=not os.environ.get("CI"))
    uses = request.uses_cache
    if not uses:
        os.environ[OFF_VARIABLE] = "1"  # for the children too
    asked = (*request.options, os.path.relpath(here, top))  # paths of options are relative to it
    context = context_of(asked, os.environ, __version__) if uses else ""
    table = SeenTable(folder if uses else None, context)
    new = _unseen(places, table, files, codes)
    if new:
        from onnxsim_ci.hooks.rewriting import Run

        known = {place.path for place in places} - {place.path for place in new}
        codes += Run(request, top, folder, table, files).work(new, known)
    return worst(codes)


def _unseen(places: list[Place], table: SeenTable, files: Files, codes: list[ExitCode]) -> list[Place]:
    """Places without an answer that still holds; the others are said as they were."""
    answers = table.answers((place.path for place in places), files)
    codes += said_again(answers.values())
    return [place for place in places if place.path not in answers]


def main() -> None:
    """The console script's way in, with the arguments after `hook`."""
    sys.exit(run(sys.argv[2:]))
