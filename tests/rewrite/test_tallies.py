"""The tally of a rule: offers, edits, nodes and bytes."""

from __future__ import annotations

from onnx_text import parse

from onnxsim_ci.model import build_graph, load
from onnxsim_ci.rewrite import RULES, Plan, Tallies, rewrite

SOURCE = """g (float[2,3] x) => (float[2,2] y)
  <float[3,2] w = {1.5, -2.0, 0.5, 3.0, -1.0, 2.5}, float c = {3.0}, float k = {7.0}>
  { a = Mul(x, c)  i = Identity(a)  p = MatMul(i, w)  y = Sub(p, k) }"""


def test_offers_edits_nodes_and_bytes_are_counted() -> None:
    tallies = Tallies()
    loaded = load(parse(SOURCE))
    outcome = rewrite(build_graph(loaded.proto), loaded.proto, loaded.weights, Plan(), tallies.watched(RULES))
    tallies.add(outcome.journal)
    identity, sink = tallies.by_rule["eliminate-identity"], tallies.by_rule["sink-scale-into-weight"]
    assert (identity.tried, identity.fired, identity.nodes, identity.bytes) == (1, 1, -1, 0)
    assert (sink.fired, sink.nodes, sink.bytes) == (1, -1, -4)
    assert sink.tried >= 1
    assert sink.seconds > 0
    assert tallies.by_rule["merge-matmuls"].fired == 0
