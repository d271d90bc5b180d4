"""Small integer tensors with equal elements are one value, and what is computed from them too."""

from __future__ import annotations

from collections import Counter

import onnx
import pytest
from onnx import ModelProto
from onnx_text import nodes_of, parse
from witnesses import assert_equal_outputs

from onnxsim_ci.model import build_graph, image_of, load
from onnxsim_ci.rewrite import MERGE_NODES, Level, Plan, ResultClass
from onnxsim_ci.rewrite import rewrite as run_engine

MASKS = """
g (float[N,M] x, int64[1] i) => (float[?,?] y, float[?,?] z) {
  a = Neg(x)  s = Shape(x)  m = Gather(s, i)  c = ConstantOfShape(s)  d = Trilu<upper=0>(c)  y = Add(a, d)
  b = Exp(a)  t = Shape(b)  e = ConstantOfShape(t)  f = Trilu<upper=0>(e)  z = Mul(b, f)
}
"""


def simplified(
    text: str, *, skip: frozenset[str] = frozenset()
) -> tuple[ModelProto, ModelProto, Counter[str]]:
    """Source, result and operators of the result."""
    source = parse(text)
    loaded = load(source)
    plan = Plan(level=Level.BASIC, skip=skip)
    run_engine(build_graph(loaded.proto), loaded.proto, loaded.weights, plan)
    data, _ = image_of(loaded.proto, loaded.weights, None)
    result = ModelProto.FromString(data)
    onnx.checker.check_model(result, full_check=True)
    return source, result, Counter(n.op_type for n in nodes_of(result))


def test_sizes_of_another_tensor_with_the_same_shape_are_merged() -> None:
    source, result, operators = simplified(MASKS)
    assert operators["Shape"] == operators["ConstantOfShape"] == operators["Trilu"] == 1
    assert assert_equal_outputs(source, result, ResultClass.EXACT).runs


def test_not_where_merging_nodes_is_switched_off() -> None:
    assert simplified(MASKS, skip=frozenset({MERGE_NODES}))[2]["Shape"] == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "g (float[N] x, float[N] z) => (float[?] y, float[?] w) "
            "{ s = Shape(x)  t = Shape(z)  y = ConstantOfShape(s)  w = ConstantOfShape(t) }",
            "a dim of the same name is another size",
        ),
        (
            "g (float[N] x) => (int64[1] s, int64[1] t) { a = Neg(x)  s = Shape(x)  t = Shape(a) }",
            "both are graph outputs",
        ),
        (
            "g (float[N,N] x) => (float[?] y, float[?] w) "
            "{ s = Shape<end=1>(x)  t = Shape<start=1>(x)  y = ConstantOfShape(s)  w = ConstantOfShape(t) }",
            "two axes of the same name are two sizes",
        ),
    ],
)
def test_not_merged(text: str, why: str) -> None:
    source, result, operators = simplified(text)
    assert operators["Shape"] == 2, why
    assert assert_equal_outputs(source, result, ResultClass.EXACT).runs


def test_another_element_type_is_another_value() -> None:
    source, result, operators = simplified(
        "g (float[N] x) => (int32[1] y, int64[1] z) "
        "{ s = Shape(x)  c = Cast<to=6>(s)  y = Neg(c)  a = Abs(x)  t = Shape(a)  z = Neg(t) }"
    )
    assert operators["Cast"] == 1
    assert operators["Shape"] == 1
    assert assert_equal_outputs(source, result, ResultClass.EXACT).runs


def test_values_of_two_bodies_stay_apart() -> None:
    source, result, operators = simplified(
        """
        g (bool c, float[N] x) => (float[?] y) {
          y = If (c) <
            then_branch = t () => (float[?] p) { s = Shape(x)  p = ConstantOfShape(s) },
            else_branch = e () => (float[?] q) {
              n = Neg(x)  r = Shape(n)  u = ConstantOfShape(r)  q = Exp(u)
            }
          >
        }
        """
    )
    assert operators["Shape"] == 2
    assert assert_equal_outputs(source, result, ResultClass.EXACT).runs


def test_the_earlier_of_two_that_depend_on_each_other_stays() -> None:
    source, result, operators = simplified(
        """
        g (float[N,4] x) => (float[?,?] y, float[?,?] z) {
          s = Shape(x)  e = ConstantOfShape(s)  a = Add(x, e)  b = Exp(a)  t = Shape(b)  y = Reshape(b, t)
          u = Shape(y)  f = ConstantOfShape(u)  z = Mul(y, f)
        }
        """
    )
    assert operators["Shape"] == 1
    assert assert_equal_outputs(source, result, ResultClass.EXACT).runs
