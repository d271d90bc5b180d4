"""Samples with the special inputs under which a wrong rewrite could show.

They are made from an ordinary sample that the source accepts: some elements of every float input become
special, or a free size becomes 0 or 1, or an initializer is overridden. A hazard for which the source
accepts nothing yields no sample. They are run in a forked child: an empty size or a NaN ends the process in
some kernels of the runtime.

House: feeds; imports numpy and onnx.
Touch: `HAZARDS` equals the names that rules may give (rewrite/contract); a test compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import onnx

from onnxsim_ci.feeds.meaning import Meaning, input_meanings
from onnxsim_ci.feeds.overrides import override_values
from onnxsim_ci.feeds.sample import FeedRequest, Runner, Sample
from onnxsim_ci.feeds.search import Search
from onnxsim_ci.feeds.sizes import Plan
from onnxsim_ci.feeds.specs import input_specs, symbols_of
from onnxsim_ci.runtime import RunFailure

Fill = Callable[[np.dtype[Any]], list[float]]

_FILLS: Mapping[str, Fill] = {
    "negative_zero": lambda dtype: [-0.0, 0.0],
    "infinity": lambda dtype: [np.inf, -np.inf],
    "nan": lambda dtype: [np.nan],
    "saturation": lambda dtype: [30.0, -30.0, 100.0, -100.0, 700.0, -700.0],
    "denormal": lambda dtype: [1e-40, -1e-40, 1e-45, 1e-38],
    "large": lambda dtype: [0.9 * _largest(dtype), -0.9 * _largest(dtype)],
}
HAZARDS = frozenset({*_FILLS, "ties", "empty", "batch_one", "overridden", "integer_extremes"})
"""Every hazard that a sample can be made for."""


def hazard_feeds(
    model: onnx.ModelProto, runner: Runner, ordinary: Sample, hazards: Iterable[str], *, seed: int = 0
) -> tuple[Sample, ...]:
    """One sample a hazard (two for `empty`: each of the first two free axes), with the source's answer.

    Args:
        model: The source; for a light proto its small initializers suffice.
        runner: A session of it.
        ordinary: An accepted sample of finite values.
        hazards: Names out of `HAZARDS`; unknown names are ignored, sorted names give a fixed order.
        seed: Seed of the places that become special.
    """
    specs = input_specs(model)
    search = Search(runner, specs, input_meanings(model, specs), FeedRequest(seed=seed))
    made = [
        replace(ordinary, values=values, profile=hazard, answer=None, seed=(seed, number))
        for number, hazard in enumerate(sorted(hazards))
        for values in _versions(hazard, model, search, ordinary)
    ]
    names = [value.name for value in model.graph.output]
    answers = runner.run_isolated([sample.values for sample in made], names) if made else []
    return tuple(
        replace(sample, answer=answer)
        for sample, answer in zip(made, answers, strict=True)
        if not isinstance(answer, RunFailure)
    )


def _versions(
    hazard: str, model: onnx.ModelProto, search: Search, ordinary: Sample
) -> Iterable[dict[str, Any]]:
    rng = np.random.default_rng([search.request.seed, 7])
    values = dict(ordinary.values)
    if hazard in _FILLS:
        fill = _FILLS[hazard]
        changed = {name: _special(value, fill, rng) for name, value in values.items() if _is_float(value)}
    elif hazard == "ties":
        changed = {
            name: np.round(value).astype(value.dtype) for name, value in values.items() if _is_float(value)
        }
    elif hazard == "integer_extremes":
        changed = {
            name: _extremes(value, rng)
            for name, value in values.items()
            if _is_integer(value) and _is_free(search.meanings[name])
        }
    elif hazard == "overridden":
        changed = override_values(model, search.specs, rng)
    elif hazard in ("empty", "batch_one"):
        return _resized(search, ordinary, size=0 if hazard == "empty" else 1)
    else:
        return []
    return [{**values, **changed}] if changed else []


def _largest(dtype: np.dtype[Any]) -> float:
    import ml_dtypes

    return float(ml_dtypes.finfo(dtype).max)  # type: ignore[no-untyped-call]


def _is_float(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.size > 0 and value.dtype.kind in "fV"


def _is_integer(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.size > 0 and value.dtype.kind in "iu"


def _is_free(meaning: Meaning) -> bool:
    """No index, no mask, no operand of a division, no size: every value of the type is harmless."""
    return meaning.high is None and not (meaning.size_of or meaning.mask or meaning.delicate)


def _special(value: np.ndarray, fill: Fill, rng: np.random.Generator) -> np.ndarray:
    """A copy in which one element in eight (at least one of each kind, if they fit) is special."""
    result = value.copy()
    flat = result.reshape(-1)
    with np.errstate(over="ignore"):
        specials = np.array(fill(value.dtype)).astype(value.dtype)
    count = min(flat.size, max(len(specials), flat.size // 8))
    places = rng.choice(flat.size, count, replace=False)
    flat[places] = np.resize(specials, count)
    return result


def _extremes(value: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    result = value.copy()
    limits = np.iinfo(value.dtype)
    flat = result.reshape(-1)
    flat[rng.choice(flat.size, min(flat.size, 4), replace=False)] = np.resize(
        [limits.max, limits.min, 0, 1], min(flat.size, 4)
    )
    return result


def _resized(search: Search, ordinary: Sample, *, size: int) -> Iterable[dict[str, Any]]:
    """The sample with one free symbol at this size; the first two symbols that the source lets have it."""
    sizes = dict(ordinary.sizes)
    symbols = [s for spec in search.specs for dim in spec.dims or () for s in symbols_of(dim) if s in sizes]
    for symbol in list(dict.fromkeys(symbols))[: 2 if size == 0 else 1]:
        changed = search.build(Plan(sizes={**sizes, symbol: size}), ordinary.seed[1], "normal")
        yield dict(changed.values)
