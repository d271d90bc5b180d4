"""The light form holds what a whole parse holds and goes back to it; odd bytes are parsed whole."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
import random_graphs
from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto, helper, numpy_helper

from onnxsim_ci.model import Weights, filled, load, serialized, serialized_bytes, wire
from onnxsim_ci.model.borrow import borrow
from onnxsim_ci.model.wire import mark_span, parse_light, read_varint, span_of, write_varint

GRAPH, INITIALIZER, RAW = 0x3A, 0x2A, 0x4A


@pytest.fixture(autouse=True)
def _small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every model is read in the light form, and each initializer over 16 bytes stays in the source."""
    monkeypatch.setattr(wire, "LIGHT_FROM_BYTES", 0)
    monkeypatch.setattr(wire, "SPAN_FROM_BYTES", 16)


def field(tag: int, content: bytes) -> bytes:
    return bytes([tag]) + write_varint(len(content)) + content


def tensor(name: str = "w", count: int = 40) -> TensorProto:
    return numpy_helper.from_array(np.arange(count, dtype=np.float32) + 0.5, name)


def model(*initializers: TensorProto) -> ModelProto:
    built = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]>\ng (float[40] x) => (float[40] y) { y = Relu(x) }'
    )
    built.graph.initializer.extend(initializers)
    return built


def check(data: bytes) -> int:
    """Compare with a whole parse, both ways; the number of weights that stayed in the source."""
    whole = ModelProto.FromString(data)
    light = parse_light(data)
    weights = Weights(data, None)
    assert filled(light, weights) == whole
    back = b"".join(bytes(piece) for piece in serialized(light, weights))
    assert ModelProto.FromString(back) == whole
    assert len(back) == serialized_bytes(light)
    return sum(span_of(t) is not None for t in light.graph.initializer)


def test_large_weights_stay_and_small_ones_come_along() -> None:
    assert check(model(tensor("a"), tensor("b", 1), tensor("c")).SerializeToString()) == 2


@pytest.mark.parametrize("seed", range(40))
def test_random_models_read_the_same(seed: int) -> None:
    made = random_graphs.make(seed)
    if made is not None:
        made.graph.initializer.extend([tensor("extra 1"), tensor("extra 2", 7)])
        made.metadata_props.add(key="k", value="v")
        check(made.SerializeToString())


def test_a_mapped_file_reads_as_its_bytes(tmp_path: Path) -> None:
    data = model(tensor()).SerializeToString()
    (tmp_path / "m").write_bytes(data)
    with (tmp_path / "m").open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    assert parse_light(mapped) == parse_light(data)


def test_fields_behind_the_data_and_unknown_ones_are_kept() -> None:
    head = tensor()
    raw = head.raw_data
    head.ClearField("raw_data")
    body = field(RAW, raw) + head.SerializeToString() + b"\xfa\x3f\x02hi"
    graph = model().graph.SerializeToString() + field(INITIALIZER, body) + b"\xf8\x3f\x07"
    data = b"\x08\x08" + field(GRAPH, graph) + b"\xfa\x3f\x02yo"
    assert check(data) == 1


def test_an_explicit_default_location_is_kept() -> None:
    explicit = tensor()
    explicit.data_location = TensorProto.DEFAULT
    assert check(model(explicit).SerializeToString()) == 1


def test_doc_strings_and_metadata_of_a_streamed_tensor_are_kept() -> None:
    noted = tensor()
    noted.doc_string = "doc"
    noted.metadata_props.add(key="k", value="v")
    assert check(model(noted).SerializeToString()) == 1


def _typed() -> TensorProto:
    return helper.make_tensor("w", TensorProto.FLOAT, [40], [0.5] * 40)


def _external() -> TensorProto:
    made = TensorProto(name="w", data_type=1, dims=[40], data_location=TensorProto.EXTERNAL)
    made.external_data.add(key="location", value="a file name of some length")
    return made


def _long_head() -> TensorProto:
    made = tensor()
    made.doc_string = "d" * 5000
    return made


@pytest.mark.parametrize("make", [_typed, _external, _long_head])
def test_tensors_that_are_no_plain_raw_data_come_along(make: object) -> None:
    assert check(model(make()).SerializeToString()) == 0  # type: ignore[operator]


