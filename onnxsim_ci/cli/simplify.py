"""`onnxsim-ci simplify`: simplify models, prove each result, write it where the user said.

House: cli. May import fleet, report, policy.
Touch: cli/flags.py for onnxsim's flags; README.md; docs/cli.md (`make docs`).
"""

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from onnxsim_ci.cli import onnxsim_options as same
from onnxsim_ci.cli import options
from onnxsim_ci.errors import BadInput, ExitCode, NotAvailable

if TYPE_CHECKING:
    from onnxsim_ci.cli.many import Finished, Job
    from onnxsim_ci.report import ModelReport, Report

_Sources = Annotated[
    list[str],
    typer.Argument(metavar="SRC...", help="Models or folders; - is standard input.", show_default=False),
]
_Output = Annotated[
    str | None, typer.Option("-o", "--output", help="File or folder to write to; - is stdout.")
]
_InPlace = Annotated[bool, typer.Option("--in-place", help="Write each result over its source.")]
_SaveRepro = Annotated[Path | None, typer.Option("--save-repro", help="Folder for what shows a mismatch.")]
_WritePolicy = Annotated[
    bool, typer.Option("--write-policy", help="Append rules that were left out to the policy.")
]
_Measure = Annotated[bool, typer.Option("--measure", help="Time source and result.")]
_RequireContent = Annotated[bool, typer.Option("--require-content", help="A git-LFS pointer is an error.")]


