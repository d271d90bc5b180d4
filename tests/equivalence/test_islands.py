from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxsim_ci.equivalence import Edits, ProofSettings, Prover, prove
from onnxsim_ci.equivalence.islands import kind_of
from onnxsim_ci.runtime import ModelImage

ROUNDED = Edits(all_exact=False, rounding_outputs=("n",))


def test_a_custom_operator_is_cut_out(conv_bn):
    prover = Prover(conv_bn(custom=True), ProofSettings())
    good = prover.judge(conv_bn(custom=True, fold={}), ROUNDED)
    assert (good.verdict, good.basis) == ("equivalent", "islands")
    assert good.evidence.covered == ("n",)
    assert "my:Odd" in good.reason
    assert prover.judge(conv_bn(custom=True, fold={"epsilon": 1e-3}), ROUNDED).verdict == "differs"
    assert prover.judge(conv_bn(custom=True, fold={"channel": 3}), ROUNDED).verdict == "differs"


def test_without_a_journal_a_custom_operator_ends_the_proof(conv_bn):
    verdict = prove(conv_bn(custom=True), conv_bn(custom=True, fold={}))
    assert verdict.verdict == "not run"
    assert "my:Odd" in verdict.reason


def test_exact_edits_around_a_custom_operator_are_compared_bit_for_bit(conv_bn):
    verdict = prove(conv_bn(custom=True), conv_bn(custom=True, fold={}), edits=Edits(all_exact=True))
    assert verdict.verdict == "differs"
    text = """<ir_version: 8, opset_import: ["" : 17, "my" : 1]> g (float[4] x) => (float[4] y)
      { %s b = my.Odd(a) y = Relu(b) }"""
    source, result = (
        ModelImage(data=onnx.parser.parse_model(text % body).SerializeToString())
        for body in ("a = Relu(x)", "p = Neg(x) q = Neg(p) a = Relu(q)")
    )
    verdict = prove(source, result, edits=Edits(all_exact=True))
    assert (verdict.verdict, verdict.basis) == ("equivalent", "exact")
    assert "agree bit for bit" in verdict.reason
    assert "my:Odd" in verdict.reason


def test_a_rounding_edit_that_cannot_be_reached_stays_unproven(conv_bn):
    verdict = prove(
        conv_bn(custom=True),
        conv_bn(custom=True, fold={}),
        edits=Edits(all_exact=False, rounding_outputs=("n", "elsewhere")),
    )
    assert verdict.verdict == "not run"
    assert verdict.evidence.uncovered == ("elsewhere",)


def test_a_standard_operator_without_a_kernel_is_cut_out(image):
    text = """g (float[2,8] x) => (bfloat16[2,8] y) { m = %s c = Cast<to = 16>(m) y = Erf(c) }"""
    rng = np.random.default_rng(0)
    weight = rng.standard_normal((8, 8)).astype(np.float32)
    source = image(text % "MatMul(x, w)", w=weight)
    split = "p, q = Split<axis = -1>(x) u = MatMul(p, w1) v = MatMul(q, w2) m = Add(u, v)"
    result = image(text.replace("m = %s", split), w1=weight[:4], w2=weight[4:])
    wrong = image(text.replace("m = %s", split), w1=weight[:4], w2=weight[4:] * np.float32(1.01))
    edits = Edits(all_exact=False, rounding_outputs=("m",))
    verdict = prove(source, result, edits=edits)
    assert verdict.verdict == "equivalent"
    assert verdict.basis in ("samples", "islands")  # the reference evaluator may know the operator
    assert prove(source, wrong, edits=edits).verdict == "differs"


def test_a_custom_operator_in_a_body_blocks_the_whole_node():
    text = """<ir_version: 8, opset_import: ["" : 17, "my" : 1]>
    g (bool c, float[2,8] x) => (float[2,8] y) {
      m = %s
      z = If(c) <then_branch = t () => (float[2,8] a) { a = my.Odd(m) },
               else_branch = e () => (float[2,8] b) { b = Neg(m) }>
      y = Relu(z)
    }"""
    weight = np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32)

    def build(body, **arrays):
        built = onnx.parser.parse_model(text % body)
        built.graph.initializer.extend(onnx.numpy_helper.from_array(a, k) for k, a in arrays.items())
        return ModelImage(data=built.SerializeToString())

    split = "Add(u, v)"
    head = "p, q = Split<axis = -1>(x) u = MatMul(p, w1) v = MatMul(q, w2) m = "
    source = build("MatMul(x, w)", w=weight)
    result = ModelImage(
        data=_with(text.replace("m = %s", head + split), w1=weight[:4], w2=weight[4:]).SerializeToString()
    )
    wrong = ModelImage(
        data=_with(text.replace("m = %s", head + split), w1=weight[:4], w2=weight[4:] * 2).SerializeToString()
    )
    edits = Edits(all_exact=False, rounding_outputs=("m",))
    assert prove(source, result, edits=edits).basis == "islands"
    assert prove(source, wrong, edits=edits).verdict == "differs"


def _with(text, **arrays):
    built = onnx.parser.parse_model(text)
    built.graph.initializer.extend(onnx.numpy_helper.from_array(a, k) for k, a in arrays.items())
    return built


@pytest.mark.parametrize(("domain", "kind"), [("", "Op"), ("ai.onnx", "Op"), ("my", "my:Op")])
def test_kinds(domain, kind):
    assert kind_of(onnx.NodeProto(op_type="Op", domain=domain)) == kind
