"""`onnxsim-ci diff`: what two models have in common and what not: figures, operators, interface, verdict.

House: cli. May import api, model, report, policy.
Touch: docs/cli.md (`make docs`); the Markdown and HTML renderers will join `--json` here.
"""

import sys
from typing import Annotated, Any

import typer

from onnxsim_ci.cli import options

_Model = typer.Argument(help="A model.", show_default=False)


def diff(
    a: Annotated[str, _Model],
    b: Annotated[str, _Model],
    policy: options.PolicyFile = None,
    set_: options.Sets = [],
    json: options.Json = False,
    verbose: options.Verbose = False,
    color: options.ColorChoice = options.Color.AUTO,
) -> None:
    """Compare models A and B: nodes, bytes, operators, interface, verdict; exit 1 if they differ."""
    from onnxsim_ci.cli.verify import compared
    from onnxsim_ci.report import build_report, exit_code, render_json

    effective = options.choice(policy, set_).resolve(a).policy
    entry = compared(a, b, effective)
    if json:
        sys.stdout.write(render_json(build_report([entry], policy=effective)))
    else:
        from onnxsim_ci.report.text import page

        console = options.Output(color=color).console()
        console.print(page(entry, is_verbose=verbose))
        for label, text in [*interface_changes(a, b), ("latency", entry.latency_reason)]:
            console.print(f"  {label:<9} {text}", markup=False)
    raise typer.Exit(int(exit_code(entry, command="diff")))


def interface_changes(a: str, b: str) -> list[tuple[str, str]]:
    """(input, output or opset; what changed), in the order of `a`, new ones last."""
    from onnxsim_ci.cli.inspect import interface_facts
    from onnxsim_ci.model import load

    protos = [load(path).proto for path in (a, b)]
    sides = [interface_facts(proto) for proto in protos]
    opsets = [{o.domain or "ai.onnx": str(o.version) for o in proto.opset_import} for proto in protos]
    found = []
    for label in ("inputs", "outputs"):
        old, new = ({value["name"]: _typed(value) for value in side[label]} for side in sides)
        found += [(label.removesuffix("s"), text) for text in _changes(old, new)]
    return [*found, *(("opset", text) for text in _changes(*opsets))]


def _typed(value: dict[str, Any]) -> str:
    shape = value["shape"]
    return f"{value['type']} {'of unknown rank' if shape is None else shape}".replace("'", "")


def _changes(old: dict[str, str], new: dict[str, str]) -> list[str]:
    rows = [(name, old.get(name, "nothing"), new.get(name, "nothing")) for name in {**old, **new}]
    return [f"{name}: {before} -> {after}" for name, before, after in rows if before != after]
