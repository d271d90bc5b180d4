"""The way of one model: load, check, rewrite, prove, judge, write.

House: api. May import every floor below.
Touch: architecture: "The way of one model"; the report's fields.
"""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from onnx import ModelProto

from onnxsim_ci.api.candidate import Candidate, Source, make_candidate
from onnxsim_ci.api.proving import Proven, prove
from onnxsim_ci.api.settings import limits_of, plan_of, proof_settings_of
from onnxsim_ci.api.validation import refuse_broken, refuse_if_not_runnable, refuse_unknown_inputs
from onnxsim_ci.cache import Known, ResultsCache, default_cache
from onnxsim_ci.equivalence import Verdict
from onnxsim_ci.errors import BadInput
from onnxsim_ci.model import (
    Graph,
    LoadedModel,
    build_graph,
    load,
)
from onnxsim_ci.rewrite import Journal, Plan, ValueInfos, resting_collector
from onnxsim_ci.runtime import warm_up

if TYPE_CHECKING:
    from onnxsim_ci.policy import Policy
    from onnxsim_ci.report import Report

Refusals = tuple[tuple[str, str], ...]
"""(rule id, or `rounding`, and the reason)."""

Model = str | os.PathLike[str] | bytes | ModelProto


@dataclass(eq=False)
class Result:
    """What `optimize` found out about one model.

    Attributes:
        verdict: Whether the result computes what the source computes, and how that is known.
        report: The same as renderers and gates read it.
        journal: Every edit with its reason; those of the result that `verdict` is about.
        written: Where the result was written; None if nothing was.
    """

    verdict: Verdict
    report: Report
    journal: Journal
    written: Path | None
    _candidate: Candidate = field(repr=False)
    _is_kept: bool = field(repr=False)

    @cached_property
    def model(self) -> ModelProto:
        """The result, or the source when the result is not proven; external data stay where they are."""
        loaded = self._candidate.source.loaded
        if self._is_kept and self._candidate.changed:
            return self._candidate.model
        return loaded.whole()


class _Clock:
    """Seconds by phase, in the order of the phases."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    def lap(self, phase: str) -> None:
        now = time.perf_counter()
        self.seconds[phase] = self.seconds.get(phase, 0.0) + now - self._since
        self._since = now


def optimize(
    model: Model,
    *,
    policy: Policy | None = None,
    output: str | os.PathLike[str] | None = None,
    save_repro: Path | None = None,
    cache: ResultsCache | None = None,
) -> Result:
    """Simplify one model, prove the result, and write it if a place is given and the policy allows it.

    Args:
        model: Path, serialized bytes or ModelProto; it is not changed.
        policy: What may be done; None for the defaults. No file is searched.
        output: Where to write; None to write nothing. Written when proven or when nothing changed.
        save_repro: Folder for the smallest model that shows a mismatch.
        cache: Where refused rules are remembered; None for the user's cache.

    Raises:
        BadInput: The model cannot be used; whatever was at `output` is untouched.
        InternalError: A fault of onnxsim-ci; nothing was written.
    """
    from onnxsim_ci.policy import Policy as PolicyClass

    warm_up()
    clock = _Clock()
    store = cache or default_cache()
    with resting_collector():
        first, chosen, known = _simplify(model, policy or PolicyClass(), store, clock)
    proven = _prove(first, chosen, save_repro)
    clock.lap("prove")
    result = _conclude(model, proven, chosen, known, output, store, clock)
    if isinstance(model, ModelProto):
        result.model  # noqa: B018 - made now: the caller may change what its weights are read from
    return result


def _simplify(
    model: Model, policy: Policy, store: ResultsCache, clock: _Clock
) -> tuple[Candidate, Policy, Refusals]:
    """(first result, policy with its preset, rules refused in earlier runs)."""
    loaded = load(model, limits_of(policy))
    chosen = _settled(policy, loaded.proto)
    clock.lap("load")
    refuse_unknown_inputs(loaded, chosen.verify.shapes, "verify.shapes")
    graph = _index(loaded)
    refuse_broken(loaded, graph, limits_of(chosen))
    is_known = loaded.path is not None and not store.is_empty()
    known = store.read(loaded.sha256).refusals if is_known else ()
    source = Source(loaded, chosen, graph)
    clock.lap("analyse")
    first = _within_growth(source, plan_of(chosen, frozenset(rule for rule, _ in known)), chosen)
    if first.outcome.problem is not None:
        refuse_if_not_runnable(load(loaded.path or bytes(loaded.buffer)), first.outcome.problem)
    clock.lap("rewrite")
    return first, chosen, known


def _index(loaded: LoadedModel) -> Graph:
    """The index of a model; what is wrong with its names is said with the file's name."""
    try:
        return build_graph(loaded.proto)
    except BadInput as error:
        error.where = error.where or str(loaded.path or "the model")
        raise


