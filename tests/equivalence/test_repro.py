from __future__ import annotations

import numpy as np
import onnx

from onnxsim_ci.equivalence import ProofSettings, Prover
from onnxsim_ci.runtime import ModelImage, run_once


def test_the_smallest_cut_around_a_value_shows_the_difference(conv_bn, tmp_path):
    prover = Prover(conv_bn(), ProofSettings())
    repro = prover.save_repro(tmp_path / "repro", conv_bn(fold={"epsilon": 1e-3}), "n")
    assert repro.relative_l2 > 1e-3
    source, result = onnx.load(repro.source), onnx.load(repro.result)
    assert [node.op_type for node in source.graph.node] == ["Conv", "BatchNormalization"]
    assert [node.op_type for node in result.graph.node] == ["Conv"]
    onnx.checker.check_model(source)
    with np.load(repro.inputs) as inputs:
        feeds = dict(inputs)
    answers = [run_once(ModelImage(data=p.read_bytes()), feeds)["n"] for p in (repro.source, repro.result)]
    assert not np.allclose(*answers, rtol=1e-6)


def test_the_cut_stops_at_shared_values(image, tmp_path):
    text = "g (float[2,8] x) => (float[2,8] y) { a = Relu(x) b = Neg(a) c = %s(b) y = Abs(c) }"
    prover = Prover(image(text % "Exp"), ProofSettings())
    repro = prover.save_repro(tmp_path, image(text % "Sigmoid"), "c")
    assert [node.op_type for node in onnx.load(repro.source).graph.node] == ["Exp"]
    with np.load(repro.inputs) as inputs:
        assert inputs.files == ["b"]
        assert (inputs["b"] <= 0).all()


def test_captures_of_bodies_are_inputs(image, tmp_path):
    text = """g (bool c, float[2] x) => (float[2] y) { a = Relu(x)
      z = If(c) <then_branch = t () => (float[2] p) { p = %s(a) },
               else_branch = e () => (float[2] q) { q = Neg(a) }>
      y = Abs(z) }"""
    prover = Prover(image(text % "Exp"), ProofSettings())
    repro = prover.save_repro(tmp_path, image(text % "Log"), "z")
    with np.load(repro.inputs) as inputs:
        assert set(inputs.files) == {"a", "c"}


def test_external_weights_are_stored_inside(model, tmp_path):
    weight = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)
    images = []
    for name, factor in (("s", 1), ("r", 2)):
        built = model("g (float[2,64] x) => (float[2,64] y) { y = MatMul(x, w) }", w=weight * factor)
        onnx.save(
            built,
            tmp_path / f"{name}.onnx",
            save_as_external_data=True,
            location=f"{name}.bin",
            size_threshold=0,
        )
        images.append(ModelImage(data=(tmp_path / f"{name}.onnx").read_bytes(), folder=str(tmp_path)))
    repro = Prover(images[0], ProofSettings()).save_repro(tmp_path / "out", images[1], "y")
    stored = onnx.load(repro.source).graph.initializer[0]
    np.testing.assert_array_equal(onnx.numpy_helper.to_array(stored), weight)


def test_nothing_is_written_for_a_value_that_one_side_lacks(conv_bn, tmp_path):
    assert Prover(conv_bn(), ProofSettings()).save_repro(tmp_path / "out", conv_bn(fold={}), "c") is None
    assert not (tmp_path / "out").exists()
