"""What the ONNX schemas say about an operator: known or not, since when, deterministic or not.

House: model. May import onnx.
Touch: `NONDETERMINISTIC` when the standard gains a random operator; a test compares it with the schemas.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from onnx import defs

STANDARD_DOMAINS = frozenset({"", "ai.onnx.ml"})
"""Domains whose operators are pure functions described by the ONNX standard."""

NONDETERMINISTIC = frozenset(
    {
        "Bernoulli",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
    }
)
"""Standard operators whose results differ from call to call, seeded or not."""

BODIES = (defs.OpSchema.AttrType.GRAPH, defs.OpSchema.AttrType.GRAPHS)
TENSORS = (defs.OpSchema.AttrType.TENSOR, defs.OpSchema.AttrType.TENSORS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """Schema facts of one operator at one opset.

    Attributes:
        since: Version that this opset's definition dates from.
        is_deterministic: Equal inputs give equal outputs.
        has_bodies: Some attribute is a graph.
        defaults: Serialized default attributes by name, as the schema gives them.
    """

    op_type: str
    domain: str
    since: int
    is_deterministic: bool
    has_bodies: bool
    defaults: tuple[tuple[str, bytes], ...]


@lru_cache(maxsize=4096)
def find_operator(op_type: str, domain: str, version: int) -> Operator | None:
    """The operator as `version` of `domain` defines it; None when the standard has no such operator there."""
    if domain not in STANDARD_DOMAINS:
        return None
    try:
        schema = defs.get_schema(op_type, version, domain)
    except defs.SchemaError:
        return None
    if schema.deprecated:
        return None
    defaults = tuple(
        (name, attribute.default_value.SerializeToString(deterministic=True))
        for name, attribute in sorted(schema.attributes.items())
        if attribute.default_value.name
    )
    return Operator(
        op_type=op_type,
        domain=domain,
        since=schema.since_version,
        is_deterministic=op_type not in NONDETERMINISTIC,
        has_bodies=any(a.type in BODIES for a in schema.attributes.values()),
        defaults=defaults,
    )


@lru_cache(maxsize=1024)
def may_hold_graphs(op_type: str, domain: str) -> bool:
    """True unless the standard says that this operator has no body."""
    return _may_hold(BODIES, op_type, domain)


@lru_cache(maxsize=1024)
def may_hold_tensors(op_type: str, domain: str) -> bool:
    """True unless the standard says that this operator has no tensor attribute."""
    return _may_hold(TENSORS, op_type, domain)


def _may_hold(kinds: tuple[defs.OpSchema.AttrType, ...], op_type: str, domain: str) -> bool:
    domain = "" if domain == "ai.onnx" else domain
    if domain not in STANDARD_DOMAINS or not defs.has(op_type, domain):
        return True
    return any(a.type in kinds for a in defs.get_schema(op_type, domain).attributes.values())


@lru_cache(maxsize=1024)
def is_ever_standard(op_type: str, domain: str) -> bool:
    """True when some version of the standard defines this operator."""
    return domain in STANDARD_DOMAINS and defs.has(op_type, domain)
