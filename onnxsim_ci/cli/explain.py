"""`onnxsim-ci explain`: what was rewritten and why, and why a rule did not fire.

House: cli. May import api, errors.
Touch: docs/cli.md (`make docs`).
"""

import json as json_format
import sys
from typing import Annotated

import typer

from onnxsim_ci.cli import options
from onnxsim_ci.errors import shown


def explain(
    model: Annotated[str, typer.Argument(help="A model.", show_default=False)],
    subject: Annotated[
        str | None, typer.Argument(metavar="NODE|RULE", help="Only this node or rule.", show_default=False)
    ] = None,
    policy: options.PolicyFile = None,
    set_: options.Sets = [],
    json: options.Json = False,
) -> None:
    """Show each rewrite of MODEL with its reason; for a NODE or RULE also why nothing happened."""
    from onnxsim_ci.api import explain as explanations

    chosen = options.choice(policy, set_).resolve(model).policy
    found = explanations(model, subject, policy=chosen)
    if json:
        rows = [
            {"rule": item.rule, "node": item.node, "fired": item.fired, "reason": item.reason}
            for item in found
        ]
        sys.stdout.write(json_format.dumps(rows, indent=2, ensure_ascii=False) + "\n")
        return
    for item in found:
        sign = "+" if item.fired else "-"
        sys.stdout.write(f"{sign} {item.rule}  {shown(item.node)}\n    {shown(item.reason)}\n")
    if not found:
        sys.stdout.write("nothing to rewrite\n")
