"""Single values from outside the files: environment variables and flags.

House: policy. May import policy.document, mistakes.
Touch: README.md and docs/policy.md name the variables' form.
"""

import tomllib
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from onnxsim_ci.policy.document import Policy
from onnxsim_ci.policy.loading import dotted
from onnxsim_ci.policy.mistakes import describe, model_at
from onnxsim_ci.policy.positions import Path

PREFIX = "ONNXSIM_CI_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One value for one key.

    Attributes:
        path: Section and key, or deeper.
        value: As TOML would give it.
        origin: Where it comes from, for people: `environment NAME` or `flag --NAME`.
        adds: A list is appended to what stands there, instead of replacing it.
    """

    path: tuple[str, ...]
    value: Any
    origin: str
    adds: bool = False

    def tables(self) -> dict[str, Any]:
        """The setting as nested tables."""
        tree: Any = self.value
        for step in reversed(self.path):
            tree = {step: tree}
        return dict(tree)

    def problems(self) -> list[str]:
        """What is wrong with it, one sentence each."""
        try:
            Policy.model_validate(self.tables())
        except ValidationError as failure:
            found = describe(failure, self.tables(), Policy)
            return [f"{self.origin}: {dotted(path)}{sentence}" for path, sentence in found]
        return []


def environment_settings(environ: Mapping[str, str]) -> list[Setting]:
    """Settings of all variables `ONNXSIM_CI_<SECTION>__<KEY>`, sorted by name; other names are not ours."""
    found = []
    for name in sorted(environ):
        rest = name.removeprefix(PREFIX)
        if rest != name and "__" in rest:
            path = _cased(rest.split("__"))
            value = parse_value(path, environ[name])
            found.append(Setting(path=path, value=value, origin=f"environment {name}"))
    return found


def flag_settings(assignments: Iterable[str], origin: str = "flag --set") -> list[Setting]:
    """Settings of `section.key=value` texts.

    Raises:
        ValueError: A text without an equals sign.
    """
    found = []
    for text in assignments:
        key, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"{text!r} is not section.key=value")
        path = tuple(part.strip() for part in key.split("."))
        found.append(
            Setting(path=path, value=parse_value(path, value.strip()), origin=f"{origin} {key.strip()}")
        )
    return found


def parse_value(path: tuple[str, ...], text: str) -> object:
    """`text` as the key wants it: TOML where it is TOML, else a text; for a list also items with commas."""
    kinds = _kinds(path)
    if kinds == {str}:
        return text
    try:
        value: object = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    if isinstance(value, str) and tuple in kinds and str not in kinds:
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def _cased(parts: list[str]) -> tuple[str, ...]:
    """Sections and keys in lower case; names of inputs and symbols as they are."""
    lower = [part.lower() for part in parts]
    if lower[0] == "shapes" and lower[1:2] != ["bind"]:
        return ("shapes", *parts[1:])
    return (*lower[:2], *parts[2:]) if lower[0] in ("shapes", "verify") else tuple(lower)


def _kinds(path: Path) -> set[object]:
    """Plain types that the key's annotation names; empty for an unknown key."""
    here = model_at(Policy, path[:-1])
    field = here.model_fields.get(str(path[-1]))
    return set(_plain(field.annotation)) if field is not None else set()


def _plain(kind: object) -> Iterable[object]:
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType, typing.Annotated):
        for part in typing.get_args(kind):
            yield from _plain(part)
    else:
        yield origin or kind
