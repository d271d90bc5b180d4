"""Contents of Constant nodes in all their attribute forms.

House: model. May import onnx and numpy.
Touch: `graph.py` for the slots that are filled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from onnx import NodeProto

if TYPE_CHECKING:
    from onnxsim_ci.model.graph import Value


def constant_node_content(value: Value, proto: NodeProto) -> None:
    """Fill `tensor` or `data` of a Constant node's output; sparse and string forms leave it unknown.

    `value_float` is float32 and `value_int` is int64, scalar; `value_floats` and `value_ints` have rank 1.
    Source: ONNX operator Constant, versions 1 to 25.
    """
    if len(proto.attribute) != 1:
        return
    attribute = proto.attribute[0]
    if attribute.ref_attr_name:
        return
    if attribute.name == "value":
        value.tensor = attribute.t
    elif attribute.name == "value_int":
        value.data = np.array(attribute.i, np.int64)
    elif attribute.name == "value_float":
        value.data = np.array(attribute.f, np.float32)
    elif attribute.name == "value_ints":
        value.data = np.array(attribute.ints, np.int64)
    elif attribute.name == "value_floats":
        value.data = np.array(attribute.floats, np.float32)
