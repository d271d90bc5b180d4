"""Where models are run during one proof: counts runs and sessions, and keeps the time limit.

House: equivalence; runtime.
Touch: evidence prints the counts; a new kind of runner needs `run` with the signature of feeds.Runner.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import onnx

from onnxsim_ci.equivalence.randomness import has_random_nodes, seeded
from onnxsim_ci.feeds import Runner
from onnxsim_ci.runtime import Level, ModelImage, RunFailure, isolated, open_session, reference_run


class TimeIsUp(Exception):
    """The proof's time limit has passed."""


class Bench:
    """Makes runners of models; every run and session of one proof is counted here."""

    def __init__(self, timeout_seconds: float | None) -> None:
        """Start the clock."""
        self.runs = 0
        self.sessions = 0
        self.by_reference = False
        """Run models on the reference evaluator, because the runtime lacks a kernel of the source."""
        self.fresh = False
        """Open a session for each run, because the state of random operators outlives a run."""
        self._started = time.monotonic()
        self._timeout = timeout_seconds

    @property
    def seconds(self) -> float:
        """Time since the proof began."""
        return time.monotonic() - self._started

    def restart(self) -> None:
        """Begin another verdict: counts and clock start anew."""
        self.runs, self.sessions, self._started = 0, 0, time.monotonic()

    def absorb(self, other: Bench) -> None:
        """Add the counts of a part of this proof."""
        self.runs += other.runs
        self.sessions += other.sessions

    def remaining(self) -> float | None:
        """Seconds left, or None without a limit.

        Raises:
            TimeIsUp: Nothing is left.
        """
        if self._timeout is None:
            return None
        left = self._timeout - self.seconds
        if left <= 0:
            raise TimeIsUp
        return left

    def open(
        self,
        image: ModelImage,
        *,
        level: Level = Level.DISABLED,
        threads: int = 1,
        overrides: Mapping[str, np.ndarray] | None = None,
    ) -> Runner:
        """A runner of the model with the settings that make it comparable.

        Raises:
            RuntimeRefusal: The model cannot be loaded.
            TimeIsUp: The time limit has passed.
        """
        self.remaining()
        if self.by_reference:
            return _ReferenceRunner(self, _with_overrides(image, overrides))
        return _SessionRunner(self, image, (level, threads, overrides))


class _SessionRunner:
    """A counted session of ONNX Runtime."""

    def __init__(self, bench: Bench, image: ModelImage, settings: tuple[Level, int, Any]) -> None:
        self._bench, self._image, self._settings = bench, image, settings
        self._session = self._open()

    def _open(self) -> Any:
        level, threads, overrides = self._settings
        self._bench.sessions += 1
        return open_session(self._image, level=level, threads=threads, overrides=overrides)

    def run(
        self, feeds: Mapping[str, Any], outputs: Sequence[str] | None = None, *, seconds: float | None = None
    ) -> dict[str, Any]:
        left = self._bench.remaining()
        limit = min((value for value in (left, seconds) if value is not None), default=None)
        session = self._open() if self._bench.fresh else self._session
        self._bench.runs += 1
        try:
            return dict(session.run(feeds, outputs, seconds=limit))
        except RunFailure as failure:
            if failure.timed_out and limit == left:
                raise TimeIsUp from None
            raise

    def run_isolated(
        self, feeds: Sequence[Mapping[str, Any]], outputs: Sequence[str], *, seconds: float | None = None
    ) -> list[dict[str, Any] | RunFailure]:
        limit = min(
            (value for value in (self._bench.remaining(), seconds) if value is not None), default=None
        )
        self._bench.runs += len(feeds)
        if self._bench.fresh:
            return isolated([partial(self._run_fresh, each, outputs) for each in feeds], seconds=limit)
        answers: list[dict[str, Any] | RunFailure] = self._session.run_isolated(feeds, outputs, seconds=limit)
        return answers

    def _run_fresh(self, feeds: Mapping[str, Any], outputs: Sequence[str]) -> dict[str, Any]:
        return dict(self._open().run(feeds, outputs))


