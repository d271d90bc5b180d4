"""Splits of very many parts: rules that look at all parts from each of them leave those alone."""

from __future__ import annotations

import numpy as np
import pytest
from one_rule import rewritten
from onnx import ModelProto, NodeProto, helper, numpy_helper

from onnxsim_ci.rewrite import Plan


def parts_of_a_product(count: int, readers: list[NodeProto]) -> ModelProto:
    """A MatMul with a constant, its columns one by one, and what reads them."""
    split = helper.make_node("Split", ["m"], [f"p{i}" for i in range(count)], axis=1, num_outputs=count)
    arrays = {
        "w": np.ones((3, count), np.float32),
        "c": np.array(2, np.float32),
        "target": np.array([0, 1, 1]),
    }
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["m"]), split, *readers],
        "parts",
        [helper.make_tensor_value_info("x", 1, ["N", 3])],
        [helper.make_tensor_value_info(node.output[0], 1, None) for node in readers],
        [numpy_helper.from_array(a, n) for n, a in arrays.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


@pytest.mark.parametrize(
    ("operands", "op_type", "rule", "most"),
    [
        (["c"], "Mul", "hoist-scale-into-weight", 64),
        (["target"], "Reshape", "merge-split-reshapes", 256),
    ],
)
def test_only_so_many_parts_are_looked_at(operands: list[str], op_type: str, rule: str, most: int) -> None:
    for count in (most, most + 1):
        readers = [helper.make_node(op_type, [f"p{i}", *operands], [f"y{i}"]) for i in range(count)]
        _, outcome = rewritten(parts_of_a_product(count, readers), Plan())
        assert (rule in outcome.journal.counts()) == (count == most)
