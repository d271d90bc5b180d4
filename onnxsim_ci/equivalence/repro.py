"""The smallest pair of models that shows a difference, with inputs, as files for a bug report.

House: equivalence.
Touch: docs of --save-repro.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from onnxsim_ci.equivalence.bench import Bench, Subject
from onnxsim_ci.equivalence.cut import around, tensor_type
from onnxsim_ci.equivalence.differences import difference
from onnxsim_ci.feeds import Sample
from onnxsim_ci.runtime import ModelImage, RunFailure, RuntimeRefusal, run_once


@dataclass(frozen=True, slots=True, kw_only=True)
class Repro:
    """What was written."""

    source: Path
    result: Path
    inputs: Path
    value: str
    relative_l2: float
    """Difference that the pair shows on these inputs."""


def save_repro(
    folder: Path, source: ModelImage, result: ModelImage, value: str, sample: Sample
) -> Repro | None:
    """Write `source.onnx`, `result.onnx` and `inputs.npz`: the nodes around one value of both models.

    Args:
        folder: Made if it does not exist; the three files are replaced.
        source: The whole source.
        result: The whole result.
        value: A top-scope value of both: an output of the culprit edit, or a graph output.
        sample: An accepted sample; it supplies the values at which the models are cut.

    Returns: What was written, or None when the models cannot be cut there or the parts do not run.
    """
    bench = Bench(None)
    mine, other = Subject(source, bench), Subject(result, bench)
    shared = _values(mine.model) & _values(other.model)
    if value not in shared:
        return None
    result_part, result_inputs = around(other.model, value, shared, other.folder)
    source_part, source_inputs = around(mine.model, value, set(result_inputs), mine.folder)
    names = sorted({*result_inputs, *source_inputs})
    try:
        values = _captured(mine, names, sample)
        answers = []
        for part, inputs in ((source_part, source_inputs), (result_part, result_inputs)):
            _declare(part, {name: values[name] for name in inputs})
            image = ModelImage(data=part.SerializeToString(), custom_libraries=source.custom_libraries)
            answers.append(run_once(image, {name: values[name] for name in inputs})[value])
            part.graph.output[0].type.CopyFrom(_type_of(answers[-1]))
    except (RunFailure, RuntimeRefusal, KeyError):
        return None
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / "source.onnx", folder / "result.onnx", folder / "inputs.npz"
    paths[0].write_bytes(source_part.SerializeToString())
    paths[1].write_bytes(result_part.SerializeToString())
    np.savez(paths[2], **values)
    shown = difference(*answers).relative_l2
    return Repro(source=paths[0], result=paths[1], inputs=paths[2], value=value, relative_l2=shown)


def _values(model: onnx.ModelProto) -> set[str]:
    produced = {name for node in model.graph.node for name in node.output if name}
    return produced | {value.name for value in model.graph.input}


def _captured(source: Subject, names: list[str], sample: Sample) -> dict[str, Any]:
    """Values of the source at the cut."""
    inner = [name for name in names if name not in sample.values]
    source.observe(name for name in inner if name not in {v.name for v in source.model.graph.output})
    values = {name: sample.values[name] for name in names if name in sample.values}
    return values | (source.runner.run(sample.values, inner) if inner else {})


def _declare(part: onnx.ModelProto, values: Mapping[str, Any]) -> None:
    """Declare the inputs by the values that were captured."""
    for name, value in values.items():
        part.graph.input.append(onnx.ValueInfoProto(name=name, type=_type_of(value)))


def _type_of(value: Any) -> onnx.TypeProto:
    element = onnx.numpy_helper.from_array(np.asarray(value)).data_type
    return tensor_type(element, np.shape(value))
