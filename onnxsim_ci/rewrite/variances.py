"""What decomposed normalizations share: squares, means over trailing axes, a number under the root.

House: rewrite. May import analysis and model.
Touch: the rules of the family norm.
"""

from __future__ import annotations

from math import isfinite

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.patterns import feeder


def is_private(value: Value | None, readers: int) -> bool:
    """True when at most so many nodes read the value and the interface does not."""
    return value is not None and not value.pins and len(value.uses) <= readers


def mean_plus_number(total: Node, facts: Facts) -> tuple[Node, float] | None:
    """The ReduceMean and the number of a sum of the two; the number widens nothing."""
    for index in (0, 1):
        mean, other = feeder(total, index, "ReduceMean"), total.inputs[1 - index]
        number = None if other is None else facts.scalar(other)
        if mean is None or number is None or other is None or (facts.rank(other) or 0) > 1:
            continue
        return (mean, float(number)) if isfinite(number) and number > 0 else None
    return None


def is_square_of(node: Node, value: Value | None, facts: Facts) -> bool:
    """True for a Pow of the value by 2, and for a Mul of the value with itself."""
    base, other = node.inputs
    if node.op_type == "Mul":
        return base is value and other is value
    flat = other is not None and (facts.rank(other) or 0) <= 1
    return base is value and flat and other is not None and facts.scalar(other) == 2


def first_averaged_axis(mean: Node, x: Value, facts: Facts) -> int | None:
    """First of the trailing static axes that a ReduceMean averages and keeps as 1; None for others."""
    shape = facts.shape(x)
    axes = None if not shape else facts.axes(mean, len(shape))
    if not axes or shape is None or not mean.attribute("keepdims", 1):
        return None
    first = min(axes)
    is_static = all(isinstance(d, int) and d > 0 for d in shape[first:])
    return first if is_static and len(axes) == len(shape) - first else None
