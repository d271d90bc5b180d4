from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxsim_ci.equivalence import canonical_digest

PLAIN = "g (float[N] x) => (float[N] y) { a = Relu(x) b = Neg(a) y = Exp(b) }"


@pytest.mark.parametrize(
    "other",
    [
        "g (float[N] x) => (float[N] y) { p = Relu(x) q = Neg(p) y = Exp(q) }",
        "g (float[N] x) => (float[N] y) { a = Relu(x) b = Neg(a) dead = Abs(a) y = Exp(b) }",
        "g (float[N] x) => (float[N] y) { a = Relu(x) i = Identity(a) b = Neg(i) y = Exp(b) }",
        "g (float[N] x) => (float[N] y) { [some_name] a = Relu(x) [other] b = Neg(a) y = Exp(b) }",
    ],
)
def test_names_dead_nodes_and_identities_do_not_matter(model, other):
    assert canonical_digest(model(PLAIN)) == canonical_digest(model(other))


@pytest.mark.parametrize(
    "other",
    [
        "g (float[N] x) => (float[N] y) { a = Relu(x) b = Abs(a) y = Exp(b) }",
        "g (float[N] x) => (float[N] y) { a = Relu(x) y = Exp(a) }",
        "g (float[M] x) => (float[M] y) { a = Relu(x) b = Neg(a) y = Exp(b) }",
        "g (float[N] z) => (float[N] y) { a = Relu(z) b = Neg(a) y = Exp(b) }",
        "g (float[N] x) => (float[N] z) { a = Relu(x) b = Neg(a) z = Exp(b) }",
        '<ir_version: 8, opset_import: ["" : 16]> ' + PLAIN,
        "g (float[N] x) => (float[N] y) { a = LeakyRelu<alpha = 0.1>(x) b = Neg(a) y = Exp(b) }",
    ],
)
def test_another_function_or_interface_has_another_digest(model, other):
    assert canonical_digest(model(PLAIN)) != canonical_digest(model(other))


def test_attributes_constants_and_operand_order_matter(model):
    text = "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Sub(%s) }"
    assert canonical_digest(model(text % "x, w")) != canonical_digest(model(text % "w, x"))
    assert canonical_digest(model(text % "x, w")) != canonical_digest(
        model((text % "x, w").replace("{1, 2}", "{1, 3}"))
    )
    alpha = "g (float[2] x) => (float[2] y) { y = LeakyRelu<alpha = %s>(x) }"
    assert canonical_digest(model(alpha % "0.1")) != canonical_digest(model(alpha % "0.2"))


def test_the_form_of_constants_does_not_matter_but_signs_of_zero_do(model):
    node = model("g (float[2] x) => (float[2] y) { w = Constant<value = float[2] {1, 0}>() y = Add(x, w) }")
    stored = model("g (float[2] x) => (float[2] y) { y = Add(x, c) }", c=np.array([1, 0], np.float32))
    minus = model("g (float[2] x) => (float[2] y) { y = Add(x, c) }", c=np.array([1, -0.0], np.float32))
    assert canonical_digest(node) == canonical_digest(stored)
    assert canonical_digest(stored) != canonical_digest(minus)


def test_common_subexpressions_are_one(model):
    once = model("g (float[2] x) => (float[2] y) { a = Exp(x) y = Add(a, a) }")
    twice = model("g (float[2] x) => (float[2] y) { a = Exp(x) b = Exp(x) y = Add(a, b) }")
    assert canonical_digest(once) == canonical_digest(twice)


@pytest.mark.parametrize("call", ["RandomNormalLike(x)", "Bernoulli(x)", "RandomUniformLike(x)"])
def test_random_operators_are_never_one(model, call):
    once = model(f"g (float[2] x) => (float[2] y) {{ a = {call} y = Sub(a, a) }}")
    twice = model(f"g (float[2] x) => (float[2] y) {{ a = {call} b = {call} y = Sub(a, b) }}")
    assert canonical_digest(once) != canonical_digest(twice)


def test_unknown_domains_keep_their_names(model):
    header = '<ir_version: 8, opset_import: ["" : 17, "my" : 1]> '
    once = model(header + "g (float[2] x) => (float[2] y) { a = my.Odd(x) y = Sub(a, a) }")
    twice = model(header + "g (float[2] x) => (float[2] y) { a = my.Odd(x) b = my.Odd(x) y = Sub(a, b) }")
    assert canonical_digest(once) != canonical_digest(twice)