def simplify(
    sources: _Sources,
    output: _Output = None,
    in_place: _InPlace = False,
    save_repro: _SaveRepro = None,
    write_policy: _WritePolicy = False,
    measure: _Measure = False,
    require_content: _RequireContent = False,
    overwrite_input_shape: same.OverwriteInputShape = [],
    test_input_shape: same.TestInputShape = [],
    skip_optimization: same.SkipOptimization = [],
    enable_optimization: same.EnableOptimization = [],
    skip_fuse_bn: same.SkipFuseBn = False,
    skip_constant_folding: same.SkipConstantFolding = False,
    skip_shape_inference: same.SkipShapeInference = False,
    tensor_size_threshold: same.TensorSizeThreshold = None,
    unused_output: same.UnusedOutput = [],
    mutable_initializer: same.MutableInitializer = False,
    include_subgraph: same.IncludeSubgraph = False,
    check_rtol: same.CheckRtol = None,
    check_atol: same.CheckAtol = None,
    inline_functions: same.InlineFunctions = False,
    target_opset: same.TargetOpset = None,
    keep_io_names: same.KeepIoNames = True,
    input_data_path: same.InputDataPath = [],
    custom_lib: same.CustomLib = None,
    save_as_external_data: same.SaveAsExternalData = False,
    policy: options.PolicyFile = None,
    set_: options.Sets = [],
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    jobs: options.Jobs = None,
    no_cache: options.NoCache = False,
    color: options.ColorChoice = options.Color.AUTO,
) -> None:
    """Simplify models, prove that each result computes the same, and write it.

    Two paths of which the second does not exist mean IN OUT, as in onnxsim; a third, a number, is CHECK_N.
    Without -o and --in-place nothing is written.
    """
    from onnxsim_ci.cli.flags import OnnxsimFlags
    from onnxsim_ci.cli.many import Job

    _refuse_unbuilt(
        {
            "--measure": measure,
            "--input-data-path": bool(input_data_path),
            "--custom-lib": custom_lib is not None,
            "--save-as-external-data": save_as_external_data,
        }
    )
    request = read_request(sources, output, is_in_place=in_place)
    flags = OnnxsimFlags(
        overwrite_input_shape=tuple(overwrite_input_shape),
        test_input_shape=tuple(test_input_shape),
        skip_optimization=tuple(skip_optimization),
        enable_optimization=tuple(enable_optimization),
        skip_fuse_bn=skip_fuse_bn,
        skip_constant_folding=skip_constant_folding,
        tensor_size_threshold=tensor_size_threshold,
        unused_output=tuple(unused_output),
        mutable_initializer=mutable_initializer,
        include_subgraph=include_subgraph,
        check_rtol=check_rtol,
        check_atol=check_atol,
        inline_functions=inline_functions,
        target_opset=target_opset,
        check_n=request.check_n,
    )
    options.use_cache(is_off=no_cache)
    job = Job(
        command="simplify",
        choice=options.choice(policy, set_, flags.settings()),
        output=options.Output(is_json=json, is_quiet=quiet, is_verbose=verbose, color=color),
        jobs=jobs,
        requires_content=require_content,
        save_repro=save_repro,
    )
    finished = _run(job, request)
    if write_policy:
        from onnxsim_ci.cli.refusals import append_refusals

        append_refusals(finished)
    raise typer.Exit(int(finished.code))


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the positional arguments mean.

    Attributes:
        names: Models or folders.
        output: File, folder, `-`, or None.
        is_in_place: Each result goes over its source.
        check_n: onnxsim's third argument; 0 for none.
        is_compared: `output` exists and was not named by -o: it must already hold the result's bytes.
    """

    names: tuple[str, ...]
    output: str | None
    is_in_place: bool
    check_n: int = 0
    is_compared: bool = False


def read_request(words: list[str], output: str | None, *, is_in_place: bool) -> Request:
    """The request behind the positional arguments, with onnxsim's `IN OUT [CHECK_N]`.

    Raises:
        BadInput: -o and --in-place together, or standard input in place.
    """
    if output is not None and is_in_place:
        raise BadInput("-o and --in-place exclude each other")
    if is_in_place and "-" in words:
        raise BadInput("standard input cannot be written in place", hint="use -o")
    check_n = 0
    names = list(words)
    if len(names) > 2 and names[-1].isdigit() and not Path(names[-1]).exists():
        check_n = int(names.pop())
    is_pair = len(names) == 2 and output is None and not is_in_place and not Path(names[0]).is_dir()
    if is_pair and names[1] == "-":
        return Request(names=(names[0],), output="-", is_in_place=False, check_n=check_n)
    if is_pair and not Path(names[1]).is_dir():
        exists = Path(names[1]).exists()
        return Request(
            names=(names[0],), output=names[1], is_in_place=False, check_n=check_n, is_compared=exists
        )
    return Request(names=tuple(names), output=output, is_in_place=is_in_place, check_n=check_n)


def _run(job: "Job", request: Request) -> "Finished":
    from onnxsim_ci.cli.many import print_report, run_models
    from onnxsim_ci.cli.sources import destinations, find_sources

    sources = find_sources(request.names, job.choice.resolve)
    if request.is_compared or request.output == "-":
        return _run_aside(job, request)
    outputs = destinations(sources, request.output, is_in_place=request.is_in_place)
    finished = run_models(job, sources, outputs)
    print_report(finished.report, job.output)
    simplified = any(entry.outcome == "simplified" for entry in finished.report.models)
    if request.output is None and not request.is_in_place and simplified and not job.output.is_quiet:
        sys.stderr.write("not written: add -o or --in-place\n")
    _suggest_overrides(finished, job)
    return finished


def _run_aside(job: "Job", request: Request) -> "Finished":
    """Write to a temporary file first: for stdout, or to compare with a file that exists."""
    from onnxsim_ci.cli.many import print_report, run_models
    from onnxsim_ci.cli.sources import find_sources

    sources = find_sources(request.names, job.choice.resolve)
    if len(sources) != 1:
        raise BadInput(f"{len(sources)} models cannot go into one file", where=str(request.output))
    with tempfile.TemporaryDirectory(prefix="onnxsim-ci-") as folder:
        aside = Path(folder) / "result.onnx"
        finished = run_models(job, sources, [aside])
        to_stdout = request.output == "-"
        if not to_stdout and aside.exists() and aside.read_bytes() != Path(str(request.output)).read_bytes():
            raise BadInput(
                f"{request.output} exists and is not what would be written",
                hint=f"pass -o {request.output} to overwrite, or --in-place to simplify both",
            )
        print_report(_named(finished.report, str(request.output)), job.output, is_stderr=to_stdout)
        if to_stdout and aside.exists():
            sys.stdout.buffer.write(aside.read_bytes())
            sys.stdout.buffer.flush()
    return finished


def _named(report: "Report", output: str) -> "Report":
    """The report with the place that the user named instead of the temporary one."""
    models = tuple(
        entry.model_copy(update={"written": output if entry.written else None}) for entry in report.models
    )
    return report.model_copy(update={"models": models})


def _suggest_overrides(finished: "Finished", job: "Job") -> None:
    """Policy lines that keep a second run as it is, where rules were left out."""
    refused: list[ModelReport] = [entry for entry in finished.report.models if entry.refusals]
    if (
        refused
        and not job.output.is_quiet
        and not job.output.is_json
        and finished.code is not ExitCode.BAD_INPUT
    ):
        from onnxsim_ci.cli.refusals import override_text

        sys.stderr.write("to keep these rules out, commit (or pass --write-policy):\n")
        for entry in refused:
            sys.stderr.write(override_text(entry.path, entry, prefix=""))


_INSTEAD = {
    "--measure": "the figures of `onnxsim-ci diff A B` are exact and need no run",
    "--input-data-path": "save the inputs by name with numpy.savez and pass --set verify.data=FILE.npz",
    "--custom-lib": "custom operators are kept as they are, and the parts that can run are compared",
    "--save-as-external-data": "a model that has external data keeps it; `onnx.save` moves weights out",
}


def _refuse_unbuilt(flags: dict[str, bool]) -> None:
    for name in (name for name, is_asked in flags.items() if is_asked):
        raise NotAvailable(f"{name} is not available in this version", hint=_INSTEAD[name])