class _ReferenceRunner:
    """The reference evaluator; it has no levels, threads or time limit inside a run."""

    def __init__(self, bench: Bench, image: ModelImage) -> None:
        self._bench, self._image = bench, image

    def run(
        self, feeds: Mapping[str, Any], outputs: Sequence[str] | None = None, *, seconds: float | None = None
    ) -> dict[str, Any]:
        del seconds
        self._bench.remaining()
        self._bench.runs += 1
        return reference_run(self._image, feeds, outputs)

    def run_isolated(
        self, feeds: Sequence[Mapping[str, Any]], outputs: Sequence[str], *, seconds: float | None = None
    ) -> list[dict[str, Any] | RunFailure]:
        return isolated([partial(self.run, each, outputs) for each in feeds], seconds=seconds)


def _with_overrides(image: ModelImage, overrides: Mapping[str, np.ndarray] | None) -> ModelImage:
    """A throw-away copy with the constants inside; only for the reference evaluator's small models."""
    from onnxsim_ci.equivalence.weights import float_constants

    if not overrides:
        return image
    model = onnx.ModelProto.FromString(image.data)
    for constant in float_constants(model):
        if constant.name in overrides:
            fresh = onnx.numpy_helper.from_array(overrides[constant.name], constant.tensor.name)
            constant.tensor.CopyFrom(fresh)
    return image.with_data(model.SerializeToString())


def _observing(image: ModelImage, names: Sequence[str]) -> ModelImage:
    """The image with inner values as further outputs, written behind it: protobuf merges the two graphs."""
    if not names:
        return image
    outputs = [onnx.ValueInfoProto(name=name) for name in names]
    extra = onnx.ModelProto(graph=onnx.GraphProto(output=outputs))
    return image.with_data(image.data + extra.SerializeToString())


class _Defaulting:
    """A runner that returns the model's own outputs unless others are asked for."""

    def __init__(self, runner: Runner, names: list[str]) -> None:
        self._runner, self._names = runner, names

    def run(
        self, feeds: Mapping[str, Any], outputs: Sequence[str] | None = None, *, seconds: float | None = None
    ) -> dict[str, Any]:
        return self._runner.run(feeds, self._names if outputs is None else outputs, seconds=seconds)

    def run_isolated(
        self, feeds: Sequence[Mapping[str, Any]], outputs: Sequence[str], *, seconds: float | None = None
    ) -> list[dict[str, Any] | RunFailure]:
        return self._runner.run_isolated(feeds, outputs, seconds=seconds)


class Subject:
    """One model of a proof: its image, its proto, and a runner, each made on first use."""

    def __init__(self, image: ModelImage, bench: Bench) -> None:
        """Nothing is parsed or loaded yet."""
        self._given = image
        self._bench = bench
        self._observed: tuple[str, ...] = ()
        self._model: onnx.ModelProto | None = None
        self._image: ModelImage | None = None
        self._runner: Runner | None = None

    @property
    def model(self) -> onnx.ModelProto:
        """The parsed model; read only."""
        if self._model is None:
            self._model = onnx.ModelProto.FromString(self._given.data)
        return self._model

    @property
    def folder(self) -> str | None:
        """Folder of the external data."""
        return self._given.folder

    @property
    def image(self) -> ModelImage:
        """What is run: the given image, or a copy whose random operators are seeded by name."""
        if self._image is None:
            self._image = self._given
            if has_random_nodes(self.model):
                self._image = self._given.with_data(seeded(self.model).SerializeToString())
                self._bench.fresh = True
            self._image = _observing(self._image, self._observed)
        return self._image

    def observe(self, names: Iterable[str]) -> bool:
        """Let runs return these inner values too, asked for by name; True when the session must reopen."""
        fresh = [name for name in names if name not in self._observed]
        if fresh:
            self._observed += tuple(fresh)
            self._image = None
            self.release()
        return bool(fresh)

    @property
    def runner(self) -> Runner:
        """The model with optimisations off.

        Raises:
            RuntimeRefusal: It cannot be loaded.
        """
        if self._runner is None:
            names = [value.name for value in self.model.graph.output]
            self._runner = _Defaulting(self._bench.open(self.image), names)
        return self._runner

    def release(self) -> None:
        """Close the session and forget the copies."""
        self._runner = None
