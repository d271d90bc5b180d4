"""`onnxsim-ci rule`: one rule's page.

House: cli. May import rewrite (its catalogue).
Touch: tools/docs.py writes the same page to docs/rules.
"""

import difflib
import sys
from typing import Annotated

import typer

from onnxsim_ci.errors import BadInput


def rule(name: Annotated[str, typer.Argument(help="Id of a rule.", show_default=False)]) -> None:
    """Show what one rule does, when it may fire, and why outputs stay equal."""
    from onnxsim_ci.rewrite import RULES

    by_id = {entry.id: entry for entry in RULES}
    if name not in by_id:
        near = difflib.get_close_matches(name, by_id, 1, 0.4)
        hint = f"did you mean {near[0]!r}?" if near else "`onnxsim-ci rules` lists them"
        raise BadInput(f"there is no rule {name!r}", hint=hint)
    found = by_id[name]
    page = sys.modules[found.propose.__module__].__doc__ or ""
    head = page.partition("\nHouse:")[0].strip()
    sys.stdout.write(
        f"{found.id}\n\n{head}\n\n"
        f"family   {found.family}\n"
        f"roots    {', '.join(found.roots)}\n"
        f"result   {found.result.value}\n"
        f"level    {found.level.value}\n"
        f"status   {found.status.value}\n"
        f"lowers   {found.lowers.value}\n"
        f"opset    from {found.since_opset}"
        + (f" to {found.until_opset}\n" if found.until_opset < 1000 else "\n")
    )
