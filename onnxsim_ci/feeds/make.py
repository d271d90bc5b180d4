"""Samples for one model: the user's files first, then sizes found by trial and seeded numbers.

The plans, in this order: the first sizes that the source accepts; other sizes for all free dimensions at
once; for a symbol that stands on two axes, sizes that differ (a shared name is only a claim); other sizes
for one dimension at a time. An input that selects a branch doubles the plans, so that both branches run.

House: feeds.
Touch: specs, meaning, sizes, values and search are its steps; tests/feeds/test_make.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import onnx

from onnxsim_ci.feeds.bindings import bindings
from onnxsim_ci.feeds.meaning import input_meanings
from onnxsim_ci.feeds.overrides import override_values
from onnxsim_ci.feeds.sample import FeedRequest, Feeds, Runner, Sample
from onnxsim_ci.feeds.search import Search, TooLarge
from onnxsim_ci.feeds.sizes import Plan, assignments, candidates, divisible, shared_axes, smallest
from onnxsim_ci.feeds.specs import InputSpec, Kind, input_specs
from onnxsim_ci.feeds.user_data import read_user_data
from onnxsim_ci.feeds.values import PROFILES

if TYPE_CHECKING:
    from onnxsim_ci.runtime import ModelImage

_MOST_TRIALS = 60
_SLOW_SECONDS = 0.3
_OVERRIDDEN = 1  # position of the sample that overrides initializers
_RANKS = (2, 4, 3, 1, 0)


def make_feeds(
    image: ModelImage, runner: Runner, request: FeedRequest, *, model: onnx.ModelProto | None = None
) -> Feeds:
    """Inputs that the source accepts.

    Args:
        image: The source.
        runner: A session of it (optimisations off), or the reference evaluator.
        request: How many samples, and what the user said about inputs.
        model: The parsed source, when the caller has it already.

    Returns: Samples, or a reason why there are none. The first ones carry the source's answer.

    Raises:
        BadUserData: A file of `request.data` cannot be read as inputs of this model.
    """
    if model is None:
        model = onnx.ModelProto.FromString(image.data)
    specs = input_specs(model)
    odd = [spec.name for spec in specs if spec.kind is Kind.OTHER and not spec.overridable]
    search = Search(runner, specs, input_meanings(model, specs), request)
    samples = _user_samples(search)
    if not samples and odd:
        reason = (
            f"input {odd[0]!r} is neither a tensor nor a sequence of tensors; give it inputs with verify.data"
        )
        return Feeds(samples=(), reason=reason, seconds=search.seconds)
    if not samples:
        samples = _with_override(search, model, _made_samples(search))
    return Feeds(
        samples=tuple(samples[: request.samples]),
        trials=search.trials,
        seconds=search.seconds,
        run_seconds=search.run_seconds,
        failures=tuple(search.failures),
        reason=None if samples else _reason(search),
    )


def _with_override(search: Search, model: onnx.ModelProto, samples: list[Sample]) -> list[Sample]:
    """The samples, the second one with other values for initializers that a caller may override."""
    values = override_values(model, search.specs, np.random.default_rng(search.request.seed))
    if not values or len(samples) < _OVERRIDDEN + 1:
        return samples
    plain = samples[_OVERRIDDEN]
    note = "; ".join(filter(None, (plain.note, f"overrides {', '.join(map(repr, values))}")))
    changed = replace(plain, values={**plain.values, **values}, note=note)
    answer = search.run(changed)
    if answer is not None:
        samples[_OVERRIDDEN] = replace(changed, answer=answer)
    return samples


def _reason(search: Search) -> str:
    if search.timed_out:
        return f"time limit: {search.failures[-1]}; give it smaller inputs with verify.shapes"
    said = search.failures[-1].splitlines()[0] if search.failures else "no input was accepted in time"
    return f"the model itself does not run: {said}; give it inputs with verify.data"


def _user_samples(search: Search) -> list[Sample]:
    """The user's samples that the source accepts; refused ones are among the failures."""
    if search.request.data is None:
        return []
    found = []
    for sample in itertools.islice(read_user_data(search.request.data, search.specs), search.request.samples):
        answer = search.run(sample)
        if answer is not None:
            found.append(replace(sample, answer=answer))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Variant:
    """What is fixed before the search: sizes that the user bound, values that select a branch."""

    sizes: Mapping[str, int]
    axes: Mapping[tuple[str, int], int]
    picks: Mapping[str, int | float | bool]


def _made_samples(search: Search) -> list[Sample]:
    for ranked in _ranked(search.specs):
        search.specs = ranked
        for default_high in (128, 2):
            search.default_high = default_high
            found = _samples(search)
            if found or search.over:
                return found
    return []


def _ranked(specs: tuple[InputSpec, ...]) -> Iterator[tuple[InputSpec, ...]]:
    """The specs as they are, or with every undeclared rank taken as 2, 4, 3, 1, 0 in turn."""
    if all(spec.dims is not None for spec in specs):
        yield specs
        return
    for rank in _RANKS:
        yield tuple(
            replace(spec, dims=tuple(f"{spec.name}#{axis}" for axis in range(rank)))
            if spec.dims is None
            else spec
            for spec in specs
        )


