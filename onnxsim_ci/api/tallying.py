"""What the rules cost and win on some models.

House: api. May import rewrite, model and policy.
Touch: `onnxsim-ci rules --stats`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from onnxsim_ci.api.settings import limits_of, plan_of
from onnxsim_ci.model import build_graph, load
from onnxsim_ci.rewrite import RULES, Tallies, Tally, rewrite


def tally_rules(models: Sequence[str | Path]) -> Mapping[str, Tally]:
    """Each rule's tally over one run of the default policy a model; nothing is written.

    Raises:
        BadInput: A model cannot be read.
    """
    from onnxsim_ci.policy import Policy

    policy, tallies = Policy(), Tallies()
    rules = tallies.watched(RULES)
    for model in models:
        loaded = load(Path(model), limits_of(policy))
        graph = build_graph(loaded.proto)
        tallies.add(rewrite(graph, loaded.proto, loaded.weights, plan_of(policy), rules).journal)
    return tallies.by_rule
