"""`onnxsim-ci inspect`: what a model is: interface, opsets, operators, weights, dimensions.

House: cli. May import model, report, vcs.
Touch: docs/cli.md (`make docs`).
"""

import json as json_format
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from onnxsim_ci.cli import options
from onnxsim_ci.errors import NotAvailable

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto


def inspect(
    model: Annotated[str, typer.Argument(help="A model; - is standard input.", show_default=False)],
    shapes: Annotated[bool, typer.Option("--shapes", help="Shapes of inner values too.")] = False,
    target: Annotated[str | None, typer.Option("--target", help="What this target cannot run.")] = None,
    json: options.Json = False,
    color: options.ColorChoice = options.Color.AUTO,
) -> None:
    """Show what a model is; nothing is run or changed."""
    from onnxsim_ci.model import load, statistics_of
    from onnxsim_ci.report import figures

    if target is not None:
        raise NotAvailable("--target is not available in this version")
    loaded = load(sys.stdin.buffer.read() if model == "-" else model)
    found = figures(statistics_of(loaded.proto, loaded.size))
    facts = {
        "path": model,
        "sha256": loaded.sha256,
        "producer": f"{loaded.proto.producer_name} {loaded.proto.producer_version}".strip(),
        **interface_facts(loaded.proto),
        "figures": found.model_dump(mode="json"),
        "redundancy": _redundancy(loaded.proto, found.operators),
    }
    claim = None if model == "-" else _claim(Path(model), loaded.sha256)
    if claim is not None:
        facts["evidence"] = claim
    if shapes:
        facts["values"] = _values(loaded.proto)
    if json:
        sys.stdout.write(json_format.dumps(facts, indent=2, ensure_ascii=False) + "\n")
    else:
        _print(facts, options.Output(color=color))


def _claim(model: Path, sha256: str) -> dict[str, Any] | None:
    """What the evidence file or note of the model says, and whether it is about these very bytes."""
    from onnxsim_ci.report import wording
    from onnxsim_ci.report.evidence import SUFFIX, read_claim
    from onnxsim_ci.vcs import read_note, repository_root

    beside = model.with_name(model.name + SUFFIX)
    place = model.resolve()
    root = repository_root(place.parent)
    text = beside.read_bytes() if beside.is_file() else b""
    if not text and root is not None:
        text = (read_note(root, place.relative_to(root).as_posix()) or "").encode()
    claim = read_claim(text) if text else None
    if claim is None:
        return None
    matches = claim.model_sha256 == sha256
    return {"matches": matches, "tool": claim.tool, "proof": wording.proof(claim.verdict)}


def interface_facts(proto: "ModelProto") -> dict[str, Any]:
    """Inputs and outputs with types and shapes, overridable initializers, free dimensions, functions."""
    weights = {tensor.name for tensor in proto.graph.initializer}
    inputs = [_value(value) for value in proto.graph.input if value.name not in weights]
    return {
        "inputs": inputs,
        "outputs": [_value(value) for value in proto.graph.output],
        "overridable": [value.name for value in proto.graph.input if value.name in weights],
        "dynamic": sorted(
            {size for value in inputs for size in value["shape"] or () if isinstance(size, str)}
        ),
        "functions": [f"{function.domain}::{function.name}" for function in proto.functions],
    }


def _value(value: "ValueInfoProto") -> dict[str, Any]:
    from onnx import TensorProto

    kind = value.type.WhichOneof("value") or "unknown"
    if kind != "tensor_type":
        return {"name": value.name, "type": kind.removesuffix("_type"), "shape": None}
    tensor = value.type.tensor_type
    shape = None
    if tensor.HasField("shape"):
        shape = [
            size.dim_value if size.HasField("dim_value") else size.dim_param or "?"
            for size in tensor.shape.dim
        ]
    return {"name": value.name, "type": TensorProto.DataType.Name(tensor.elem_type).lower(), "shape": shape}


def _values(proto: "ModelProto") -> list[dict[str, Any]]:
    """Declared or inferred shapes of inner values; inference that fails leaves the declared ones."""
    from onnx import shape_inference

    try:
        proto = shape_inference.infer_shapes(proto)
    except Exception as error:
        sys.stderr.write(f"warning: shape inference failed ({str(error).splitlines()[0]})\n")
    return [_value(value) for value in proto.graph.value_info]


def _redundancy(proto: "ModelProto", operators: Mapping[str, int]) -> dict[str, int]:
    """What is plainly superfluous: weights stored twice, nodes that pass their input on."""
    seen: set[tuple[Any, ...]] = set()
    doubled = 0
    for tensor in proto.graph.initializer:
        if tensor.raw_data:
            key = (tensor.data_type, tuple(tensor.dims), tensor.raw_data)
            doubled += len(tensor.raw_data) if key in seen else 0
            seen.add(key)
    passing = operators.get("Identity", 0) + operators.get("Dropout", 0)
    return {"duplicate_weight_bytes": doubled, "identity_and_dropout_nodes": passing}


def _print(facts: dict[str, Any], output: options.Output) -> None:
    from rich.text import Text

    from onnxsim_ci.report import Figures
    from onnxsim_ci.report.text import operator_table

    console = output.console()
    figures = Figures.model_validate(facts["figures"])
    console.print(Text(facts["path"], style="bold"), Text(facts["producer"], style="dim"))
    opsets = ", ".join(f"{domain or 'ai.onnx'} {version}" for domain, version in figures.opsets.items())
    rows = [("format", f"IR {figures.ir_version}, opset {opsets}")]
    for name in ("inputs", "outputs", "values"):
        for value in facts.get(name, ()):
            shape = "unknown rank" if value["shape"] is None else f"[{', '.join(map(str, value['shape']))}]"
            rows.append((name.removesuffix("s"), f"{value['name']}: {value['type']} {shape}"))
    rows += [
        (name, ", ".join(facts[name])) for name in ("overridable", "dynamic", "functions") if facts[name]
    ]
    rows += [(key.replace("_", " "), f"{count:,}") for key, count in facts["redundancy"].items() if count]
    claim = facts.get("evidence")
    if claim is not None:
        said = f"{claim['proof']} (claimed by {claim['tool']})"
        rows.append(("evidence", said if claim["matches"] else "is about other bytes than these"))
    for label, text in rows:
        console.print(
            Text.assemble("  ", (f"{label:<27} " if len(label) > 11 else f"{label:<12}", "dim"), text)
        )
    console.print(operator_table(figures))
