"""Field types and the base class of all policy sections.

House: policy. May import pydantic and policy.quantities.
Touch: schema/policy.schema.json (`make docs`) when a type's accepted form changes.
"""

from collections.abc import Callable
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
)

from onnxsim_ci.policy import quantities

MAX_STARS = 4
"""Matching takes time to this power of a name's length."""


class Section(BaseModel):
    """A table of the policy: unknown keys are mistakes, values never change, types are not coerced."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        use_attribute_docstrings=True,
        allow_inf_nan=False,
        regex_engine="python-re",
    )


def only(default: object) -> AfterValidator:
    """Refuse every value but `default`: the part that would read another one is not built yet."""

    def check(value: object) -> object:
        if value != default:
            raise ValueError(f"{value!r} is not available yet in this version; only {default!r} is")
        return value

    return AfterValidator(check)


def _relative(value: str) -> str:
    parts = value.replace("\\", "/").split("/")
    if value.startswith(("/", "\\", "~")) or ".." in parts or ":" in parts[0]:
        raise ValueError(f"{value!r} must be relative to the policy's folder, without '..'")
    return value


def _glob(value: str) -> str:
    """A glob of pathlib."""
    if any("**" in part and part != "**" for part in _relative(value).split("/")):
        raise ValueError(f"{value!r} has ** inside a name; it stands for whole folders")
    return value


def _pattern(value: str) -> str:
    """A gitignore pattern may start with ! and with / for the policy's own folder."""
    parts = _relative(value.removeprefix("!").removeprefix("/")).split("/")
    if max(parts.count("**"), *(part.count("*") for part in parts)) > MAX_STARS:
        raise ValueError(f"{value!r} has more than {MAX_STARS} times * in a name, or ** in all")
    return value


def _text(form: Callable[[int], str]) -> PlainSerializer:
    return PlainSerializer(form, return_type=str)


def _quantity(pattern: str, example: str) -> WithJsonSchema:
    text = {"type": "string", "pattern": pattern, "examples": [example]}
    return WithJsonSchema({"anyOf": [text, {"type": "integer", "minimum": 0}]})


Names = Annotated[tuple[str, ...], Field(strict=False)]
"""A list of names."""

RelativePath = Annotated[str, AfterValidator(_glob)]
"""A path or glob below the policy's folder; empty for none."""

Globs = Annotated[tuple[Annotated[str, AfterValidator(_pattern)], ...], Field(strict=False)]
"""A list of gitignore-style patterns, relative to the file that says them."""

Bytes = Annotated[
    int,
    BeforeValidator(quantities.parse_bytes),
    _text(quantities.format_bytes),
    _quantity(quantities.BYTES_PATTERN, "64MiB"),
]
"""A size."""

Count = Annotated[
    int,
    BeforeValidator(quantities.parse_count),
    _text(quantities.format_count),
    _quantity(quantities.COUNT_PATTERN, "10G"),
]
"""A large count."""

Seconds = Annotated[
    float,
    BeforeValidator(quantities.parse_seconds),
    PlainSerializer(quantities.format_seconds, return_type=str),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": quantities.SECONDS_PATTERN, "examples": ["300s"]},
                {"type": "number", "exclusiveMinimum": 0},
            ]
        }
    ),
]
"""A duration."""

Relative = Annotated[
    quantities.Allowance,
    PlainValidator(quantities.parse_allowance),
    PlainSerializer(str, return_type=str),
    WithJsonSchema(
        {
            "anyOf": [
                {
                    "type": "string",
                    "pattern": quantities.ALLOWANCE_PATTERN,
                    "examples": ["+0", "+5%", "+2MiB"],
                },
                {"type": "integer"},
            ]
        }
    ),
]
"""A limit relative to the source."""