def _conclude(  # noqa: PLR0913, PLR0917 - the end of a run needs all that it gathered
    model: Model,
    proven: Proven,
    policy: Policy,
    known: Refusals,
    output: str | os.PathLike[str] | None,
    store: ResultsCache,
    clock: _Clock,
) -> Result:
    """Judge, write and report."""
    from onnxsim_ci.api.reporting import Run, describe, name_of, outcome_of
    from onnxsim_ci.api.writing import write_result

    decision = outcome_of(proven, policy)
    run = Run(
        path=name_of(model),
        source=proven.candidate.source,
        proven=proven,
        known=known,
        decision=decision,
        policy=policy,
        seconds=clock.seconds,
    )
    if output is not None and decision.may_write:
        run = replace(run, written=write_result(run, Path(output)))
        _remember(store, Path(output), proven, known)
    clock.lap("save")
    return Result(
        verdict=proven.verdict,
        report=describe(run),
        journal=proven.candidate.outcome.journal,
        written=None if run.written is None else run.written.path,
        _candidate=proven.candidate,
        _is_kept=decision.is_kept,
    )


def _settled(policy: Policy, proto: ModelProto) -> Policy:
    from onnxsim_ci.model import stored_bytes

    weights = sum(stored_bytes(t.data_type, t.dims) for t in proto.graph.initializer)
    dynamic = any(
        not d.HasField("dim_value") for i in proto.graph.input for d in i.type.tensor_type.shape.dim
    )
    return policy.settled(live_weight_bytes=weights, has_dynamic_inputs=dynamic)


def _within_growth(source: Source, plan: Plan, policy: Policy) -> Candidate:
    """The result, made again with ever less folding while it is larger than the policy allows."""
    limit = policy.simplify.max_growth.limit(source.statistics.total_bytes)
    keeps = ValueInfos.KEEP if plan.value_info is ValueInfos.ADD else plan.value_info
    tight = replace(plan, fold_slack_bytes=0, value_info=keeps)
    unfused = replace(tight, skip=tight.skip | {"conv", "matmul"})
    for attempt in (plan, tight, unfused, replace(unfused, fold=False)):
        candidate = make_candidate(source, attempt)
        if source.is_ordered or not candidate.changed or candidate.statistics.total_bytes <= limit:
            return candidate
    return make_candidate(source, replace(plan, level=None))


def _prove(first: Candidate, policy: Policy, repro: Path | None) -> Proven:
    if not first.changed:
        same = Verdict(verdict="equivalent", basis="digest", reason="nothing was changed")
        return Proven(first, same, ())
    if policy.verify.mode == "off":
        return Proven(first, Verdict(verdict="not run", reason="verify.mode is off"), ())
    source = first.source
    settings = proof_settings_of(policy, source.loaded.folder)
    return prove(source, first, settings, quarantines=policy.verify.on_mismatch == "quarantine", repro=repro)


def _remember(store: ResultsCache, written: Path, proven: Proven, known: tuple[tuple[str, str], ...]) -> None:
    refusals = tuple(dict.fromkeys((*known, *proven.refusals)))
    if refusals:
        with written.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        store.write(digest, Known(refusals=refusals))
