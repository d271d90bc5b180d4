"""Refuse models that are not whole, and only those.

The checker and strict inference both refuse some models that run; where one of them objects, the runtime
decides.

House: api. May import model, runtime, errors.
Touch: `model/validity.py` holds the checks that need no runtime.
"""

from __future__ import annotations

from collections.abc import Iterable

from onnxsim_ci.errors import BadInput
from onnxsim_ci.model import Graph, Limits, LoadedModel, check_content, checker_problem, image_of
from onnxsim_ci.model.ordered import nearest_name
from onnxsim_ci.runtime import ModelImage, RuntimeRefusal, open_session

NO_KERNEL = ("is not a registered function/op", "No Op registered for")
"""What ONNX Runtime says about an operator that it does not know."""

TOLERATED = ("This number of op outputs should be 3 when Training_mode = True",)
"""Findings that make no model meaningless: exporters write a training BatchNormalization with one output."""


def refuse_broken(loaded: LoadedModel, graph: Graph, limits: Limits) -> None:
    """Check a model's content before any work on it.

    Raises:
        BadInput: With one sentence that names the place.
    """
    check_content(loaded, graph, limits)
    problem = checker_problem(loaded.proto)
    if problem is not None:
        refuse_if_not_runnable(loaded, problem)


def refuse_unknown_inputs(loaded: LoadedModel, names: Iterable[str], key: str) -> None:
    """Shapes in the policy must be of inputs that the model has.

    Raises:
        BadInput: With the nearest name.
    """
    known = [i.name for i in loaded.proto.graph.input]
    for name in names:
        if name and name not in known:
            where = str(loaded.path) if loaded.path else "the model"
            raise BadInput(f"{where}: {key} names {name!r}, which is no input{nearest_name(name, known)}")


def refuse_if_not_runnable(loaded: LoadedModel, problem: str) -> None:
    """Raise BadInput with `problem` when the runtime does not load the model either."""
    if any(sign in problem for sign in TOLERATED):
        return
    where = str(loaded.path) if loaded.path else "the model"
    data, folder = image_of(loaded.proto, loaded.weights, loaded.path)
    try:
        open_session(ModelImage(data=data, folder=folder))
    except RuntimeRefusal as refusal:
        if refusal.lacks_kernel or any(sign in str(refusal) for sign in NO_KERNEL):
            return
        raise BadInput(f"{where}: {problem}") from refusal
