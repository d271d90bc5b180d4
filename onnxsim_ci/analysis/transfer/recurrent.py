"""Shapes of the recurrent operators.

House: analysis/transfer. May import analysis and model.
Touch: the tables of `transfer/__init__.py`; tests/analysis/transfer_cases.toml.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnxsim_ci.analysis.dim import Shape
from onnxsim_ci.analysis.transfer.reading import ShapesFunction, shape_at

if TYPE_CHECKING:
    from onnxsim_ci.analysis.facts import Facts
    from onnxsim_ci.model import Node


def _recurrent(node: Node, facts: Facts) -> list[Shape | None] | None:
    """All steps, the last hidden state, the last cell state; the hidden size is the last dim of R.

    Source: ONNX operators RNN, GRU, LSTM; `layout` 1 (version 14) has the batch first.
    """
    x, recurrence = shape_at(node, facts, 0), shape_at(node, facts, 2)
    if x is None or len(x) != 3 or recurrence is None or len(recurrence) != 3:
        return None
    directions: int = 2 if node.attribute("direction", "forward") == "bidirectional" else 1
    hidden = recurrence[2]
    if node.attribute("layout", 0):
        batch, steps = x[0], x[1]
        last: Shape = (batch, directions, hidden)
        return [(batch, steps, directions, hidden), last, last]
    steps, batch = x[0], x[1]
    last = (directions, batch, hidden)
    return [(steps, directions, batch, hidden), last, last]


OUTPUT_SHAPES: dict[str, ShapesFunction] = {"GRU": _recurrent, "LSTM": _recurrent, "RNN": _recurrent}
