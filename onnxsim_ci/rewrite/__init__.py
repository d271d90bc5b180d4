"""The engine: rules, and the driver that applies them to a model's index.

Belongs here: what may be changed, and in which order. Does not belong here: files, policies, proofs.

House: rewrite. May import analysis, model and runtime (folding).
Touch: callers import names from this package, not from its modules.
"""

from onnxsim_ci.rewrite.catalogue import RULES
from onnxsim_ci.rewrite.contract import Declined, Level, Lowers, ResultClass, Rule, Status
from onnxsim_ci.rewrite.declining import refusals_of
from onnxsim_ci.rewrite.engine import resting_collector, rewrite
from onnxsim_ci.rewrite.journal import Journal, Record
from onnxsim_ci.rewrite.outcome import Outcome, StopReason
from onnxsim_ci.rewrite.plan import Plan, ValueInfos
from onnxsim_ci.rewrite.tallies import Tallies, Tally
from onnxsim_ci.rewrite.workbench import FOLD, MERGE_CONSTANTS, MERGE_NODES

__all__ = [
    "FOLD",
    "MERGE_CONSTANTS",
    "MERGE_NODES",
    "RULES",
    "Declined",
    "Journal",
    "Level",
    "Lowers",
    "Outcome",
    "Plan",
    "Record",
    "ResultClass",
    "Rule",
    "Status",
    "StopReason",
    "Tallies",
    "Tally",
    "ValueInfos",
    "refusals_of",
    "resting_collector",
    "rewrite",
]
