"""Symbols for the axes of values: one a value and axis, named after both.

House: analysis. May import model.
Touch: `inference.py` renames the dims of the model's inputs to these names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onnxsim_ci.analysis.dim import Dim, Symbolic, symbol

if TYPE_CHECKING:
    from onnxsim_ci.model import Scope, Value

_ANONYMOUS = re.compile(r"|-1|\?|\*|none|null|unknown|dynamic|unk__\d+|_d\d+|unknown_\d+", re.IGNORECASE)
"""Dim names that generators write for "not known": the same name twice does not mean the same size."""
_PLAIN = re.compile(r"[\w./:\-]+")


def is_anonymous(dim_param: str) -> bool:
    """True when a dim of this name has no name worth comparing."""
    return _ANONYMOUS.fullmatch(dim_param) is not None


def axis_symbol(value: Value, axis: int, *, claim: str = "", is_vague: bool = True) -> Symbolic:
    """The size of axis `axis` of `value`, whatever it is; equal calls give equal symbols."""
    return symbol(axis_name(value, axis), claim=claim, is_vague=is_vague)


def axis_name(value: Value, axis: int) -> str:
    """Name of `axis_symbol`: `x[0]`, with the scope in front of values of inner scopes.

    Other names are quoted, so two axes never share a name.
    """
    return f"{_scope_prefix(value.scope)}{_quoted(value.name)}[{axis}]"


def _scope_prefix(scope: Scope) -> str:
    """Empty for the main graph; else made from the owners' first outputs, which are unique where they are."""
    prefix = ""
    while scope.owner is not None and scope.parent is not None:
        first = next((v.name for v in scope.owner.outputs if v is not None), scope.path)
        prefix = f"{_quoted(first)}#{scope.owner.subgraphs.index(scope)}>{prefix}"
        scope = scope.parent
    return f"{_quoted(scope.path)}>{prefix}" if scope.is_function else prefix


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else repr(name)


def claim_of(dim: Dim) -> str | None:
    """The dim name of the model's inputs that `dim` is; None when it is no single size of an input."""
    if isinstance(dim, int) or len(dim.terms) != 1:
        return None
    coefficient, monomial = dim.terms[0]
    return (monomial[0].claim or None) if coefficient == 1 and len(monomial) == 1 else None