def _odd() -> Iterator[tuple[str, bytes]]:
    plain = model(tensor())
    data = plain.SerializeToString()
    other = ModelProto()
    other.graph.initializer.append(tensor("v"))
    yield "two graph fields", data + other.SerializeToString()
    half = tensor()
    raw = half.raw_data
    half.ClearField("raw_data")
    pieces = field(RAW, raw[:80]) + half.SerializeToString() + field(RAW, raw)
    graph = plain.graph.SerializeToString()
    yield "raw data twice", b"\x08\x08" + field(GRAPH, graph + field(INITIALIZER, pieces))
    group = b"\xfb\x3f\x08\x01\xfc\x3f"
    yield "a group in the model", data + group
    yield "a group in the graph", b"\x08\x08" + field(GRAPH, graph + group)
    grouped = field(INITIALIZER, tensor("g").SerializeToString() + group)
    yield "a group in a tensor", b"\x08\x08" + field(GRAPH, graph + grouped)
    long_form = b"\xba\x00" + field(GRAPH, graph)[1:]
    yield "a tag in long form", b"\x08\x08" + long_form
    size = len(graph)
    padded = bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14 | 128, 0])
    yield "a length in long form", b"\x08\x08" + bytes([GRAPH]) + padded + graph


ODD = dict(_odd())


@pytest.mark.parametrize("name", ODD)
def test_odd_wire_reads_as_protobuf_reads_it(name: str) -> None:
    check(ODD[name])


@pytest.mark.parametrize("size", [0, 1, 127, 128, 300, 2**31, 2**63, 2**64 - 1])
def test_varints_go_both_ways(size: int) -> None:
    assert read_varint(write_varint(size), 0) == (size, len(write_varint(size)))


def test_varints_that_do_not_end() -> None:
    with pytest.raises(IndexError):
        read_varint(b"\xff\xff", 0)
    with pytest.raises(wire.OddWireError):
        read_varint(b"\xff" * 12, 0)


def test_a_model_cannot_claim_to_be_a_span() -> None:
    """The location of spans has a part that is made anew in each process."""
    hostile = model()
    mark_span(hostile.graph.initializer.add(name="w", data_type=1, dims=[4]), -100, 16)
    data = hostile.SerializeToString().replace(wire.INLINE.encode(), b"\0" + b"0" * (len(wire.INLINE) - 1))
    (found,) = parse_light(data).graph.initializer
    assert span_of(found) is None


# ---- fuzzed bytes

SEEDS = [
    model(tensor(), tensor("v", 3)).SerializeToString(),
    *ODD.values(),
    *(m.SerializeToString() for n in (3, 11) if (m := random_graphs.make(n)) is not None),
]


@st.composite
def mutations(draw: st.DrawFn) -> bytes:
    """A model with bytes cut, flipped, inserted, repeated or moved."""
    data = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        how = draw(st.sampled_from(["cut", "flip", "insert", "field", "repeat", "length"]))
        if how == "cut":
            del data[at:]
        elif how == "flip" and data:
            data[at] ^= 1 << draw(st.integers(0, 7))
        elif how == "insert":
            data[at:at] = draw(st.binary(max_size=12))
        elif how == "field":
            tag = draw(st.sampled_from([GRAPH, INITIALIZER, RAW, 0x08, 0x0D, 0x09, 0x0B, 0x0C, 0x00, 0xFA]))
            data[at:at] = bytes([tag]) + draw(st.binary(max_size=6))
        elif how == "repeat":
            data += data[at:]
        elif data:
            data[at] = draw(st.sampled_from([0x7F, 0x80, 0xFF, 0x00]))
    return bytes(data)


@settings(max_examples=1500, deadline=None, derandomize=True)
@given(mutations())
def test_fuzzed_bytes_read_as_protobuf_reads_them_or_are_refused(data: bytes) -> None:
    try:
        whole = ModelProto.FromString(data)
    except DecodeError:
        with pytest.raises(DecodeError):
            parse_light(data)
        return
    light = parse_light(data)
    assert filled(light, Weights(data, None)).SerializeToString(
        deterministic=True
    ) == whole.SerializeToString(deterministic=True)
    for found in light.graph.initializer:
        span = span_of(found)
        assert span is None or (span[0] >= 0 and span[0] + span[1] <= len(data))


# ---- messages in memory


def test_a_borrowed_model_shares_its_large_weights_and_changes_nothing() -> None:
    source = model(tensor("a", 40_000), tensor("b", 2), _typed())
    before = source.SerializeToString()
    light, borrowed = borrow(source)
    assert [t.name for t in borrowed] == ["a"]
    loaded = load(source)
    assert filled(loaded.proto, loaded.weights) == source
    del light.graph.node[:]
    loaded.proto.graph.name = "other"
    assert source.SerializeToString() == before


def test_a_model_with_unknown_fields_is_copied_whole() -> None:
    strange = ModelProto.FromString(model(tensor("a", 40_000)).SerializeToString() + b"\xfa\x3f\x02hi")
    light, borrowed = borrow(strange)
    assert (light, borrowed) == (strange, [])
