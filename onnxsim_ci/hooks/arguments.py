"""Arguments of the hook: a few long options, known exactly; every other argument is a file.

Managers put file names right after the user's `args:`, without `--`, and a committed name may look like an
option: so nothing is abbreviated, and what is not one of ours is never refused as an option.

House: hooks, fast path. Standard library, errors.
Touch: `USAGE`; integrations/pre-commit/README.md shows `args:`.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from onnxsim_ci.errors import BadInput

USAGE = """\
usage: onnxsim-ci hook [OPTION]... FILE...

Simplify the models FILE in place and prove each result; exit 1 when anything was written.

  --check                  write nothing; exit 1 if a model would change or is over its budget
  --check-policies         FILE are policy files: report every mistake
  --policy FILE            policy file of the repository, instead of searching
  --set SECTION.KEY=VALUE  set one value of the policy
  --jobs N                 models at a time; one a processor, as far as memory goes
  --require-content        a git-LFS pointer is an error
  --no-cache               neither use nor keep what earlier runs found out
"""

Mode = Literal["rewrite", "check", "policies"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the hook is asked to do.

    Attributes:
        mode: rewrite in place, check only, or check policy files.
        files: As they were handed over.
        policy: Policy file that replaces the search.
        sets: `section.key=value` texts.
        jobs: Most models at a time; None for one a processor.
        requires_content: A git-LFS pointer is an error.
        uses_cache: What earlier runs found out counts.
        wants_help: Only the usage is printed.
    """

    mode: Mode = "rewrite"
    files: tuple[str, ...] = ()
    policy: str | None = None
    sets: tuple[str, ...] = ()
    jobs: int | None = None
    requires_content: bool = False
    uses_cache: bool = True
    wants_help: bool = False

    @property
    def options(self) -> tuple[object, ...]:
        """Everything that an answer may depend on, beside the files."""
        return (self.mode, self.policy, self.sets, self.requires_content)


def parse(arguments: Sequence[str], exists: Callable[[str], bool] = os.path.lexists) -> Request:
    """The request behind the arguments after `hook`.

    Args:
        arguments: Options and files.
        exists: Whether a model is there: `--policy=x.onnx` may be the name of one.

    Raises:
        BadInput: An option without its value, or a number that is none.
    """
    given: dict[str, Any] = {}
    files: list[str] = []
    words = list(arguments)
    while words:
        word = words.pop(0)
        if word == "--":
            files += words
            break
        name, equals, value = word.partition("=")
        if word in _SWITCHES:
            given.update(_SWITCHES[word])
        elif name in _VALUES and not (word.lower().endswith(".onnx") and equals and exists(word)):
            if not equals and not words:
                raise BadInput(f"{name} needs a value", where="hook")
            _put(given, name, value if equals else words.pop(0))
        else:
            files.append(word)
    return Request(files=tuple(files), **given)


_SWITCHES: dict[str, dict[str, Any]] = {
    "--check": {"mode": "check"},
    "--check-policies": {"mode": "policies"},
    "--require-content": {"requires_content": True},
    "--no-cache": {"uses_cache": False},
    "--help": {"wants_help": True},
}
_VALUES = ("--policy", "--set", "--jobs")


def _put(given: dict[str, Any], name: str, value: str) -> None:
    if name == "--policy":
        given["policy"] = value
    elif name == "--set":
        given["sets"] = (*given.get("sets", ()), value)
    elif value.isdecimal() and int(value) > 0:
        given["jobs"] = int(value)
    else:
        raise BadInput(f"--jobs {value!r} is not a number above zero", where="hook")
