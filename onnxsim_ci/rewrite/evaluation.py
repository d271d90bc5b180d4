"""Values of constant nodes: from proven contents, from the runtime, from the reference evaluator.

House: rewrite. May import analysis, model and runtime.
Touch: `folding.py` decides what is evaluated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Graph, Node, Value, numpy_dtype
from onnxsim_ci.model.extract import ReadArray, extract
from onnxsim_ci.model.mutation import is_reused_inside


def evaluate(
    nodes: list[Node], wanted: list[Value], read: ReadArray, ir_version: int
) -> dict[Value, Any] | None:
    """Values from the runtime, optimisations off, else from the reference evaluator, else None."""
    from onnxsim_ci.runtime import ModelImage, RunFailure, RuntimeRefusal, reference_run, run_once

    cut = extract(nodes, wanted, read, ir_version)
    if cut is None:
        return None
    data, feeds, names = cut
    for run in (run_once, reference_run):
        try:
            results = run(ModelImage(data=data), feeds)
        except (RuntimeRefusal, RunFailure):
            continue
        return {v: _as_array(results[n]) for v, n in zip(wanted, names, strict=True)}
    return None


def _as_array(result: Any) -> Any:
    return np.asarray(result) if isinstance(result, (np.ndarray, np.generic)) else result


def known_array(facts: Facts, value: Value) -> np.ndarray[Any, Any] | None:
    """The elements of a value whose content is proven and all integers, in its element type."""
    content = facts.content(value)
    dtype = numpy_dtype(facts.dtype(value)) if facts.dtype(value) > 0 else None
    numbers = facts.known(value)
    if content is None or dtype is None or numbers is None:
        return None
    return (
        np.array(numbers, np.int64 if dtype.kind != "u" else dtype)
        .astype(dtype)
        .reshape((-1,) if content.rank else ())
    )


def may_hold(graph: Graph, value: Value, array: np.ndarray[Any, Any]) -> bool:
    """False where the constant would be refused: its name is used again inside, or a target has 0 and -1.

    The standard forbids 0 beside -1 in a Reshape with `allowzero`; runtimes see it only in a constant.
    """
    if is_reused_inside(graph, value):
        return False
    reshapes = [
        n for n in value.uses if n.op_type == "Reshape" and not n.domain and n.attribute("allowzero", 0)
    ]
    return not reshapes or not ((array == 0).any() and (array == -1).any())


def may_trap(node: Node, facts: Facts) -> bool:
    """Integer division by 0, or of the smallest integer by -1, ends the process in some kernels."""
    if node.op_type not in ("Div", "Mod") or len(node.inputs) != 2:
        return False
    divisor = node.inputs[1]
    if divisor is None or not divisor.is_constant:
        return True
    array = facts.array(divisor)
    return array is None or (array.dtype.kind in "iu" and bool(np.isin(array, (0, -1)).any()))
