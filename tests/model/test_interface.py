"""What counts as the interface of a model, and that each part of it is noticed when it changes."""

from collections.abc import Callable

import numpy as np
import pytest
from onnx import ModelProto, helper, numpy_helper
from onnx_text import parse

from onnxsim_ci.model import interface_difference, interface_of


def model() -> ModelProto:
    built = parse(
        "g (float[N,3] x, float[3] w) => (float[N,3] y, float[N,3] z) { y = Add(x, w)  z = Neg(y) }"
    )
    built.graph.initializer.append(numpy_helper.from_array(np.ones(3, np.float32), "w"))
    built.metadata_props.add(key="k", value="v")
    return built


def _reverse_outputs(m: ModelProto) -> None:
    m.graph.output.reverse()


CHANGES: dict[str, Callable[[ModelProto], object]] = {
    "input name": lambda m: setattr(m.graph.input[0], "name", "other"),
    "input type": lambda m: setattr(m.graph.input[0].type.tensor_type, "elem_type", 7),
    "input dim": lambda m: setattr(m.graph.input[0].type.tensor_type.shape.dim[0], "dim_value", 2),
    "input symbol": lambda m: setattr(m.graph.input[0].type.tensor_type.shape.dim[0], "dim_param", "M"),
    "input denotation": lambda m: setattr(m.graph.input[0].type, "denotation", "IMAGE"),
    "input gone": lambda m: m.graph.input.pop(0),
    "output gone": lambda m: m.graph.output.pop(),
    "output order": _reverse_outputs,
    "output doc": lambda m: setattr(m.graph.output[0], "doc_string", "d"),
    "overridable weight": lambda m: m.graph.input.pop(),
    "opset": lambda m: setattr(m.opset_import[0], "version", 18),
    "producer": lambda m: setattr(m, "producer_name", "p"),
    "model version": lambda m: setattr(m, "model_version", 2),
    "metadata": lambda m: m.metadata_props.add(key="k", value="v"),
    "graph name": lambda m: setattr(m.graph, "name", "h"),
    "graph doc": lambda m: setattr(m.graph, "doc_string", "d"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_part_is_noticed(name: str) -> None:
    source, result = model(), model()
    CHANGES[name](result)
    sentence = interface_difference(interface_of(source), interface_of(result))
    assert sentence is not None
    assert sentence.startswith("the model's ")


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.graph.value_info.append(helper.make_tensor_value_info("y", 1, [1])),
        lambda m: setattr(m.graph.node[0], "name", "n"),
        lambda m: setattr(m, "ir_version", 11),
        lambda m: setattr(m.opset_import[0], "domain", "ai.onnx"),
    ],
)
def test_what_users_do_not_see_is_no_interface(change: Callable[[ModelProto], object]) -> None:
    source, result = model(), model()
    change(result)
    assert interface_difference(interface_of(source), interface_of(result)) is None


def test_before_ir_4_weights_in_the_input_list_are_no_inputs() -> None:
    early, late = model(), model()
    early.ir_version = 3
    assert interface_of(early).overridable == ()
    assert interface_of(late).overridable == ("w",)
    assert len(interface_of(early).inputs) == 1
