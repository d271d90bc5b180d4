"""Compute element by element first and transpose the result once, instead of transposing the operands.

All operands that are not constant come through Transposes of one order, perhaps through other elementwise
operators that nothing else reads. Constants that broadcast are transposed back, axes of Softmax and Concat
are renumbered. A kernel may round the last elements of its rows otherwise, so the class is ROUNDING.
Declined when fewer nodes do not come of it.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/layout/sink_transposes.md; then `make docs`.
"""

from __future__ import annotations

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, Edit, Level, Lowers, NodeSpec, Operand, ResultClass, Rule
from onnxsim_ci.rewrite.contract import replace as replaced
from onnxsim_ci.rewrite.movement import permutation, reader_as_data

UNARY = (
    *("Abs", "Cast", "Ceil", "Clip", "Cos", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish"),
    *("LeakyRelu", "Log", "LogSoftmax", "Mish", "Neg", "Not", "Reciprocal", "Relu", "Round", "Selu"),
    *("Sigmoid", "Sign", "Sin", "Softmax", "Softplus", "Softsign", "Sqrt", "Tanh"),
)
BROADCASTING = (
    *("Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Min", "Mul"),
    *("Or", "Pow", "Sub", "Sum", "Where", "Xor"),
)
ROOTS = (*UNARY, *BROADCASTING, "Concat")
ON_THE_WAY = frozenset({*ROOTS, "Transpose"})
WITH_AXIS = ("LogSoftmax", "Softmax", "Concat")
SOFTMAX_OF_ONE_AXIS = 13
MOST_NODES, LARGEST_CONSTANT = 16, 4096
Cone = tuple[dict[Node, None], dict[Node, None], tuple[int, ...]]


def propose(node: Node, facts: Facts) -> Edit | Declined:
    for value in node.inputs:
        producer = None if value is None else value.producer
        if value is None or producer is None or value.is_constant:
            continue
        if producer.op_type not in ON_THE_WAY:
            return Declined("the operands do not all come through Transposes of one order")
    found = _cone(node, facts)
    result = node.outputs[0]
    if found is None or result is None:
        return Declined("the operands do not all come through Transposes of one order")
    nodes, transposes, perm = found
    inner = [v for n in nodes if n is not node for v in n.outputs if v is not None]
    if any(v.pins or any(u not in nodes for u in v.uses) for v in inner):
        return Declined("a value between has another reader")
    saved = sum(1 for t in transposes if _dies(t, nodes))
    last = reader_as_data(result, "Transpose")
    after = None if last is None else permutation(last, facts)
    order = perm if after is None else tuple(perm[a] for a in after)
    is_undone = after is not None and order == tuple(range(len(order)))
    if saved + int(is_undone) < (1 if after is not None else 2):
        return Declined("it would save no Transpose")
    spec = _Rebuilt(perm, facts).node(node)
    if spec is None:
        return Declined("a constant is too large, or has more axes than the result")
    made: Operand = spec if is_undone else NodeSpec("Transpose", (spec,), {"perm": order}, like=last)
    return replaced(
        node if last is None else last, made, "transposing the result once moves the same elements"
    )


def _cone(root: Node, facts: Facts) -> Cone | None:
    """The elementwise nodes above `root`, the Transposes that they read, and their one order."""
    nodes: dict[Node, None] = {}
    transposes: dict[Node, None] = {}
    perm: tuple[int, ...] | None = None
    stack = [root]
    while stack:
        node = stack.pop()
        if node in nodes:
            continue
        nodes[node] = None
        if len(nodes) > MOST_NODES or not _is_plain(node):
            return None
        for value in _data(node):
            producer = facts.producer(value)
            if value is None or producer is None or producer.scope is not root.scope:
                return None
            if producer.op_type != "Transpose":
                if producer.op_type not in ROOTS:
                    return None
                stack.append(producer)
                continue
            own = permutation(producer, facts)
            if own is None or perm not in (None, own):
                return None
            transposes[producer], perm = None, own
    return None if perm is None else (nodes, transposes, perm)


def _is_plain(node: Node) -> bool:
    """Softmax flattens to two axes below opset 13."""
    operator = node.operator
    return (
        operator is not None
        and not node.domain
        and (
            node.op_type not in UNARY
            or node.op_type not in WITH_AXIS
            or operator.since >= SOFTMAX_OF_ONE_AXIS
        )
    )


def _data(node: Node) -> list[Value | None]:
    """The operands that are transposed with the result: not constants, not bounds of Clip."""
    return [
        v
        for v in (node.inputs[:1] if node.op_type in UNARY else node.inputs)
        if v is None or not v.is_constant
    ]


def _dies(transpose: Node, nodes: dict[Node, None]) -> bool:
    value = transpose.outputs[0]
    return value is not None and not value.pins and all(u in nodes for u in value.uses)


class _Rebuilt:
    """The nodes of a cone on what its Transposes read, each made once."""

    def __init__(self, perm: tuple[int, ...], facts: Facts) -> None:
        self.perm, self.facts = perm, facts
        self.made: dict[Node, NodeSpec | None] = {}

    def node(self, node: Node) -> NodeSpec | None:
        """The counterpart of `node`; None when a constant of it cannot be transposed back."""
        if node not in self.made:
            data = _data(node)
            operands = [
                self.operand(node, v) if v in data or node.op_type not in UNARY else v for v in node.inputs
            ]
            attributes = {}
            if node.op_type in WITH_AXIS:
                attributes["axis"] = self.perm[node.attribute("axis", -1) % len(self.perm)]
            is_whole = all(o is not None or v is None for o, v in zip(operands, node.inputs, strict=True))
            spec = NodeSpec(node.op_type, tuple(operands), attributes, like=node)
            self.made[node] = spec if is_whole else None
        return self.made[node]

    def operand(self, node: Node, value: Value | None) -> Operand | None:
        """What the counterpart of `node` reads instead of `value`."""
        producer = None if value is None else value.producer
        if value is None:
            return None
        if value.is_constant:
            return self.constant(value, is_joined=node.op_type == "Concat")
        if producer is None:
            return None
        return producer.inputs[0] if producer.op_type == "Transpose" else self.node(producer)

    def constant(self, value: Value, *, is_joined: bool) -> Operand | None:
        """A constant transposed back; one element needs no axes, except to be joined."""
        array = self.facts.array(value, LARGEST_CONSTANT)
        if array is None or array.ndim > len(self.perm):
            return None
        if array.size == 1 and not is_joined:
            return value
        wide = array.reshape((1,) * (len(self.perm) - array.ndim) + array.shape)
        return np.ascontiguousarray(wide.transpose(np.argsort(self.perm)))


RULE = Rule(
    id="sink-transposes",
    family="layout",
    roots=ROOTS,
    since_opset=7,
    result=ResultClass.ROUNDING,
    level=Level.FUSION,
    lowers=Lowers.NODES,
    propose=propose,
    looks_far=True,
)
