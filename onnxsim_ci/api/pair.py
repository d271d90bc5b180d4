"""Compare two given models, without a journal.

House: api. May import equivalence, model, policy, rewrite.
Touch: design, verify-measure-report: "Without a journal".
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from onnx import ModelProto

from onnxsim_ci.api.candidate import Source, make_candidate
from onnxsim_ci.api.flow import Model
from onnxsim_ci.api.settings import limits_of, plan_of, proof_settings_of
from onnxsim_ci.equivalence import Prover, Verdict, canonical_digest
from onnxsim_ci.model import load

if TYPE_CHECKING:
    from onnxsim_ci.policy import Policy


def verify(a: Model, b: Model, *, policy: Policy | None = None, save_repro: Path | None = None) -> Verdict:
    """Whether model `b` computes what model `a` computes.

    Both are first taken to the fixed point of the EXACT rules and compared by digest; then by samples.

    Raises:
        BadInput: One of them cannot be used.
    """
    from onnxsim_ci.policy import Policy as PolicyClass

    chosen = policy or PolicyClass()
    exact = plan_of(chosen, frozenset({"rounding"}))
    plain = PolicyClass(limits=chosen.limits)
    sides = [Source(load(model, limits_of(chosen)), plain) for model in (a, b)]
    settings = proof_settings_of(chosen, sides[0].loaded.folder)
    verdict = Prover(sides[0].image, settings).judge(sides[1].image, None)
    if verdict.verdict == "equivalent" or verdict.reason.startswith("interface"):
        return verdict
    images = [make_candidate(side, exact).image for side in sides]
    digests = [canonical_digest(ModelProto.FromString(i.data), folder=i.folder) for i in images]
    if digests[0] is not None and digests[0] == digests[1]:
        return Verdict(
            verdict="equivalent", basis="digest", reason="both are the same after bit-identical rewrites"
        )
    return verdict
