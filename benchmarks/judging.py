"""Right or wrong: a result beside its source on two inputs, both with all optimisations off.

Wrong is a difference over 1e-3 of the largest value and over three times what the runtime's own optimiser
does to the source; another shape, type or NaN position; an unequal integer. Coarser than the product's proof
on purpose: it judges the peers too, and owes nothing to `onnxsim_ci.equivalence`.

House: benchmarks. Takes inputs and sessions from onnxsim_ci.feeds and onnxsim_ci.runtime.
Touch: peers.py.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np

from onnxsim_ci.feeds import FeedRequest, make_feeds
from onnxsim_ci.runtime import Level, ModelImage, RunFailure, RuntimeRefusal, open_session

LEAST, NOISE_TIMES = 1e-3, 3.0
Array = Any


class Judge:
    """Runs of one source, and what others are compared with."""

    def __init__(self, source: Path) -> None:
        image = image_of(source)
        self.inputs: list[Any] = []
        self.answers: list[dict[str, Array]] = []
        self.limits: list[dict[str, float]] = []
        self.names: list[str] = []
        try:
            session, fast = open_session(image), open_session(image, level=Level.ALL)
        except RuntimeRefusal:
            return
        self.names = [port.name for port in session.outputs]
        for sample in make_feeds(image, session, FeedRequest(samples=2, seed=7)).samples:
            try:
                answer, other = (one.run(sample.values, self.names) for one in (session, fast))
            except RunFailure:
                continue
            self.inputs.append(sample.values)
            self.answers.append(answer)
            noise = {name: distance(answer[name], other[name]) for name in self.names}
            self.limits.append({name: max(LEAST, NOISE_TIMES * far) for name, far in noise.items()})

    def verdict(self, result: Path) -> str:
        """Right or wrong; unloadable, fails; not run when the source does not run here."""
        if not self.inputs:
            return "not run"
        try:
            session = open_session(image_of(result))
            answers = [session.run(values, self.names) for values in self.inputs]
        except RuntimeRefusal:
            return "unloadable"
        except RunFailure:
            return "fails"
        is_far = any(
            distance(mine[name], theirs[name]) > limits[name]
            for mine, theirs, limits in zip(self.answers, answers, self.limits, strict=True)
            for name in self.names
        )
        return "wrong" if is_far else "right"


def image_of(path: Path) -> ModelImage:
    """A file as a session loads it."""
    return ModelImage(data=path.read_bytes(), folder=str(path.parent.resolve()))


def distance(a: Array, b: Array) -> float:
    """Largest difference over the largest finite value; infinity for other shapes, types or NaN positions."""
    if isinstance(a, list):
        pairs = zip(a, b, strict=False)
        return max((distance(x, y) for x, y in pairs), default=0.0) if len(a) == len(b) else math.inf
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return math.inf
    if a.dtype.kind != "f":
        return 0.0 if np.array_equal(a, b) else math.inf
    finite = np.isfinite(a)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True) or not np.isfinite(b[finite]).all():
        return math.inf
    if not finite.any():
        return 0.0
    top = float(np.abs(a[finite]).max()) or 1.0
    return float(np.abs(a[finite].astype(float) - b[finite].astype(float)).max()) / top
