"""`onnxsim-ci verify`: whether two models compute the same, with the evidence.

House: cli. May import api, report, policy, model.
Touch: docs/cli.md (`make docs`).
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from onnxsim_ci.cli import onnxsim_options as same
from onnxsim_ci.cli import options

if TYPE_CHECKING:
    from onnxsim_ci.policy import Policy, Setting
    from onnxsim_ci.report import ModelReport

_Model = typer.Argument(help="A model.", show_default=False)


def verify(
    a: Annotated[str, _Model],
    b: Annotated[str, _Model],
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Seed of the inputs.")] = None,
    samples: Annotated[int | None, typer.Option("--samples", min=1, help="Most input samples.")] = None,
    save_repro: Annotated[
        Path | None, typer.Option("--save-repro", help="Folder for what shows a mismatch.")
    ] = None,
    test_input_shape: same.TestInputShape = [],
    check_rtol: same.CheckRtol = None,
    check_atol: same.CheckAtol = None,
    policy: options.PolicyFile = None,
    set_: options.Sets = [],
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.ColorChoice = options.Color.AUTO,
) -> None:
    """Compare what models A and B compute: exit 0 if equivalent, 1 if they differ, 3 if it cannot be told."""
    from onnxsim_ci.cli.flags import OnnxsimFlags
    from onnxsim_ci.cli.many import print_report
    from onnxsim_ci.report import build_report, exit_code

    flags = OnnxsimFlags(
        test_input_shape=tuple(test_input_shape), check_rtol=check_rtol, check_atol=check_atol
    )
    chosen = options.choice(policy, set_, (*flags.settings(), *_numbers(seed, samples)))
    effective = chosen.resolve(a).policy
    entry = compared(a, b, effective, save_repro)
    output = options.Output(is_json=json, is_quiet=quiet, is_verbose=verbose, color=color)
    print_report(build_report([entry], policy=effective), output)
    raise typer.Exit(int(exit_code(entry, command="verify")))


def compared(a: str, b: str, policy: "Policy", save_repro: Path | None = None) -> "ModelReport":
    """The entry of a pair of models: figures of both, and the verdict.

    Raises:
        BadInput: One of them cannot be used.
    """
    from onnxsim_ci.api import verify as compare
    from onnxsim_ci.model import load, statistics_of
    from onnxsim_ci.report import ModelReport, figures, verdict_report

    more: dict[str, Any] = {} if save_repro is None else {"save_repro": save_repro}
    sides = [load(path) for path in (a, b)]
    source, result = (figures(statistics_of(side.proto, side.size)) for side in sides)
    return ModelReport(
        path=a,
        relation="pair",
        outcome="compared",
        compared_with=b,
        source=source,
        result=result,
        verdict=verdict_report(compare(a, b, policy=policy, **more)),
    )


def _numbers(seed: int | None, samples: int | None) -> "tuple[Setting, ...]":
    from onnxsim_ci.policy import Setting

    given = {"seed": seed, "samples": samples}
    return tuple(
        Setting(path=("verify", key), value=value, origin=f"flag --{key}")
        for key, value in given.items()
        if value is not None
    )