NESTED = """g (bool c, bool d, float[2] x) => (float[2] y) {
  k = Relu(x)
  y = If(c) <
    then_branch = t () => (float[2] o) {
      o = If(d) <then_branch = tt () => (float[2] p) { p = %s(k) },
               else_branch = ee () => (float[2] q) { q = Exp(k) }>
    },
    else_branch = e () => (float[2] r) { r = Identity(k) }
  >
}"""


def test_nested_bodies_count(model):
    renamed = (NESTED % "Neg").replace("k", "captured").replace(" p ", " pp ").replace("[2] p)", "[2] pp)")
    assert canonical_digest(model(NESTED % "Neg")) == canonical_digest(model(renamed))
    assert canonical_digest(model(NESTED % "Neg")) != canonical_digest(model(NESTED % "Abs"))


def test_loop_parameters_are_told_apart(model):
    text = """g (int64 n, bool c, float[2] x, float[2] z) => (float[2] u, float[2] v) {
      u, v = Loop(n, c, x, z) <body = b (int64 i, bool k, float[2] p, float[2] q) =>
        (bool l, float[2] r, float[2] s) { l = Identity(k) r = Relu(%s) s = Neg(%s) }>
    }"""
    assert canonical_digest(model(text % ("p", "q"))) != canonical_digest(model(text % ("q", "p")))


FUNCTION = """<ir_version: 8, opset_import: ["" : 17, "f" : 1]>
g (float[2] x) => (float[2] y) { y = f.twice(x) }
<domain: "f", opset_import: ["" : 17]> twice (a) => (b) { b = %s(a) }"""


def test_function_bodies_count_and_unused_functions_do_not(model):
    assert canonical_digest(model(FUNCTION % "Relu")) != canonical_digest(model(FUNCTION % "Neg"))
    unused = model(FUNCTION % "Relu")
    extra = unused.functions.add()
    extra.CopyFrom(unused.functions[0])
    extra.name = "unused"
    assert canonical_digest(unused) == canonical_digest(model(FUNCTION % "Relu"))


def test_calls_of_a_random_function_are_never_one(model):
    text = """<ir_version: 8, opset_import: ["" : 17, "f" : 1]>
    g (float[2] x) => (float[2] y) { %s }
    <domain: "f", opset_import: ["" : 17]> noise (a) => (b) { b = RandomNormalLike(a) }"""
    once = model(text % "a = f.noise(x) y = Sub(a, a)")
    twice = model(text % "a = f.noise(x) b = f.noise(x) y = Sub(a, b)")
    assert canonical_digest(once) != canonical_digest(twice)


@pytest.mark.parametrize("body", ["y = Relu(nowhere)", "y = Relu(a) a = Neg(x)", "b = Relu(x)"])
def test_an_unresolvable_graph_has_no_digest(model, body):
    assert canonical_digest(model(f"g (float[2] x) => (float[2] y) {{ {body} }}")) is None


def test_sparse_initializers_have_no_digest(model):
    built = model(PLAIN)
    built.graph.sparse_initializer.add()
    assert canonical_digest(built) is None


def test_external_data_counts_by_place_or_by_content(model, tmp_path):
    weights = np.arange(64, dtype=np.float32)
    text = "g (float[64] x) => (float[64] y) { y = Add(x, w) }"
    onnx.save(
        model(text, w=weights),
        tmp_path / "a.onnx",
        save_as_external_data=True,
        location="a.bin",
        size_threshold=0,
    )
    onnx.save(
        model(text, w=weights),
        tmp_path / "b.onnx",
        save_as_external_data=True,
        location="b.bin",
        size_threshold=0,
    )
    a, b = (onnx.load(tmp_path / f"{name}.onnx", load_external_data=False) for name in "ab")
    folder = str(tmp_path)
    assert canonical_digest(a) != canonical_digest(b)
    assert canonical_digest(a, folder=folder) == canonical_digest(b, folder=folder)
    assert canonical_digest(a, folder=folder) == canonical_digest(model(text, w=weights))
    (tmp_path / "b.bin").write_bytes(b"short")
    assert canonical_digest(b, folder=folder) is None


def test_overridable_defaults_count(model):
    text = "g (float[2] x, float[2] w = {%s}) => (float[2] y) { y = Mul(x, w) }"
    assert canonical_digest(model(text % "1, 2")) != canonical_digest(model(text % "1, 3"))
    assert canonical_digest(model(text % "1, 2")) == canonical_digest(model(text % "1, 2"))
