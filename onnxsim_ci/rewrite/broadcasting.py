"""Does an operand leave the shape of the other as it is?

House: rewrite. May import analysis and model.
Touch: nothing else.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value


def keeps_shape(facts: Facts, node: Node, kept: Value, other: Value) -> bool:
    """True when the result of the elementwise `node` has the shape of `kept` for every input.

    Either `other` is a single element of no higher rank, or both shapes are known and equal.
    """
    shape = facts.shape(other)
    if shape is not None and all(d == 1 for d in shape):
        if not shape:
            return True
        rank = facts.rank(kept)
        if rank is not None and len(shape) <= rank:
            return True
    result = node.outputs[0]
    return result is not None and facts.same_shape(kept, result)
