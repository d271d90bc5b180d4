"""Leave out initial states of LSTM, GRU and RNN that are zero.

An absent state is zero of the right shape. Zero is proven for constants and for what is moved, cut, joined or
expanded out of zeros only. Declined for anything else, -0 included.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/recurrent/eliminate_zero_state.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule

MOVES = frozenset(
    {"Slice", "Expand", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Tile", "Identity", "Concat", "Split"}
)
MOST_NODES = 16
STATES = (5, 6)


def propose(node: Node, facts: Facts) -> Edit | Declined:
    zeros = [i for i in STATES if (v := node.input(i)) is not None and _is_zero(v, facts)]
    if not zeros:
        return Declined("no initial state is known to be zero")
    return Edit("an absent state is zero", rewire=tuple((node, index, None) for index in zeros))


def _is_zero(value: Value, facts: Facts) -> bool:
    """True when every element is +0, whatever the shape."""
    seen: set[Value] = set()
    stack = [value]
    while stack:
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        if value.is_constant:
            if not facts.is_filled(value, 0.0):
                return False
            continue
        node = facts.producer(value)
        if node is None or len(seen) > MOST_NODES:
            return False
        if node.op_type == "ConstantOfShape":
            if not _fills_zero(node, facts):
                return False
        elif node.op_type in MOVES:
            operands = node.inputs if node.op_type == "Concat" else node.inputs[:1]
            stack += [v for v in operands if v is not None]
        else:
            return False
    return True


def _fills_zero(node: Node, facts: Facts) -> bool:
    tensor = node.attribute("value")
    return tensor is None or not facts.weights.array(tensor).tobytes().strip(b"\0")


RULE = Rule(
    id="eliminate-zero-state",
    family="recurrent",
    roots=("LSTM", "GRU", "RNN"),
    since_opset=7,
    result=ResultClass.EXACT,
    lowers=Lowers.RANK,
    propose=propose,
    looks_far=True,
)
