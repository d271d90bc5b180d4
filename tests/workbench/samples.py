"""Seeded inputs of a model: ordinary numbers, numbers at the edges of their type, ties and zeros; many sizes.

Sizes of symbolic dims vary, also 1 and 0; some sets of sizes give different sizes to axes of the same name.

Touch: `witnesses.py` runs models on them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx import ModelProto, TensorProto, TypeProto
from onnx_text import nodes_of

from onnxsim_ci.model import IR_WITHOUT_INPUT_INITIALIZERS

Feeds = dict[str, Any]
Places = dict[tuple[str, int], int]
SIZES = ((3, 5, 2, 7, 4), (2, 3, 4, 5, 6), (1,) * 5, (0,) * 5, (0, 2, 3, 4, 5), (1, 4, 2, 3, 5))
"""Sizes of the first, second, ... dim name; larger and different ones first."""
SHAPERS = frozenset(
    {"Reshape", "Expand", "Tile", "ConstantOfShape", "Range", "Split", "Squeeze", "Unsqueeze"}
)
REDUCTIONS = frozenset({"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"})
SIZING = SHAPERS | REDUCTIONS | {"Slice", "Pad", "Gather", "OneHot", "Loop", "TopK"}
"""Operators whose integer operands are sizes, axes or positions: they get small numbers."""
KINDS = ("ordinary", "special", "flat")
ATTEMPTS = 12
"""Samples of each kind where random numbers are sizes or axes, which seldom fit."""


@dataclass(frozen=True, slots=True)
class Draw:
    """How the elements of one sample are drawn.

    Attributes:
        rng: Where they come from.
        kind: One of `KINDS`.
        ops: Operators of the model, which may fail, or end the process, on some integers.
        places: Sizes of the symbolic axes.
    """

    rng: np.random.Generator
    kind: str
    ops: frozenset[str]
    places: Places


def samples_of(
    model: ModelProto, seed: int, kinds: tuple[str, ...]
) -> Iterator[tuple[str, tuple[int, ...], Feeds]]:
    """(description, sizes, inputs by name) in a fixed order.

    Overridable initializers are left out, then overridden.
    """
    stored = {t.name for t in model.graph.initializer}
    ops = frozenset(node.op_type for node in nodes_of(model))
    axes = _symbolic_axes(model)
    listed = stored & {i.name for i in model.graph.input}
    can_override = bool(listed) and model.ir_version >= IR_WITHOUT_INPUT_INITIALIZERS
    assignments = list(dict.fromkeys(_assignments(axes)))
    repeats = range(ATTEMPTS if _takes_sizes(model, ops) else 1)
    for number, (_, sizes, kind) in enumerate(itertools.product(repeats, assignments, kinds)):
        places = dict(zip(axes, sizes, strict=True))
        draw = Draw(np.random.default_rng([seed, number]), kind, ops, places)
        for given in ("default", "override") if can_override else ("default",):
            feeds = {
                info.name: _value(info.type, info.name, draw)
                for info in model.graph.input
                if info.name not in stored or given == "override"
            }
            named = ", ".join(f"{name}[{axis}]={size}" for (name, axis), size in places.items())
            yield f"{kind} sample {number} of seed {seed} ({named or 'static'}, {given})", sizes, feeds


def _takes_sizes(model: ModelProto, ops: frozenset[str]) -> bool:
    integers = (TensorProto.INT64, TensorProto.INT32)
    return bool(ops & SIZING) and any(i.type.tensor_type.elem_type in integers for i in model.graph.input)


def _symbolic_axes(model: ModelProto) -> dict[tuple[str, int], str]:
    """(input, axis) -> dim name; anonymous axes have names of their own."""
    found: dict[tuple[str, int], str] = {}
    for info in model.graph.input:
        for axis, dim in enumerate(info.type.tensor_type.shape.dim):
            if not dim.HasField("dim_value"):
                found[info.name, axis] = dim.dim_param or f"{info.name}[{axis}]"
    return found


def _assignments(axes: dict[tuple[str, int], str]) -> Iterator[tuple[int, ...]]:
    names = list(dict.fromkeys(axes.values()))
    for sizes in SIZES:
        by_name = dict(zip(names, itertools.cycle(sizes)))
        yield tuple(by_name[name] for name in axes.values())
    if len(names) < len(axes):
        for broken in itertools.product((1, 2, 3), repeat=min(len(axes), 3)):
            yield tuple(size for size, _ in zip(itertools.cycle(broken), axes))


def _value(kind: TypeProto, name: str, draw: Draw) -> Any:
    if kind.HasField("sequence_type"):
        return [_value(kind.sequence_type.elem_type, f"{name}.{i}", draw) for i in range(2)]
    if kind.HasField("optional_type"):
        return _value(kind.optional_type.elem_type, name, draw)
    dims = kind.tensor_type.shape.dim
    sizes = [d.dim_value if d.HasField("dim_value") else draw.places[name, a] for a, d in enumerate(dims)]
    return _elements(kind.tensor_type.elem_type, tuple(sizes), draw)


def _elements(dtype: int, shape: tuple[int, ...], draw: Draw) -> np.ndarray:
    rng = draw.rng
    if dtype == TensorProto.STRING:
        return np.asarray(rng.choice(np.array(["", "a", "b c", "7"], object), shape), object)
    if dtype == TensorProto.BOOL:
        return np.asarray(rng.random(shape) < {"ordinary": 0.5, "special": 0.9, "flat": 0.2}[draw.kind])
    kind = onnx.helper.tensor_dtype_to_np_dtype(dtype)
    if kind.kind in "iu":
        return _integers(kind, shape, draw)
    if draw.kind == "flat":
        return np.asarray(rng.choice(np.array([0.0, -0.0, 1.0, -1.0, 0.5]), shape)).astype(kind)
    numbers = rng.standard_normal(shape) * 2
    if draw.kind == "special":
        numbers = np.where(rng.random(shape) < 0.7, rng.choice(_edges(kind), shape), numbers)
    with np.errstate(all="ignore"):
        return np.asarray(numbers).astype(kind)


def _edges(kind: np.dtype) -> np.ndarray:
    """NaN, infinities, zeros, denormals, the largest, and where casts, Exp and Round change."""
    if kind.kind == "c":
        return np.array([0.0, -0.0, 1.0])
    info = ml_dtypes.finfo(kind)
    tiny, least, most = float(info.tiny), float(info.smallest_subnormal), float(info.max)
    numbers = [np.nan, np.inf, 0.0, least, 3 * least, tiny, most, most / 2, 1 - float(info.eps)]
    numbers += [0.5, 1.5, 2.5, 88.8, 127.5, 255.5, 300.5, 65520.0, 2.0**31, 2.0**31 - 1, 2.0**63]
    return np.array([*numbers, *(-n for n in numbers)])


def _integers(kind: np.dtype, shape: tuple[int, ...], draw: Draw) -> np.ndarray:
    low, rng = (0 if kind.kind == "u" else -7), draw.rng
    if draw.ops & {"Div", "Mod"}:
        return np.asarray(rng.integers(1, 8, shape)).astype(kind)
    if draw.ops & SIZING:
        low = -1 if kind.kind == "i" and draw.kind != "flat" else 0
        return np.asarray(rng.integers(low, 4, shape)).astype(kind)
    numbers = np.asarray(rng.integers(low, 8, shape)).astype(kind)
    if draw.kind == "special":
        info = np.iinfo(kind)
        edges = np.array([info.min, info.max, info.max - 1, info.min + 1, 0, 1, info.max // 2 + 1], kind)
        numbers = np.where(rng.random(shape) < 0.7, rng.choice(edges, shape), numbers)
    return np.asarray(numbers).astype(kind)
