"""Canonical text: every kind of content has a line, order without meaning is sorted, nothing is opened."""

import hashlib
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from onnxsim_ci.errors import BadInput
from onnxsim_ci.model import canonical_text

HEADER = '<ir_version: 8, opset_import: ["" : 17, "my" : 1]>\n'


def model(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(HEADER + text)


def text_of(proto: onnx.ModelProto) -> str:
    return canonical_text(proto.SerializeToString())


def lines_of(proto: onnx.ModelProto) -> list[str]:
    return [line.strip() for line in text_of(proto).splitlines()]


def with_attribute(attribute: AttributeProto) -> onnx.ModelProto:
    built = model("g (float[1] x) => (float[1] y) { y = my.Op(x) }")
    built.graph.node[0].attribute.append(attribute)
    return built


def test_a_small_model_in_full() -> None:
    built = model(
        """g (float[N,3] x, seq(int64[2]) s) => (float["a b",?] y) <float[2] w = {1.5, -0.0}, int64 c = {-7}>
        { [first] h = Mul(x, w)  y = my.Op<beta = 2, alpha = 1.5>(h, , c) }"""
    )
    built.opset_import.sort(key=lambda o: o.domain, reverse=True)
    assert text_of(built) == (
        "model\n"
        "  ir_version 8\n"
        "  opset ai.onnx 17\n"
        "  opset my 1\n"
        "graph g\n"
        "  input x: float[N, 3]\n"
        "  input s: seq(int64[2])\n"
        '  output y: float["a b", ?]\n'
        "  initializer c: int64[] {-7}\n"
        "  initializer w: float[2] {1.5, -0.0}\n"
        "  node first: h = Mul(x, w)\n"
        "  node: y = my::Op(h, , c)\n"
        "    alpha = 1.5\n"
        "    beta = 2\n"
    )


def test_order_without_meaning_does_not_show() -> None:
    built = model(
        "g (float[2] x) => (float[2] y) <float[2] a = {1.0,2.0}, float[2] b = {3.0,4.0}> { y = Sum(x, a, b) }"
    )
    built.metadata_props.add(key="k2", value="v")
    built.metadata_props.add(key="k1", value="v")
    other = onnx.ModelProto()
    other.CopyFrom(built)
    for field in (other.graph.initializer, other.metadata_props, other.opset_import):
        field.reverse()
    assert other.SerializeToString() != built.SerializeToString()
    assert text_of(other) == text_of(built)


def test_raw_and_typed_storage_read_the_same() -> None:
    built = model("g (float[20] x) => (float[20] y) { y = Add(x, w) }")
    numbers = np.arange(20, dtype=np.float32)
    raw, typed = onnx.ModelProto(), onnx.ModelProto()
    raw.CopyFrom(built)
    typed.CopyFrom(built)
    raw.graph.initializer.append(numpy_helper.from_array(numbers, "w"))
    typed.graph.initializer.append(helper.make_tensor("w", TensorProto.FLOAT, [20], numbers.tolist()))
    assert text_of(raw) == text_of(typed)
    assert f"initializer w: float[20] sha256:{hashlib.sha256(numbers.tobytes()).hexdigest()}" in text_of(raw)


def test_sixteen_elements_are_shown_and_seventeen_are_not() -> None:
    for count, shown in ((16, True), (17, False)):
        built = with_attribute(
            helper.make_attribute("t", numpy_helper.from_array(np.zeros(count, np.int8), "t"))
        )
        assert ("sha256" not in text_of(built)) is shown


def test_large_weights_of_a_file_are_digested(tmp_path: Path) -> None:
    built = model("g (float[2000000] x) => (float[2000000] y) { y = Add(x, w) }")
    numbers = np.arange(2_000_000, dtype=np.float32)
    built.graph.initializer.append(numpy_helper.from_array(numbers, "w"))
    onnx.save(built, tmp_path / "m.onnx")
    assert f"float[2000000] sha256:{hashlib.sha256(numbers.tobytes()).hexdigest()}" in canonical_text(
        tmp_path / "m.onnx"
    )


def test_external_data_is_named_and_not_opened(tmp_path: Path) -> None:
    built = model("g (float[4] x) => (float[4] y) { y = Add(x, w) }")
    tensor = built.graph.initializer.add(name="w", data_type=1, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", "../secret"), ("offset", "4096"), ("length", "16"), ("checksum", "ab")):
        tensor.external_data.add(key=key, value=value)
    (tmp_path / "m.onnx").write_bytes(built.SerializeToString())
    assert (
        'initializer w: float[4] external(location="../secret", offset="4096", length="16", checksum="ab")'
        in canonical_text(tmp_path / "m.onnx")
    )


ATTRIBUTES = {
    "a = 0.1": helper.make_attribute("a", 0.1),
    "a = nan": helper.make_attribute("a", float("nan")),
    "a = -inf": helper.make_attribute("a", float("-inf")),
    "a = -3": helper.make_attribute("a", -3),
    r'a = "q\"\\\n\x1b"': helper.make_attribute("a", b'q"\\\n\x1b'.replace(b"\x1b", b"\xff")),
    "a = [0.1, -0.0]": helper.make_attribute("a", [0.1, -0.0]),
    "a = [1, 2]": helper.make_attribute("a", [1, 2]),
    'a = ["x", "ü"]': helper.make_attribute("a", ["x", "ü"]),
    "a = int8[2] {1, 2}": helper.make_attribute("a", numpy_helper.from_array(np.array([1, 2], np.int8))),
    'a = [bool[] {true}, string[1] {"s"}]': helper.make_attribute(
        "a",
        [numpy_helper.from_array(np.array(True)), helper.make_tensor("", TensorProto.STRING, [1], [b"s"])],
    ),
    "a = type seq(map(int64, float[2]))": helper.make_attribute(
        "a",
        helper.make_sequence_type_proto(helper.make_map_type_proto(7, helper.make_tensor_type_proto(1, [2]))),
    ),
    "a = [type optional(float)]": helper.make_attribute(
        "a", [helper.make_optional_type_proto(helper.make_tensor_type_proto(1, None))]
    ),
    "a = sparse[5] values float[1] {2.5} indices int64[1] {3}": helper.make_attribute(
        "a",
        helper.make_sparse_tensor(
            numpy_helper.from_array(np.array([2.5], np.float32)), numpy_helper.from_array(np.array([3])), [5]
        ),
    ),
    "a = []": helper.make_attribute("a", [], attr_type=AttributeProto.INTS),
    "a = @outer": AttributeProto(name="a", ref_attr_name="outer", type=AttributeProto.INT),
    "a = nothing of kind 0": AttributeProto(name="a"),
}
ATTRIBUTES[r'a = "q\"\\\n\xff"'] = ATTRIBUTES.pop(r'a = "q\"\\\n\x1b"')


@pytest.mark.parametrize("expected", ATTRIBUTES)
def test_every_kind_of_attribute(expected: str) -> None:
    assert expected in lines_of(with_attribute(ATTRIBUTES[expected]))


def test_an_attribute_without_kind_reads_by_its_content() -> None:
    old = helper.make_attribute("a", [1, 2])
    old.ClearField("type")
    assert "a = [1, 2]" in lines_of(with_attribute(old))


def test_every_kind_of_attribute_is_known() -> None:
    from onnxsim_ci.model.text import SHORT

    graphs = {AttributeProto.UNDEFINED, AttributeProto.GRAPH, AttributeProto.GRAPHS}
    assert set(SHORT) == set(AttributeProto.AttributeType.values()) - graphs


def test_long_lists_and_texts_show_their_length_and_digest() -> None:
    assert "a = [65 items sha256:" in text_of(with_attribute(helper.make_attribute("a", [1] * 65)))
    assert "a = string of 5000 bytes sha256:" in text_of(
        with_attribute(helper.make_attribute("a", b"x" * 5000))
    )


def test_control_characters_of_a_hostile_file_are_escaped() -> None:
    built = model("g (float[1] x) => (float[1] y) { y = Relu(x) }")
    built.graph.node[0].name = "a\x1b[31m\nb\u202e"
    built.doc_string = "red \x1b[31m\r"
    shown = text_of(built)
    assert '"a\\u001b[31m\\nb\\u202e"' in shown
    assert not any(ord(c) < 32 and c != "\n" for c in shown)


def test_nan_payloads_differ() -> None:
    quiet, odd = np.array([0x7FC00000], np.uint32), np.array([0x7FC00001], np.uint32)
    first, second = (
        text_of(with_attribute(helper.make_attribute("t", numpy_helper.from_array(bits.view(np.float32)))))
        for bits in (quiet, odd)
    )
    assert "{nan}" in first
    assert "nan(0x7fc00001)" in second


@pytest.mark.parametrize("data_type", sorted(set(TensorProto.DataType.values()) - {0}))
def test_elements_of_every_type_are_shown(data_type: int) -> None:
    numbers = ["a", "b"] if data_type == TensorProto.STRING else [1, 0]
    tensor = helper.make_tensor("t", data_type, [2], numbers)
    built = with_attribute(helper.make_attribute("a", tensor))
    line = next(line for line in lines_of(built) if line.startswith("a = "))
    name = TensorProto.DataType.Name(data_type).lower()
    assert line.startswith(f"a = {name}[2] {{")
    assert "sha256" not in line


def test_tensors_that_lie_about_their_size_are_shown_as_such() -> None:
    built = model("g (float[4] x) => (float[4] y) { y = Add(x, w) }")
    built.graph.initializer.add(name="w", data_type=1, dims=[4], raw_data=b"123")
    assert "(of a tensor that does not fit its type)" in text_of(built)
    built.graph.initializer[0].data_type = 999
    assert "type<999>[4] sha256:" in text_of(built)


def test_doc_strings_metadata_and_denotations_of_all_levels() -> None:
    built = model("g (float[N] x) => (float[N] y) <float[1] w = {1.0}> { y = Add(x, w) }")
    for number, part in enumerate(
        (built, built.graph, built.graph.input[0], built.graph.node[0], built.graph.initializer[0])
    ):
        part.doc_string = f"doc {number}\nsecond"
        part.metadata_props.add(key="key", value=f"value {number}")
    built.graph.input[0].type.denotation = "IMAGE"
    built.graph.input[0].type.tensor_type.shape.dim[0].denotation = "DATA_BATCH"
    built.producer_name, built.model_version, built.domain = "me", 3, "org"
    shown = lines_of(built)
    for number in range(5):
        assert f"| doc {number}" in shown
        assert f'metadata key = "value {number}"' in shown
    assert 'input x: float[N as "DATA_BATCH"] as "IMAGE"' in shown
    assert {'producer_name "me"', "model_version 3", 'domain "org"'} <= set(shown)


def test_functions_with_required_and_default_attributes_and_overloads() -> None:
    built = model(
        """g (float[N] x) => (float[N] y) { y = my.Twice<k = 2.0>(x) }
        <domain: "my", opset_import: ["" : 17]> Twice <must, k: float = 1.5> (a) => (b)
        { b = Elu<alpha: float = @k>(a) }"""
    )
    built.functions[0].overload = "v2"
    built.functions[0].value_info.append(helper.make_tensor_value_info("b", 1, ["N"]))
    shown = text_of(built)
    assert (
        "function my::Twice:v2\n"
        "  opset ai.onnx 17\n"
        "  inputs a\n"
        "  outputs b\n"
        "  attribute must\n"
        "  attribute k = 1.5\n"
        "  value b: float[N]\n"
        "  node: b = Elu(a)\n"
        "    alpha = @k\n"
    ) in shown


def test_bodies_stand_below_their_node() -> None:
    built = model(
        """g (bool c, float[N] x) => (float[N] y) {
        y = If(c) <then_branch = t () => (float[N] a) { a = Relu(x) },
        else_branch = e () => (float[N] b) { b = Abs(x) }> }"""
    )
    assert (
        "  node: y = If(c)\n"
        "    else_branch = graphs\n"
        "      graph e\n"
        "        output b: float[N]\n"
        "        node: b = Abs(x)\n"
        "    then_branch = graphs\n"
    ) in text_of(built)


def test_sparse_initializers_annotations_training_and_unknown_fields() -> None:
    built = model("g (float[N] x) => (float[N] y) { y = Relu(x) }")
    built.graph.sparse_initializer.append(
        helper.make_sparse_tensor(
            numpy_helper.from_array(np.array([2.5], np.float32), "sp"),
            numpy_helper.from_array(np.array([3])),
            [5],
        )
    )
    annotation = built.graph.quantization_annotation.add(tensor_name="x")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="s")
    training = built.training_info.add()
    training.algorithm.name = "step"
    training.update_binding.add(key="w", value="w_new")
    strange = onnx.ModelProto.FromString(built.SerializeToString() + b"\xfa\x3f\x02hi")
    shown = lines_of(strange)
    assert "initializer sp: sparse[5] values float[1] {2.5} indices int64[1] {3}" in shown
    assert "annotation x: SCALE_TENSOR=s" in shown
    assert 'update_binding w = "w_new"' in shown
    assert "unknown fields 1023" in shown


def test_device_configurations_are_shown() -> None:
    built = model("g (float[N] x) => (float[N] y) { y = Relu(x) }")
    if not hasattr(built, "configuration"):
        pytest.skip("this onnx knows no device configurations")
    built.configuration.add(name="two", num_devices=2, device=["a", "b"])
    sharding = built.graph.node[0].device_configurations.add(configuration_id="two").sharding_spec.add()
    sharding.tensor_name = "x"
    shown = lines_of(built)
    assert 'configuration {name: "two", num_devices: 2, device: ["a", "b"]}' in shown
    assert 'device {configuration_id: "two", sharding_spec: [{tensor_name: "x"}]}' in shown


def test_broken_and_future_models_are_shown() -> None:
    built = model("g (float[N] x) => (float[N] y) { y = Relu(nowhere) }")
    built.ir_version = 999
    assert "node: y = Relu(nowhere)" in lines_of(built)


def test_an_lfs_pointer_is_printed_as_it_is(tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n"
    (tmp_path / "m.onnx").write_text(pointer)
    assert canonical_text(tmp_path / "m.onnx") == pointer
    assert canonical_text(pointer.encode()) == pointer


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xff\xff"])
def test_what_is_no_model_is_refused(content: bytes) -> None:
    with pytest.raises(BadInput):
        canonical_text(content)
