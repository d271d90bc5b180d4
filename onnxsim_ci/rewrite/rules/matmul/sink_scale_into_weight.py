"""Move a constant factor down through moves and products into the weight of a linear operator.

(x * c) @ W = x @ (c * W): one number anywhere in the product that the operator reads, or one for each row of
the weight where no move lies between; BatchNormalization takes one number into scale and mean. The new weight
is the elementwise product in float64, rounded once. Declined when a value on the way has another reader, when
the weight is shared, and when a factor is 0 or a new number leaves the normal range.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/matmul/sink_scale_into_weight.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.absorbing import absorbed, is_inference
from onnxsim_ci.rewrite.contract import (
    Declined,
    Edit,
    Level,
    Lowers,
    NodeSpec,
    Operand,
    ResultClass,
    Rule,
    replace,
)
from onnxsim_ci.rewrite.scaling import MOVES, Factor, Path, factor_of, rebuilt

LONGEST = 8
"""Nodes looked at above a linear operator."""
NEAR = frozenset({"Mul", "Div", *MOVES})


def propose(node: Node, facts: Facts) -> Edit | Declined:
    data, weight = node.inputs[0], node.inputs[1]
    place = 1
    if node.op_type == "MatMul" and data is not None and data.is_constant:
        data, weight, place = weight, data, 0
    producer = None if data is None else data.producer
    if producer is None or data is None or weight is None or producer.op_type not in NEAR:
        return Declined("no factor stands before it")
    if node.op_type == "BatchNormalization" and not is_inference(node):
        return Declined("{0!r} is normalized in training", data)
    if not weight.is_constant:
        return Declined("the weight {0!r} is not a constant", weight)
    found = _found_above(node, data, place, facts)
    if found is None:
        return Declined("no constant factor stands above {0!r} alone", data)
    factor, path = found
    changed = absorbed(node, place, factor.numbers, facts)
    if changed is None:
        return Declined("a constant beside {0!r} is shared, or would leave the normal range", data)
    operands: list[Operand] = [changed.get(i, v) for i, v in enumerate(node.inputs)]
    operands[1 - place] = rebuilt(path, factor.kept)
    spec = NodeSpec(node.op_type, tuple(operands), like=node)
    return replace(node, spec, "a factor before a linear operator is a factor of its weight")


def _found_above(node: Node, data: Value, place: int, facts: Facts) -> tuple[Factor, Path] | None:
    """The factor that the operator may take over, and the nodes between."""
    stack: list[tuple[Value, bool, Path]] = [(data, True, ())]
    looked = 0
    while stack and looked < LONGEST:
        (value, is_aligned, path), looked = stack.pop(), looked + 1
        above = value.producer
        if above is None or above.op_type not in NEAR or not value.single_reader:
            continue
        if above.scope is not node.scope or above.domain or above.operator is None:
            continue
        if above.op_type in MOVES:
            stack += [(v, False, (*path, (above, 0))) for v in above.inputs[:1] if v is not None]
            continue
        factor = factor_of(above, facts)
        if factor is not None and (factor.is_moderate or not path):
            has_place = is_aligned and place == 1 and (value is data or facts.same_shape(value, data))
            if factor.is_scalar or (has_place and _fits(node, factor, facts)):
                return factor, path
            continue
        if above.inputs[0] is not above.inputs[1]:
            count = 2 if above.op_type == "Mul" else 1
            operands = [(v, is_aligned, (*path, (above, i))) for i, v in enumerate(above.inputs[:count]) if v]
            stack += reversed(operands)
    return None


def _fits(node: Node, factor: Factor, facts: Facts) -> bool:
    """True when there is one factor for each of the rows (channels) that the weight is summed over."""
    weight = node.inputs[1]
    shape = None if weight is None else facts.static_shape(weight)
    if shape is None or len(shape) < 2:
        return False
    numbers = factor.numbers
    if node.op_type in ("MatMul", "Gemm"):
        rows = shape[1] if node.attribute("transB", 0) else shape[0]
        return (
            len(shape) == 2
            and not node.attribute("transA", 0)
            and numbers.shape[-1:] == (rows,) == (numbers.size,)
        )
    channels = shape[0] if node.op_type == "ConvTranspose" else shape[1] * node.attribute("group", 1)
    rank = len(shape)
    aligned = (1,) * (rank - numbers.ndim) + numbers.shape
    return bool(aligned == (1, channels, *(1,) * (rank - 2)))


RULE = Rule(
    id="sink-scale-into-weight",
    family="matmul",
    roots=("MatMul", "Gemm", "Conv", "ConvTranspose", "BatchNormalization"),
    since_opset=7,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    hazards=frozenset({"large"}),
    propose=propose,
    looks_far=True,
)
