"""Small questions that many rules ask about a node's neighbourhood.

House: rewrite. May import analysis and model.
Touch: nothing else.
"""

from __future__ import annotations

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.dim import Dim
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import NodeSpec, Operand

AXES_ARE_INPUT = {"Squeeze": 13, "Unsqueeze": 13, "ReduceSum": 13}
"""Version from which `axes` is an input; 18 for the other reductions."""


def feeder(node: Node, index: int, *op_types: str) -> Node | None:
    """The node that computes input `index` of `node`, if it is a standard one of `op_types` in its scope.

    The same scope: a computation outside a Loop body must not be moved into it.
    """
    value = node.inputs[index] if index < len(node.inputs) else None
    if value is None:
        return None
    producer = value.producer
    if producer is None or producer.operator is None or producer.scope is not node.scope:
        return None
    if producer.domain or producer.op_type not in op_types:
        return None
    return producer


def only_reader(value: Value) -> Node | None:
    """The one node that reads `value`; None when there are others or the interface needs it."""
    return next(iter(value.uses)) if value.single_reader else None


def used_outputs(node: Node) -> tuple[int, ...]:
    """Indices of the outputs that something reads."""
    return tuple(i for i, v in enumerate(node.outputs) if v is not None and v.is_read)


def with_axes(node: Node, operand: Operand, axes: tuple[int, ...]) -> NodeSpec:
    """A node like `node` with other axes, given as its version takes them: by input or by attribute."""
    assert node.operator is not None
    if node.operator.since >= AXES_ARE_INPUT.get(node.op_type, 18):
        return NodeSpec(node.op_type, (operand, np.array(axes, np.int64)), like=node)
    return NodeSpec(node.op_type, (operand,), {"axes": axes}, like=node)


def target_elements(node: Node, facts: Facts) -> tuple[Dim, ...] | None:
    """Elements of a Reshape's target, or the sizes of its result where those are known; None for neither."""
    target, result = node.inputs[1], node.outputs[0]
    content = None if target is None else facts.content(target)
    shape = None if result is None else facts.shape(result)
    if content is None or content.rank != 1:
        return None
    known: list[Dim] = []
    for axis, element in enumerate(content.elements):
        size = shape[axis] if shape is not None and axis < len(shape) else None
        if isinstance(size, int) and size > 0 and not isinstance(element, int):
            known.append(size)
        elif element is None:
            return None
        else:
            known.append(element)
    return tuple(known)
