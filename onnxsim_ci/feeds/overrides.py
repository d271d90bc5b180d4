"""Values for initializers that a caller may override: whoever takes them for constants is found out.

House: feeds; numpy and onnx.
Touch: make.py overrides in the second ordinary sample, hazards.py under the name `overridden`.
"""

from __future__ import annotations

import numpy as np
import onnx

from onnxsim_ci.feeds.specs import InputSpec
from onnxsim_ci.feeds.values import FLOATS


def override_values(
    model: onnx.ModelProto, specs: tuple[InputSpec, ...], rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Other values of the same sign and size for float initializers; those in external data stay as they are.

    The sign stays, because a variance or an epsilon below zero would only make NaN.
    """
    stored = {tensor.name: tensor for tensor in model.graph.initializer}
    changed = {}
    for spec in specs:
        tensor = stored.get(spec.name)
        if not spec.overridable or spec.element not in FLOATS or tensor is None:
            continue
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            continue
        array = onnx.numpy_helper.to_array(tensor)
        changed[spec.name] = np.asarray(array * rng.uniform(1.25, 1.75, array.shape)).astype(array.dtype)
    return changed
