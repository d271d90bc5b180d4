"""Operators that draw random numbers: found, and seeded by name in throw-away copies.

Two models with the same random node draw the same numbers when both are seeded by that node's name; a
node is known by its first output, because rewrites keep value names and node names may be empty.

House: equivalence; onnx.
Touch: digest.py keeps the names of these operators; rewrite never merges them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import onnx

from onnxsim_ci.equivalence.weights import graphs_of

RANDOM_OPERATORS = frozenset(
    ["Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"]
)
_SEEDS = 1_000_003  # below 2**24: exact as a float attribute


def random_nodes(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    """Random nodes of all scopes and of local functions."""
    for graph in graphs_of(model.graph):
        yield from (node for node in graph.node if is_random(node))
    for function in model.functions:
        yield from (node for node in function.node if is_random(node))


def has_random_nodes(model: onnx.ModelProto) -> bool:
    """True when two runs of the model may differ by design."""
    return next(random_nodes(model), None) is not None


def is_random(node: onnx.NodeProto) -> bool:
    """True for random generators, and for Dropout that may be in training mode."""
    if node.domain not in ("", "ai.onnx"):
        return False
    return node.op_type in RANDOM_OPERATORS or (node.op_type == "Dropout" and len(node.input) > 2)


def seeded(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy in which every random node has a seed made of its first output's name."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for node in random_nodes(copy):
        number = zlib.crc32(node.output[0].encode()) % _SEEDS
        for index, attribute in enumerate(node.attribute):
            if attribute.name == "seed":
                del node.attribute[index]
                break
        if node.op_type == "Dropout":
            node.attribute.add(name="seed", type=onnx.AttributeProto.INT, i=number)
        else:
            node.attribute.add(name="seed", type=onnx.AttributeProto.FLOAT, f=float(number))
    return copy
