"""Models on which an edit far away makes another one possible: one run must find both."""

from __future__ import annotations

import pytest
from one_rule import rewritten
from onnx_text import parse

from onnxsim_ci.rewrite import Plan

HEADER = '<ir_version: 10, opset_import: ["" : 21]>\n'
MODELS = {
    "an_inner_value_is_no_output_of_a_branch_any_more": """
        g (bool k, float[N] x) => (float[N] y) {
          u, v, w = If (k) <
            then_branch = t () => (float[N] p, float[N] q, float[N] r) {
              p = Abs(x)  q = Neg(p)  r = Relu(p)
            },
            else_branch = e () => (float[N] a, float[N] b, float[N] c) { a = Neg(x)  b = Neg(a)  c = Neg(b) }
          >
          y = Add(v, w)
        }""",
    "products_become_gemms_one_by_one": """
        g (float[N,3] x) => (float[N,1] a, float[N,1] b, float[N,1] c)
           <float[3,1] u = {1, 2, 3}, float[3,1] v = {4, 5, 7}, float[3,1] w = {2, 7, 1},
            float[1] r = {1}, float[1] s = {2}, float[1] t = {3}> {
          m = MatMul(x, u)  d = Add(m, r)  a = Neg(d)
          n = MatMul(x, v)  b = Add(s, n)
          o = MatMul(x, w)  e = Add(o, t)  c = Relu(e)
        }""",
    "stacked_values_become_one_in_one_branch": """
        g (bool k, float[5,M] x) => (float[?,?,?] y) {
          y = If (k) <
            then_branch = t () => (float[2,5,?] r) {
              i = Constant<value_ints = [-3]>()  a = Abs(x)  p = Unsqueeze(a, i)  q = Unsqueeze(a, i)
              r = Concat<axis = 0>(p, q)
            },
            else_branch = e () => (float[2,5,?] o) {
              j = Constant<value_ints = [-3]>()  b = Abs(x)  c = Neg(x)  l = Unsqueeze(b, j)
              m = Unsqueeze(c, j)  o = Concat<axis = 0>(l, m)
            }
          >
        }""",
}


@pytest.mark.parametrize("plan", [Plan(), Plan(rounding=False)], ids=["rounding", "exact"])
@pytest.mark.parametrize("text", MODELS.values(), ids=MODELS)
def test_a_second_run_finds_nothing(text: str, plan: Plan) -> None:
    result, outcome = rewritten(parse(HEADER + text), plan)
    _, second = rewritten(result, plan)
    assert not second.changed, (outcome.journal.counts(), second.journal.counts())
