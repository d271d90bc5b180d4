"""Elementwise nodes between Transposes of one order, and the same nodes without the Transposes.

House: rewrite. May import analysis and model.
Touch: the rule that moves Transposes below them.
"""

from __future__ import annotations

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import NodeSpec, Operand
from onnxsim_ci.rewrite.movement import permutation

UNARY = (
    *("Abs", "Cast", "Ceil", "Clip", "Cos", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish"),
    *(
        "LeakyRelu",
        "Log",
        "LogSoftmax",
        "Mish",
        "Neg",
        "Not",
        "Reciprocal",
        "Relu",
        "Round",
        "Selu",
        "Sigmoid",
    ),
    *("Sign", "Sin", "Softmax", "Softplus", "Softsign", "Sqrt", "Tanh"),
)
BROADCASTING = (
    *("Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Min", "Mul"),
    *("Or", "Pow", "Sub", "Sum", "Where", "Xor"),
)
ROOTS = (*UNARY, *BROADCASTING, "Concat")
WITH_AXIS = ("LogSoftmax", "Softmax", "Concat")
SOFTMAX_OF_ONE_AXIS = 13
MOST_NODES, LARGEST_CONSTANT = 16, 4096
Cone = tuple[dict[Node, None], dict[Node, None], tuple[int, ...]]


def cone_above(root: Node, facts: Facts) -> Cone | None:
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
        for value in data_operands(node):
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


def data_operands(node: Node) -> list[Value | None]:
    """The operands that are transposed with the result: not constants, not bounds of Clip."""
    return [
        v
        for v in (node.inputs[:1] if node.op_type in UNARY else node.inputs)
        if v is None or not v.is_constant
    ]


def dies_with(transpose: Node, nodes: dict[Node, None]) -> bool:
    """True when nothing but `nodes` reads the transposed value."""
    value = transpose.outputs[0]
    return value is not None and not value.pins and all(u in nodes for u in value.uses)


class Rebuilt:
    """The nodes of a cone on what its Transposes read, each made once."""

    def __init__(self, perm: tuple[int, ...], facts: Facts) -> None:
        self.perm, self.facts = perm, facts
        self.made: dict[Node, NodeSpec | None] = {}

    def node(self, node: Node) -> NodeSpec | None:
        """The counterpart of `node`; None when a constant of it cannot be transposed back."""
        if node not in self.made:
            data = data_operands(node)
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