def _samples(search: Search) -> list[Sample]:
    """Samples with an answer first, then built ones up to the number wanted."""
    wanted, variants = search.request.samples, list(_variants(search))
    lanes: list[list[tuple[Plan, Sample]]] = []
    share = max(2, -(-wanted // max(len(variants), 1)))
    for lane, variant in enumerate(variants):
        numbers = itertools.count(lane, len(variants))
        plans = list(_accepted(search, variant, share, numbers, len(variants)))
        if plans:
            lanes.append(plans)
    mixed = [pair for group in itertools.zip_longest(*lanes) for pair in group if pair is not None]
    samples = [sample for _, sample in mixed[:wanted]]
    for number in itertools.count(len(samples)) if mixed else ():
        if number >= wanted:
            break
        plan = mixed[number % len(mixed)][0]
        try:
            samples.append(search.build(plan, number, _profile(number, len(lanes))))
        except TooLarge:
            break
    return samples


def _profile(number: int, lanes: int) -> str:
    return PROFILES[number // lanes % len(PROFILES)]


def _accepted(
    search: Search, variant: _Variant, most: int, numbers: Iterator[int], lanes: int
) -> Iterator[tuple[Plan, Sample]]:
    """Plans of one variant with the sample that the source accepted, at most `most` of them."""
    choices = candidates(search.specs)
    number = next(numbers)
    first = _first(search, variant, choices, number)
    if first is None:
        return
    yield first
    count, misses = 1, 0
    number = next(numbers)
    for plan in _others(search, variant, choices, first[0]):
        if count >= most or misses >= 2 * most or search.over:
            return
        sample = search.attempt(plan, number, _profile(number, lanes))
        if sample is None:
            misses += 1
            continue
        yield plan, sample
        count, number = count + 1, next(numbers)


def _first(
    search: Search, variant: _Variant, choices: Mapping[str, tuple[int, ...]], number: int
) -> tuple[Plan, Sample] | None:
    usual = itertools.islice(assignments(choices, variant.sizes), _MOST_TRIALS)
    for sizes in itertools.chain(usual, divisible(choices, variant.sizes)):
        plan = Plan(sizes=sizes, axes=variant.axes, picks=variant.picks)
        sample = search.attempt(plan, number, PROFILES[0])
        if sample is not None:
            return _cheaper(search, variant, choices, (plan, sample)) or (plan, sample)
        if search.over or not choices:
            return None
    return None


def _cheaper(
    search: Search, variant: _Variant, choices: Mapping[str, tuple[int, ...]], found: tuple[Plan, Sample]
) -> tuple[Plan, Sample] | None:
    """The plan with the smallest sizes, when the one found is slow and the source accepts it."""
    plan = replace(found[0], sizes=smallest(choices, variant.sizes))
    slow = search.run_seconds
    if slow < _SLOW_SECONDS or plan.sizes == found[0].sizes:
        return None
    sample = search.attempt(plan, found[1].seed[1], PROFILES[0])
    return None if sample is None or search.run_seconds > slow else (plan, sample)


def _others(
    search: Search, variant: _Variant, choices: Mapping[str, tuple[int, ...]], first: Plan
) -> Iterator[Plan]:
    """Further plans, most telling first; sizes that the user bound stay."""
    if search.request.symbol_values < 2:
        return
    free = [name for name in choices if name not in variant.sizes]
    other = {
        name: next((size for size in choices[name] if size != first.sizes[name]), first.sizes[name])
        for name in free
    }
    if free:
        yield replace(first, sizes={**first.sizes, **other})
    for symbol, axes in itertools.islice(shared_axes(search.specs).items(), 3):
        size = first.sizes[symbol]
        for unequal in {1: (2,)}.get(size, (1, size + 1)):
            note = f"{symbol!r} is {size}, but {unequal} on axis {axes[-1][1]} of {axes[-1][0]!r}"
            yield replace(first, axes={**first.axes, axes[-1]: unequal}, note=note)
    for name in free if len(free) > 1 else ():
        for size in [size for size in choices[name] if size != first.sizes[name]][
            : search.request.symbol_values
        ]:
            yield replace(first, sizes={**first.sizes, name: size})


def _variants(search: Search) -> Iterator[_Variant]:
    """Every binding of the user with every choice of a branch."""
    for sizes, axes in bindings(search.specs, search.request):
        for picks in _picks(search):
            yield _Variant(sizes=sizes, axes=axes, picks=picks)


def _picks(search: Search) -> list[dict[str, int | float | bool]]:
    """Two choices when scalar inputs select branches: the constants compared with, and other values."""
    first: dict[str, int | float | bool] = {}
    second: dict[str, int | float | bool] = {}
    for spec in search.specs:
        meaning = search.meanings[spec.name]
        hinted = search.request.hints.get("inputs", {}).get(spec.name, {}).get("value")
        if isinstance(hinted, list):
            first[spec.name], second[spec.name] = hinted[0], hinted[-1]
        elif hinted is not None or spec.overridable or spec.dims not in ((), (1,)):
            continue
        elif meaning.branch and spec.element == onnx.TensorProto.BOOL:
            first[spec.name], second[spec.name] = True, False
        elif meaning.compared and meaning.high is None:
            number = meaning.compared[0]
            first[spec.name] = number
            second[spec.name] = number // 2 if number > 1 else number + 1
    return [first, second] if first else [{}]
