"""Files that are no models, and models that are not whole: each with what its refusal has to say."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
from onnx import helper, numpy_helper

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'
MY = '<ir_version: 8, opset_import: ["" : 17, "my" : 1]>\n'
BODY = '<domain: "my", opset_import: ["" : 17, "my" : 1]>'


@dataclass(frozen=True)
class Broken:
    """A file's content, and a part of the sentence that refuses it."""

    name: str
    data: bytes
    says: str


def model(text: str) -> onnx.ModelProto:
    """ONNX text, with or without a header, as a model; nothing is checked."""
    return onnx.parser.parse_model(text if text.lstrip().startswith("<") else HEADER + text)


def good() -> onnx.ModelProto:
    """A model with one edit to make."""
    return model("g (float[N,3] x) => (float[N,3] y) { a = Identity(x)  y = Relu(a) }")


def add_w(**tensor: Any) -> onnx.ModelProto:
    """y = x + w with the initializer w as given."""
    built = model("g (float[4] x) => (float[4] y) { y = Add(x, w) }")
    built.graph.initializer.add(name="w", **tensor)
    return built


def external(location: str, count: int = 4, **entries: str) -> bytes:
    """y = x + w with w in a file beside the model."""
    built = add_w(data_type=1, dims=[count], data_location=1)
    for key, value in {"location": location, **entries}.items():
        built.graph.initializer[0].external_data.add(key=key, value=value)
    return built.SerializeToString()


def changed(**fields: Any) -> bytes:
    """The good model with other fields."""
    built = good()
    for name, value in fields.items():
        setattr(built, name, value)
    return built.SerializeToString()


def with_opset(version: int) -> bytes:
    """The good model at another opset."""
    built = good()
    built.opset_import[0].version = version
    return built.SerializeToString()


def nested(depth: int) -> bytes:
    """If inside If inside If, written by hand: no library builds this."""

    def field(tag: int, body: bytes) -> bytes:
        length, size = [], len(body)
        while size > 127:
            length.append(size & 127 | 128)
            size >>= 7
        return bytes([tag, *length, size]) + body

    graph = field(0x12, b"g")
    for _ in range(depth):
        attribute = field(0x0A, b"then_branch") + b"\xa0\x01\x05" + field(0x32, graph)
        graph = field(0x0A, field(0x22, b"If") + field(0x2A, attribute)) + field(0x12, b"g")
    return b"\x08\x08" + field(0x3A, graph) + field(0x42, b"\x10\x11")


def lay_out(folder: Path) -> None:
    """What lies around the models: data files, links, a pipe."""
    (folder.parent / "outside.bin").write_bytes(b"1" * 16)
    (folder / "ok.bin").write_bytes(b"1" * 16)
    (folder / "folder").mkdir()
    os.symlink(folder.parent / "outside.bin", folder / "link.bin")
    os.symlink("/nowhere", folder / "dangling.bin")
    os.symlink(folder.parent, folder / "up")
    os.link(folder.parent / "outside.bin", folder / "hard.bin")
    os.mkfifo(folder / "pipe")


