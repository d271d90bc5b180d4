"""Proof that a result computes what its source computes.

Belongs here: comparing models, the noise that a comparison is measured in, the power of a comparison,
finding the edit that is to blame. Does not belong here: rules, policy, timing, printing.

House: proof; may import feeds, analysis, model, runtime. Knows no rule and no policy object.
Touch: decision 0003 (thresholds); report carries `Verdict`.
"""

from onnxsim_ci.equivalence.bisect import Culprit, find_culprit
from onnxsim_ci.equivalence.digest import canonical_digest
from onnxsim_ci.equivalence.interface import ASPECTS, interface_difference
from onnxsim_ci.equivalence.prover import Prover, prove
from onnxsim_ci.equivalence.repro import Repro, save_repro
from onnxsim_ci.equivalence.verdict import Edits, Evidence, OutputEvidence, ProofSettings, Verdict

__all__ = [
    "ASPECTS",
    "Culprit",
    "Edits",
    "Evidence",
    "OutputEvidence",
    "ProofSettings",
    "Prover",
    "Repro",
    "Verdict",
    "canonical_digest",
    "find_culprit",
    "interface_difference",
    "prove",
    "save_repro",
]
