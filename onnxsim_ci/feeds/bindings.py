"""Sizes that the user fixed: whole shapes, symbols, or single axes.

House: feeds.
Touch: the policy keys verify.shapes and the hints of FeedRequest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onnxsim_ci.feeds.sample import FeedRequest
from onnxsim_ci.feeds.specs import InputSpec


def bindings(
    specs: tuple[InputSpec, ...], request: FeedRequest
) -> list[tuple[dict[str, int], dict[tuple[str, int], int]]]:
    """Sizes that the user fixed, by symbol and by axis, one pair for each set the user gave."""
    required = [spec.name for spec in specs if not spec.overridable]
    only = required[0] if len(required) == 1 else ""
    shapes = {name or only: _shape_list(value) for name, value in request.shapes.items()}
    for name, hint in request.hints.get("inputs", {}).items():
        if "shape" in hint:
            shapes.setdefault(name, _shape_list(hint["shape"]))
    bound: Sequence[Mapping[str, int]] = request.hints.get("dims") or [{}]
    count = max([len(bound), *(len(value) for value in shapes.values())])
    return [
        _binding(specs, bound[min(k, len(bound) - 1)], {n: v[min(k, len(v) - 1)] for n, v in shapes.items()})
        for k in range(count)
    ]


def _shape_list(value: Sequence[Any]) -> list[Sequence[int]]:
    """One shape or a list of shapes as a list; None in a shape leaves the axis free, like -1."""
    shapes = value if value and isinstance(value[0], (list, tuple)) else [value]
    return [[-1 if size is None else int(size) for size in shape] for shape in shapes]


def _binding(
    specs: tuple[InputSpec, ...], dims: Mapping[str, int], shapes: Mapping[str, Sequence[int]]
) -> tuple[dict[str, int], dict[tuple[str, int], int]]:
    sizes = {name: size for name, size in dims.items() if "@" not in name}
    axes: dict[tuple[str, int], int] = {}
    for spec in specs:
        given = shapes.get(spec.name, ())
        for axis, dim in enumerate(spec.dims or ()):
            size = dims.get(f"{spec.name}@{axis}", given[axis] if axis < len(given) else -1)
            if isinstance(dim, int) or size < 0:
                continue
            if sizes.setdefault(dim, size) != size:
                axes[spec.name, axis] = size
    return sizes, axes
