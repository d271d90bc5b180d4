"""Tensors of every element type, typed, raw, streamed or outside: the same elements and the same bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from onnxsim_ci import BadInput, optimize
from onnxsim_ci.model import Weights, element_type, numpy_dtype, stored_bytes, tensor_from_array
from onnxsim_ci.model.tensors import BITS
from onnxsim_ci.model.wire import mark_span

STRING = TensorProto.STRING
TYPES = sorted(set(TensorProto.DataType.values()) - {TensorProto.UNDEFINED})
STORED = [t for t in TYPES if t != STRING]
NAMES = {t: TensorProto.DataType.Name(t) for t in TYPES}
COMPLEX = (TensorProto.COMPLEX64, TensorProto.COMPLEX128)


def values(data_type: int, count: int) -> list[object]:
    """Numbers that every type can hold, not all equal."""
    if data_type == STRING:
        return [f"s{i}".encode() for i in range(count)]
    if data_type == TensorProto.FLOAT8E8M0:
        return [(1, 2, 4)[i % 3] for i in range(count)]
    return [i % 2 for i in range(count)]


def typed(data_type: int, count: int) -> TensorProto:
    return helper.make_tensor("t", data_type, [count], values(data_type, count))


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 8])
@pytest.mark.parametrize("data_type", STORED, ids=NAMES.get)
def test_all_ways_of_storing_a_tensor_read_the_same(data_type: int, count: int, tmp_path: Path) -> None:
    in_fields = typed(data_type, count)
    expected = numpy_helper.to_array(in_fields)
    raw = numpy_helper.from_array(expected, "t")
    assert raw.data_type == data_type
    assert len(raw.raw_data) == stored_bytes(data_type, [count])
    plain = Weights(b"", None)
    (tmp_path / "w.bin").write_bytes(b"front" + raw.raw_data)
    outside = TensorProto(name="t", data_type=data_type, dims=[count], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", "w.bin"), ("offset", "5"), ("length", str(len(raw.raw_data)))):
        outside.external_data.add(key=key, value=value)
    span = TensorProto(name="t", data_type=data_type, dims=[count])
    mark_span(span, 3, len(raw.raw_data))
    streamed = Weights(b"abc" + raw.raw_data, None)
    for weights, tensor in (
        (plain, in_fields),
        (plain, raw),
        (Weights(b"", tmp_path), outside),
        (streamed, span),
    ):
        array = weights.array(tensor)
        assert (array.dtype, array.shape) == (expected.dtype, (count,))
        assert array.tobytes() == expected.tobytes()
        assert bytes(weights.raw(tensor)) == raw.raw_data
        assert weights.nbytes(tensor) == len(raw.raw_data)


@pytest.mark.parametrize("data_type", STORED, ids=NAMES.get)
def test_arrays_become_tensors_of_their_type(data_type: int) -> None:
    dtype = numpy_dtype(data_type)
    assert dtype is not None
    assert element_type(dtype) == data_type
    array = numpy_helper.to_array(typed(data_type, 6)).reshape(2, 3)
    for form in (array, array.T):
        made = tensor_from_array(form, "t")
        assert (made.data_type, tuple(made.dims)) == (data_type, form.shape)
        back = numpy_helper.to_array(made)
        assert back.tobytes() == np.ascontiguousarray(form).tobytes()


def test_scalars_and_strings_become_tensors() -> None:
    assert list(tensor_from_array(np.array(3, np.int64), "t").dims) == []
    for array in (np.array(["a", "ü"]), np.array([b"a", "ü".encode()], object)):
        made = tensor_from_array(array, "t")
        assert (made.data_type, list(made.string_data)) == (STRING, [b"a", "ü".encode()])
    assert element_type(np.dtype(object)) == STRING


def test_unknown_types_have_no_dtype() -> None:
    assert numpy_dtype(999) is None
    assert stored_bytes(999, [4]) == 0
    assert stored_bytes(STRING, [4]) == 0


def test_narrow_types_are_all_known() -> None:
    narrow = {"INT4", "UINT4", "FLOAT4E2M1", "INT2", "UINT2", "FLOAT6E2M3", "FLOAT6E3M2"}
    assert {NAMES[t] for t in BITS} == narrow & set(NAMES.values())


@pytest.mark.parametrize("form", ["typed", "raw"])
@pytest.mark.parametrize("data_type", TYPES, ids=NAMES.get)
def test_initializers_of_every_type_pass_untouched(data_type: int, form: str) -> None:
    """An overridable initializer beside an edit; the runtime may have no kernel for its type."""
    tensor = typed(data_type, 4)
    if form == "raw" and data_type != STRING:
        tensor = numpy_helper.from_array(numpy_helper.to_array(tensor), "t")
    tensor.name = "t"
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["a"]), helper.make_node("Relu", ["a"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", 1, ["N"]), helper.make_tensor_value_info("t", data_type, [4])],
        [helper.make_tensor_value_info("y", 1, ["N"])],
        [tensor],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=13)
    result = optimize(model).model
    assert [n.op_type for n in result.graph.node] in (["Relu"], ["Identity", "Relu"])
    assert result.graph.initializer[0].SerializeToString() == tensor.SerializeToString()


@pytest.mark.parametrize("data_type", STORED, ids=NAMES.get)
def test_one_element_too_few_is_refused(data_type: int) -> None:
    tensor = numpy_helper.from_array(numpy_helper.to_array(typed(data_type, 8)), "t")
    tensor.dims[0] = 9
    if stored_bytes(data_type, [9]) == stored_bytes(data_type, [8]):
        tensor.dims[0] = 17
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", 1, ["N"])],
        [helper.make_tensor_value_info("y", 1, ["N"])],
        [tensor],
    )
    with pytest.raises(BadInput, match="declares"):
        optimize(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=13))
