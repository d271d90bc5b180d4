"""Sentences for what pydantic found wrong, with the nearest known name.

House: policy. May import pydantic.
Touch: tests/policy/test_mistakes.py shows each kind of sentence.
"""

import difflib
import inspect
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from onnxsim_ci.policy.positions import Path

_ACCEPTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "a text in quotes",
    "tuple_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}
_BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
}


def describe(
    failure: ValidationError, data: Mapping[str, Any], model: type[BaseModel]
) -> list[tuple[Path, str]]:
    """Path into `data` and sentence of each mistake, one a path, `version` first.

    Args:
        failure: What `model.model_validate(data)` raised.
        data: Plain tables as TOML gives them.
        model: The root model.
    """
    groups: dict[Path, list[ErrorDetails]] = {}
    for error in failure.errors(include_url=False):
        groups.setdefault(_inside(error, data), []).append(error)
    for path in [path for path, errors in groups.items() if errors[0]["type"] == "too_short"]:
        if any(len(other) > len(path) and other[: len(path)] == path for other in groups):
            del groups[path]  # pydantic does not count items that have mistakes of their own
    found = [(path, _sentence(path, errors, model)) for path, errors in groups.items()]
    return sorted(found, key=lambda item: item[0][:1] != ("version",))


def _inside(error: ErrorDetails, data: object) -> Path:
    """The part of the error's location that stands in the data; union branches and validators do not."""
    path: list[str | int] = []
    for step in error["loc"]:
        is_item = isinstance(data, list | tuple) and isinstance(step, int) and step < len(data)
        if not (is_item or (isinstance(data, dict) and step in data)):
            break
        data = data[step]  # type: ignore[index]  # one of the two, checked above
        path.append(step)
    return tuple(path)


def _sentence(path: Path, errors: list[ErrorDetails], model: type[BaseModel]) -> str:
    first = errors[0]
    if first["type"] == "extra_forbidden":
        return _unknown_key(path, model)
    if first["type"] == "missing":
        return f"{first['loc'][-1]!r} is missing"
    if len(errors) == 1 and first["type"] == "value_error":
        return str(first["ctx"]["error"])
    if len(errors) == 1 and first["type"] == "too_short":
        return "must not be empty"
    accepted = " or ".join(dict.fromkeys(_accepted(error) for error in errors))
    sentence = f"expected {accepted}, not {_shown(first['input'])}"
    expected = [name for error in errors for name in _choices(error)]
    near = difflib.get_close_matches(str(first["input"]), expected, 1, 0.5)
    return f"{sentence}; did you mean {near[0]!r}?" if near else sentence


def _accepted(error: ErrorDetails) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind in _BOUNDS:
        key, words = _BOUNDS[kind]
        return f"{words} {context[key]}"
    if kind == "literal_error":
        return " or ".join(f'"{choice}"' for choice in _choices(error))
    if kind == "value_error":
        return str(context["error"])
    return _ACCEPTED.get(kind, error["msg"][0].lower() + error["msg"][1:])


def _choices(error: ErrorDetails) -> list[str]:
    if error["type"] != "literal_error":
        return []
    words = error["ctx"]["expected"].replace(" or ", ", ").split(", ")
    return [word.strip("'") for word in words]


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _unknown_key(path: Path, model: type[BaseModel]) -> str:
    name, here = str(path[-1]), model_at(model, path[:-1])
    known = list(here.model_fields)
    kind = "section or key" if len(path) == 1 else "key"
    elsewhere = [
        f"{section}.{name}"
        for section, inner in _sections(model)
        if here is not inner and name in inner.model_fields
    ]
    if elsewhere:
        return f"unknown {kind}; did you mean {elsewhere[0]!r}?"
    near = difflib.get_close_matches(name.lower().replace("-", "_"), known, 1, 0.6)
    if near:
        return f"unknown {kind}; did you mean {near[0]!r}?"
    return f"unknown {kind}; known are {', '.join(known)}"


def _sections(model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    for name, field in model.model_fields.items():
        for inner in _models_in(field.annotation):
            yield name, inner


def model_at(model: type[BaseModel], path: Path) -> type[BaseModel]:
    """The model that the table at `path` is checked by; the nearest above it where there is none."""
    for step in path:
        if isinstance(step, str) and step in model.model_fields:
            model = next(_models_in(model.model_fields[step].annotation), model)
    return model


def _models_in(kind: object) -> Iterator[type[BaseModel]]:
    """Models that an annotation names, through unions, tuples and Annotated."""
    if inspect.isclass(kind) and issubclass(kind, BaseModel):
        yield kind
    for part in typing.get_args(kind):
        yield from _models_in(part)
