"""`onnxsim-ci policy`: the policy of a model with its origins, its mistakes, its schema, a start.

House: cli. May import policy, model (for presets).
Touch: docs/cli.md (`make docs`).
"""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from onnxsim_ci.cli import options
from onnxsim_ci.errors import BadInput, BadPolicy, OnnxsimCiError, shown

app = typer.Typer(help="Show, check or start a policy.", no_args_is_help=True)


@app.command()
def show(
    model: Annotated[str, typer.Argument(help="A model or folder.", show_default=False)] = ".",
    policy: options.PolicyFile = None,
    set_: options.Sets = [],
) -> None:
    """Print the effective policy of MODEL; each value with where it comes from."""
    from onnxsim_ci.policy import choose_preset
    from onnxsim_ci.policy.toml_text import shown as as_toml

    path = Path(model)
    resolved = options.choice(policy, set_).resolve(str(path / "model.onnx") if path.is_dir() else model)
    settled, reason = resolved.policy, ""
    if path.is_file():
        weights, is_dynamic = _facts(path)
        settled = settled.settled(live_weight_bytes=weights, has_dynamic_inputs=is_dynamic)
        if resolved.policy.preset == "auto":
            _, reason = choose_preset(live_weight_bytes=weights, has_dynamic_inputs=is_dynamic)
    sys.stdout.write(as_toml(resolved, settled, reason))


@app.command()
def check(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Policy files, models or folders.", show_default=False)
    ] = None,
) -> None:
    """Report every mistake of the policy files; exit 2 if there is any."""
    from onnxsim_ci.policy import environment_problems, policy_file_of
    from onnxsim_ci.policy.checking import check_policy_file

    files = [path if path.suffix == ".toml" else policy_file_of(path) for path in paths or [Path()]]
    found = [check_policy_file(file) for file in files if file is not None]
    for warning in dict.fromkeys(warning for findings in found for warning in findings.warnings):
        sys.stderr.write(f"warning: {shown(warning)}\n")
    told = [problem for findings in found for problem in findings.problems]
    problems = tuple(dict.fromkeys([*told, *environment_problems(os.environ)]))
    if problems:
        raise BadPolicy(f"{len(problems)} mistakes", problems=problems)


@app.command()
def schema() -> None:
    """Print the JSON schema of a policy file."""
    from onnxsim_ci.policy.schema import policy_schema_text

    sys.stdout.write(policy_schema_text())


@app.command()
def init(
    folder: Annotated[
        Path, typer.Argument(help="Where to write onnxsim-ci.toml.", show_default=False)
    ] = Path(),
) -> None:
    """Write a commented onnxsim-ci.toml that fits the models found here."""
    from onnxsim_ci.cli.sources import find_sources
    from onnxsim_ci.policy import FILE_NAMES, resolve
    from onnxsim_ci.policy.presets import LARGE_BYTES
    from onnxsim_ci.policy.schema import policy_schema_text
    from onnxsim_ci.policy.toml_text import SCHEMA_PLACE, commented_start

    target = folder / FILE_NAMES[0]
    if target.exists():
        raise BadInput("there is a policy already", where=str(target))
    dynamic: dict[str, tuple[str, ...]] = {}
    large = []
    try:
        sources = find_sources([str(folder)], resolve)
    except BadInput:
        sources = []
    for source in sources:
        path = Path(source.path)
        try:
            dynamic.update(_free_dimensions(path))
            if path.stat().st_size > LARGE_BYTES:
                large.append(source.relative.as_posix())
        except OnnxsimCiError as error:
            sys.stderr.write(f"warning: {error}\n")
    place = folder / SCHEMA_PLACE
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(policy_schema_text(), encoding="utf-8")
    target.write_text(commented_start(dynamic, large_models=tuple(large)), encoding="utf-8")
    sys.stdout.write(f"wrote {target} for {len(sources)} models, and {place} for editors\n")


def _facts(path: Path) -> tuple[int, bool]:
    """Bytes of the model with its weights, and whether an input has a free dimension."""
    from onnxsim_ci.model import load, statistics_of

    loaded = load(path)
    size = statistics_of(loaded.proto, loaded.size).total_bytes
    return size, bool(_free_dimensions(path))


def _free_dimensions(path: Path) -> dict[str, tuple[str, ...]]:
    """Names of free dimensions by input; unnamed ones are left out unless there is nothing else."""
    from onnxsim_ci.model import load

    graph = load(path).proto.graph
    weights = {tensor.name for tensor in graph.initializer}
    found = {}
    for value in graph.input:
        sizes = value.type.tensor_type.shape.dim
        free = tuple(size.dim_param or "?" for size in sizes if not size.HasField("dim_value"))
        if free and value.name not in weights:
            found[value.name] = free
    return found
