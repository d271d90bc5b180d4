"""Running models: ONNX Runtime sessions, one-shot evaluation, the reference evaluator.

Belongs here: everything that calls ONNX Runtime. Does not belong here: what a model means, what inputs
it wants, how outputs are compared, files and paths (a caller hands over bytes and one folder).

House: ground floor; imports onnx, numpy and (inside functions) onnxruntime, and no other room.
Touch: the floor contract in pyproject.toml, which lets this room alone import onnxruntime.
"""

from onnxsim_ci.runtime.evaluation import evaluate_nodes, reference_run, run_once
from onnxsim_ci.runtime.failures import RunFailure, RuntimeRefusal
from onnxsim_ci.runtime.image import ModelImage
from onnxsim_ci.runtime.isolation import isolated
from onnxsim_ci.runtime.session import Level, Port, Session, Value, open_session
from onnxsim_ci.runtime.support import runtime_supports, runtime_version, warm_up

__all__ = [
    "Level",
    "ModelImage",
    "Port",
    "RunFailure",
    "RuntimeRefusal",
    "Session",
    "Value",
    "evaluate_nodes",
    "isolated",
    "open_session",
    "reference_run",
    "run_once",
    "runtime_supports",
    "runtime_version",
    "warm_up",
]
