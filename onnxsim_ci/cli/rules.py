"""`onnxsim-ci rules`: the catalogue of rewrites.

House: cli. May import rewrite (its catalogue), api for --stats.
Touch: docs/cli.md (`make docs`).
"""

import json as json_format
import sys
from typing import Annotated

import typer

from onnxsim_ci.cli import options


def rules(
    stats: Annotated[
        list[str], typer.Option("--stats", metavar="MODEL", help="How often each rule fires on this model.")
    ] = [],
    json: options.Json = False,
    color: options.ColorChoice = options.Color.AUTO,
) -> None:
    """List the rules, in the order they are tried; with --stats, how often each fires."""
    from onnxsim_ci.rewrite import RULES

    counts = _counts(stats) if stats else None
    rows = [
        {
            "id": rule.id,
            "family": rule.family,
            "level": rule.level.value,
            "result": rule.result.value,
            "status": rule.status.value,
            **({} if counts is None else {"fired": counts.pop(rule.id, 0)}),
        }
        for rule in RULES
    ]
    rows += [{"id": name, "fired": count} for name, count in (counts or {}).items()]
    if json:
        sys.stdout.write(json_format.dumps(rows, indent=2) + "\n")
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in rows[0]:
        table.add_column(str(name))
    for row in rows:
        table.add_row(*(str(row.get(name, "")) for name in rows[0]))
    options.Output(color=color).console().print(table)


def _counts(models: list[str]) -> dict[str, int]:
    from onnxsim_ci.api import optimize
    from onnxsim_ci.policy import Policy

    counts: dict[str, int] = {}
    for model in models:
        journal = optimize(model, policy=Policy.model_validate({"verify": {"mode": "off"}})).journal
        for rule, count in journal.counts().items():
            counts[rule] = counts.get(rule, 0) + count
    return counts
