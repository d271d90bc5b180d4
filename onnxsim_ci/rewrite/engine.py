"""One run of the engine over one model.

House: rewrite. May import model.
Touch: `driver.py`.
"""

from __future__ import annotations

import gc

from onnx import ModelProto

from onnxsim_ci.model import Graph, Weights
from onnxsim_ci.rewrite.driver import Outcome, Run
from onnxsim_ci.rewrite.plan import Plan


def rewrite(graph: Graph, model: ModelProto, weights: Weights, plan: Plan) -> Outcome:
    """Simplify `model` in place, by way of its index `graph`.

    The cyclic garbage collector rests meanwhile: walking the index again and again doubles the time at 20,000
    nodes.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return Run(graph, model, weights, plan).run()
    finally:
        if was_enabled:
            gc.enable()
