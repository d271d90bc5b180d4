"""One-shot evaluation: small models for constant folding, and the reference evaluator as a fallback.

House: runtime; onnx and onnxruntime are imported inside functions.
Touch: rewrite/folding calls `run_once`; equivalence/oracle.py calls `reference_run`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onnxsim_ci.runtime.failures import RunFailure, RuntimeRefusal
from onnxsim_ci.runtime.image import ModelImage
from onnxsim_ci.runtime.session import Value, open_session


def run_once(image: ModelImage, feeds: Mapping[str, Value] | None = None) -> dict[str, Value]:
    """Every output by name, from a session that lives for one run, optimisations off.

    Raises:
        RuntimeRefusal: The model was not loaded.
        RunFailure: The run failed.
    """
    return open_session(image).run(feeds or {})


def evaluate_nodes(data: bytes) -> list[Value]:
    """Every output in order, of a serialized model without inputs; as `run_once`."""
    return list(run_once(ModelImage(data=data)).values())


def reference_run(
    image: ModelImage, feeds: Mapping[str, Value] | None = None, outputs: Sequence[str] | None = None
) -> dict[str, Value]:
    """Outputs by name, from the reference evaluator of the onnx package; slow, but it knows every operator.

    External data is read into memory: for models of a usual size only.

    Raises:
        RuntimeRefusal: The evaluator has no implementation for an operator of the model.
        RunFailure: It has, and it failed on these inputs.
    """
    import warnings

    import onnx
    from onnx.reference import ReferenceEvaluator

    try:
        model = onnx.ModelProto.FromString(image.data)
        if image.folder is not None:
            onnx.external_data_helper.load_external_data_for_model(model, image.folder)
        evaluator = ReferenceEvaluator(model)
    except Exception as error:  # the evaluator raises many kinds, its own and numpy's
        raise RuntimeRefusal(f"reference evaluator: {error}") from None
    names = list(outputs) if outputs is not None else list(evaluator.output_names)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = evaluator.run(names, dict(feeds or {}))
    except Exception as error:  # likewise
        raise RunFailure(f"reference evaluator: {type(error).__name__}: {error}") from None
    return dict(zip(names, values, strict=True))
