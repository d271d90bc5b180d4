"""What is known about a model's values: element types, symbolic shapes, contents of small integer tensors.

Belongs here: dims, facts and how they flow through operators. Does not belong here: changing the graph
(rewrite), running anything (runtime).

House: analysis. May import model and onnx.
Touch: callers import names from this package, not from its modules.
"""

from onnxsim_ci.analysis.axes import axis_symbol, claim_of, is_anonymous
from onnxsim_ci.analysis.content import CONTENT_LIMIT, Content
from onnxsim_ci.analysis.dim import (
    Dim,
    Shape,
    Symbol,
    Symbolic,
    bounds,
    difference,
    exact_quotient,
    is_at_least,
    is_divisible,
    is_nonnegative,
    is_positive,
    is_vague,
    product,
    symbol,
)
from onnxsim_ci.analysis.facts import Facts
from onnxsim_ci.analysis.inference import Inference, infer, is_complete, learn_constants
from onnxsim_ci.analysis.opaque import (
    broadcast_dim,
    broadcast_shapes,
    ceildiv,
    claimed,
    evaluate,
    floordiv,
    maximum,
    minimum,
    modulo,
    or_copied,
    symbols,
    truncdiv,
)

__all__ = [
    "CONTENT_LIMIT",
    "Content",
    "Dim",
    "Facts",
    "Inference",
    "Shape",
    "Symbol",
    "Symbolic",
    "axis_symbol",
    "bounds",
    "broadcast_dim",
    "broadcast_shapes",
    "ceildiv",
    "claim_of",
    "claimed",
    "difference",
    "evaluate",
    "exact_quotient",
    "floordiv",
    "infer",
    "is_anonymous",
    "is_at_least",
    "is_complete",
    "is_divisible",
    "is_nonnegative",
    "is_positive",
    "is_vague",
    "learn_constants",
    "maximum",
    "minimum",
    "modulo",
    "or_copied",
    "product",
    "symbol",
    "symbols",
    "truncdiv",
]
