"""Integers that come out of floats: when a flip is explained by the floats before it.

An arg-max, a Top-k, a rounding or a comparison turns floats that agree up to rounding into integers that
may not agree at all. A flip is explained when both models compute the integers from the same floats by the
same nodes, and those floats are the same within noise.

House: equivalence; onnx.
Touch: judging.Comparison asks here for every output whose exact values differ.
"""

from __future__ import annotations

import onnx

from onnxsim_ci.equivalence.cut import reads

_DISCRETISE = frozenset(
    [
        *("ArgMax", "ArgMin", "TopK", "Round", "Floor", "Ceil", "Cast", "Sign", "NonMaxSuppression"),
        *("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "QuantizeLinear", "IsNaN", "IsInf"),
    ]
)
_LONGEST = 64


def floats_before(source: onnx.ModelProto, result: onnx.ModelProto, output: str) -> tuple[str, ...] | None:
    """The values from which both models compute an output by the same nodes; None when they do not.

    The walk back stops at what the nearest discretising operators read, so the values returned are floats
    (or exact values that must then be equal).
    """
    mine, other = _chain(source, output), _chain(result, output)
    if mine is None or other is None or mine != other:
        return None
    return mine[1]


def _chain(model: onnx.ModelProto, output: str) -> tuple[tuple[bytes, ...], tuple[str, ...]] | None:
    """Nodes between the discretising operators and the output, serialized, and the values they start from."""
    producers = {name: node for node in model.graph.node for name in node.output if name}
    stored = {tensor.name: tensor for tensor in model.graph.initializer}
    nodes: dict[str, bytes] = {}
    before: list[str] = []
    todo, seen = [output], {output}
    while todo:
        node = producers.get(todo.pop())
        if node is None or node.output[0] in nodes:
            continue
        if len(nodes) == _LONGEST:
            return None
        nodes[node.output[0]] = _anonymous(node)
        for name in reads(node):
            constant = stored.get(name)
            if constant is not None:
                nodes[name] = constant.SerializeToString(deterministic=True)
            elif node.op_type in _DISCRETISE:
                before.append(name)
            elif name not in seen:
                seen.add(name)
                todo.append(name)
    return tuple(sorted(nodes.values())), tuple(sorted(set(before)))


def _anonymous(node: onnx.NodeProto) -> bytes:
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    copy.ClearField("name")
    copy.ClearField("doc_string")
    return bytes(copy.SerializeToString(deterministic=True))