def no_models() -> Iterator[Broken]:
    """Files that are something else, or cut short."""
    whole = good().SerializeToString()
    yield Broken("empty", b"", "is empty")
    yield Broken("truncated", whole[: len(whole) // 2], "cut short")
    yield Broken("last byte missing", whole[:-1], "cut short")
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n"
    yield Broken("LFS pointer", pointer, "git lfs pull")
    yield Broken("JSON", b'{"model": 1}\n', "text file")
    yield Broken("HTML", b"<!DOCTYPE html><html></html>", "text file")
    yield Broken("text", b"hello world", "is not an ONNX model")
    yield Broken("zeros", bytes(1000), "is not an ONNX model")
    yield Broken("zip", b"PK\x03\x04" + bytes(100), "is not an ONNX model")
    yield Broken("other message", b"\x0a\x03abc", "no ONNX graph")
    yield Broken("nested 10,000 deep", nested(10_000), "nests deeper")
    yield Broken("not UTF-8 operator", whole.replace(b"Identity", b"\xff\xfedentit"), "not UTF-8")
    yield Broken("not UTF-8 value", whole.replace(b"\x01a", b"\x01\xff"), "not UTF-8")


def outside_data() -> Iterator[Broken]:
    """External data that is missing, elsewhere or too short."""
    yield Broken("external missing", external("no.bin"), "'no.bin' is missing")
    yield Broken("external ../", external("../outside.bin"), "not inside the model's folder")
    yield Broken("external ..\\", external("..\\outside.bin"), "not inside the model's folder")
    yield Broken("external absolute", external("/etc/passwd"), "not inside the model's folder")
    yield Broken("external link", external("link.bin"), "link out of the model's folder")
    yield Broken("external through a linked folder", external("up/outside.bin"), "link out of")
    yield Broken("external dangling link", external("dangling.bin"), "is missing")
    yield Broken("external hard link", external("hard.bin"), "several hard links")
    yield Broken("external folder", external("folder"), "is not a file")
    yield Broken("external pipe", external("pipe"), "is not a file")
    yield Broken("external NUL", external("ok.bin\0"), "not inside the model's folder")
    yield Broken("external without a name", external(""), "names no file")
    yield Broken("external too short", external("ok.bin", 400), "has 16 bytes")
    yield Broken("external length", external("ok.bin", length="8"), "16 bytes by its shape and 8 bytes")
    yield Broken("external before the start", external("ok.bin", offset="-4"), "negative")
    yield Broken("external behind the end", external("ok.bin", offset=str(10**30)), "has 16 bytes")
    yield Broken("external no number", external("ok.bin", offset="four"), "no number")
    yield Broken("external huge", external("ok.bin", 1 << 62), "has 16 bytes")


def lies() -> Iterator[Broken]:
    """Versions from the future, and tensors that are not what they declare."""
    yield Broken("opset from the future", with_opset(999), "imports opset 999, newer than")
    yield Broken("opset 0", with_opset(0), "does not exist in opset 0")
    yield Broken("IR from the future", changed(ir_version=99), "IR version 99, newer than")
    yield Broken("IR below 0", changed(ir_version=-3), "IR version -3")
    four = {"data_type": 1, "dims": [4]}
    huge = {"data_type": 1, "dims": [1 << 30]}
    yield Broken("4 GB declared, raw", add_w(**huge, raw_data=b"1234").SerializeToString(), "holds 4")
    yield Broken("4 GB declared, typed", add_w(**huge, float_data=[1.0]).SerializeToString(), "holds 1")
    yield Broken("4 GB declared, nothing", add_w(**huge).SerializeToString(), "holds 0")
    over = add_w(data_type=1, dims=[1 << 40, 1 << 40], raw_data=b"")
    yield Broken("2 ** 80 elements", over.SerializeToString(), "holds 0")
    negative = add_w(data_type=1, dims=[-2, -2], raw_data=bytes(16))
    yield Broken("negative dims", negative.SerializeToString(), "negative dimension")
    unknown = add_w(data_type=999, dims=[4], raw_data=bytes(16))
    yield Broken("unknown element type", unknown.SerializeToString(), "holds 16")
    yield Broken("wrong field", add_w(**four, int64_data=[1, 2, 3, 4]).SerializeToString(), "float_data")
    sparse = model("g (float[4] x) => (float[4] y) { y = Relu(x) }")
    values, indices = np.array([2.5], np.float32), np.array([30])
    sparse.graph.sparse_initializer.append(
        helper.make_sparse_tensor(numpy_helper.from_array(values, "s"), numpy_helper.from_array(indices), [5])
    )
    yield Broken("sparse index out of range", sparse.SerializeToString(), "out of range")


GRAPHS = {
    "cycle": ("{ a = Add(x, b)  b = Relu(a)  y = Relu(b) }", "reads 'b', which no earlier node"),
    "self": ("{ y = Add(x, y) }", "reads 'y', which no earlier node"),
    "unsorted": ("{ y = Relu(a)  a = Relu(x) }", "reads 'a', which no earlier node"),
    "undefined": ("{ y = Add(x, z) }", "reads 'z', which no earlier node"),
    "output of nothing": ("{ a = Relu(x) }", "output 'y', which nothing produces"),
    "name twice": ("{ y = Relu(x)  y = Abs(x) }", "defines 'y' twice"),
    "input written": ("{ x = Relu(x)  y = Abs(x) }", "defines 'x' twice"),
    "unknown attribute": ("{ y = Relu<foo = 1>(x) }", "Unrecognized attribute: foo"),
    "attribute of another type": ("{ y = LeakyRelu<alpha = 1>(x) }", "Mismatched attribute type"),
    "too many inputs": ("{ y = Relu(x, x) }", "input size 2 not in range"),
    "too few inputs": ("{ y = Add(x) }", "input size 1 not in range"),
    "too many outputs": ("{ y, z = Relu(x) }", "output size 2 not in range"),
    "Exp of int64": ("{ a = Cast<to = 7>(x)  b = Exp(a)  y = Cast<to = 1>(b) }", "Exp"),
    "mixed types": ("{ a = Cast<to = 7>(x)  y = Add(x, a) }", "Add"),
    "shapes that contradict": ("{ a = Constant<value = float[3] {1,2,3}>()  y = Add(x, a) }", "Incompatible"),
    "operator of a newer opset": ("{ y = Gelu(x) }", "Gelu does not exist in opset 17"),
    "domain not imported": ("{ y = my.F(x) }", "the domain 'my', for which no opset is imported"),
    "constant of nothing": ("{ c = Constant()  y = Add(x, c) }", "Constant"),
    "If without a branch": ("{ c = Constant<value = bool {1}>()  y = If(c) }", "branch"),
    "undefined in a branch": (
        """{ c = Constant<value = bool {1}>()  y = If(c)<then_branch = t () => (float[4] p) { p = Relu(q) },
        else_branch = e () => (float[4] r) { r = Relu(x) }> }""",
        "reads 'q', which no earlier node",
    ),
}
"""Bodies of graphs from x to y, float[4]."""

CALLS = {
    "recursive function": (f"{{ y = my.F(x) }} {BODY} F (a) => (b) {{ b = my.F(a) }}", "my::F calls itself"),
    "recursive in turn": (
        f"{{ y = my.F(x) }} {BODY} F (a) => (b) {{ b = my.G(a) }} {BODY} G (a) => (b) {{ b = my.F(a) }}",
        "calls itself",
    ),
    "function with too many inputs": (
        f"{{ y = my.F(x, x) }} {BODY} F (a) => (b) {{ b = Relu(a) }}",
        "passes more values than my::F declares",
    ),
    "undefined in a function": (
        f"{{ y = my.F(x) }} {BODY} F (a) => (b) {{ b = Relu(c) }}",
        "function 'my::F' reads 'c'",
    ),
}


def graphs() -> Iterator[Broken]:
    """Graphs that do not fit together."""
    for name, (body, says) in GRAPHS.items():
        yield Broken(name, model(f"g (float[4] x) => (float[4] y) {body}").SerializeToString(), says)
    for name, (body, says) in CALLS.items():
        yield Broken(name, model(f"{MY}g (float[4] x) => (float[4] y) {body}").SerializeToString(), says)
    twice = model("g (float[4] x) => (float[4] y) <float[4] w = {1,2,3,4}> { y = Add(x, w) }")
    twice.graph.initializer.append(twice.graph.initializer[0])
    yield Broken("initializer twice", twice.SerializeToString(), "defines 'w' twice")
    twice = good()
    twice.graph.input.append(twice.graph.input[0])
    yield Broken("input twice", twice.SerializeToString(), "defines 'x' twice")
    called = model(
        f"{MY}g (float[4] x) => (float[4] y) {{ y = my.F(x) }} {BODY} F (a) => (b) {{ b = Relu(a) }}"
    )
    called.functions.append(called.functions[0])
    yield Broken("function twice", called.SerializeToString(), "my::F")


BROKEN = {b.name: b for make in (no_models, outside_data, lies, graphs) for b in make()}
