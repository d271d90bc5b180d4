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
        list[str], typer.Option("--stats", metavar="MODEL", help="What each rule does on this model.")
    ] = [],
    json: options.Json = False,
    color: options.ColorChoice = options.Color.AUTO,
) -> None:
    """List the rules, in the order they are tried; with --stats, what each costs and wins."""
    from onnxsim_ci.rewrite import RULES

    tallies = _tallies(stats)
    rows = [
        {
            "id": rule.id,
            "family": rule.family,
            "level": rule.level.value,
            "result": rule.result.value,
            "status": rule.status.value,
            **tallies.pop(rule.id, {}),
        }
        for rule in RULES
    ]
    rows += [{"id": name, **tally} for name, tally in tallies.items()]
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


def _tallies(models: list[str]) -> dict[str, dict[str, int | float]]:
    from onnxsim_ci.api.tallying import tally_rules

    return {
        rule: {
            "tried": tally.tried,
            "fired": tally.fired,
            "milliseconds": round(tally.seconds * 1000, 2),
            "nodes": tally.nodes,
            "bytes": tally.bytes,
        }
        for rule, tally in tally_rules(models).items()
    }
