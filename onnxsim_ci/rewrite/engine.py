"""One run of the engine over one model.

House: rewrite. May import model.
Touch: `driver.py`.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from onnx import ModelProto

from onnxsim_ci.model import Graph, Weights
from onnxsim_ci.rewrite.contract import Rule
from onnxsim_ci.rewrite.driver import Run
from onnxsim_ci.rewrite.outcome import Outcome
from onnxsim_ci.rewrite.plan import Plan


def rewrite(
    graph: Graph, model: ModelProto, weights: Weights, plan: Plan, rules: Sequence[Rule] | None = None
) -> Outcome:
    """Simplify `model` in place, by way of its index `graph`; `rules` stand in for the catalogue."""
    with resting_collector():
        return Run(graph, model, weights, plan, rules).run()


@contextmanager
def resting_collector() -> Iterator[None]:
    """Keep the cyclic garbage collector off: its walks over the index double the time at 20,000 nodes."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
