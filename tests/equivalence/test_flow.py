from __future__ import annotations

from onnxsim_ci.equivalence.flow import Flow

TEXT = """g (bool c, float[2] x, float[2] z) => (float[2] y, float[2] k) <float[2] w = {1, 2}> {
  a = Relu(x)
  b = If(c) <then_branch = t () => (float[2] p) { p = Add(a, z) },
         else_branch = e () => (float[2] q) { q = Neg(a) }>
  y = Exp(b)
  k = Exp(w)
}"""


def test_captures_are_dependencies(model):
    flow = Flow(model(TEXT))
    assert {"a", "x", "z", "c", "p", "q"} <= flow.ancestors(["y"])
    assert "y" in flow.descendants(["z"])
    assert "k" not in flow.descendants(["x"])


def test_constants_depend_on_no_input_and_no_random_number(model):
    flow = Flow(model(TEXT))
    assert flow.is_constant("k")
    assert not flow.is_constant("y")
    drawn = Flow(model("g () => (float[2] y) { y = RandomNormal<shape = [2]>() }"))
    assert not drawn.is_constant("y")


def test_a_value_escapes_past_the_gates_or_does_not(model):
    flow = Flow(model("g (float[2] x) => (float[2] y) { a = Relu(x) b = Neg(a) c = Exp(a) y = Add(b, c) }"))
    assert flow.escapes("a", {"b"})
    assert not flow.escapes("a", {"b", "c"})
    assert not flow.escapes("a", {"a"})
    assert flow.escapes("y", set())


def test_an_overridable_initializer_baked_into_a_fold_differs(image):
    from onnxsim_ci.equivalence import Edits, ProofSettings, prove

    text = "g (float[N,4] x, float[4] w = {1, 2, 3, 4}) => (float[N,4] y) { %s }"
    source = image(text % "y = Mul(x, w)")
    baked = image(
        (text % "y = Mul(x, k)")
        .replace(") => (", ") => (")
        .replace("y) {", "y) <float[4] k = {1, 2, 3, 4}> {")
    )
    edits = Edits(all_exact=False, rounding_outputs=("y",))
    assert prove(source, baked, edits=edits, settings=ProofSettings()).verdict == "differs"
