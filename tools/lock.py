"""Exact versions of all packages that the development extra needs, for requirements-dev.lock.

Usage: lock.py > requirements-dev.lock

House: tools. packaging and the standard library.
Touch: run `make lock` after a change of dependencies.
"""

import sys
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def main() -> int:
    """Print one `name==version` a line, sorted."""
    pins: dict[str, str] = {}
    collect("onnxsim-ci", frozenset({"dev"}), pins)
    pins.pop("onnxsim-ci", None)
    print(f"# Written by `make lock` with Python {sys.version_info.major}.{sys.version_info.minor};")
    print("# install with: pip install -r requirements-dev.lock && pip install --no-deps -e .")
    for name in sorted(pins):
        print(f"{name}=={pins[name]}")
    return 0


def collect(name: str, extras: frozenset[str], pins: dict[str, str]) -> None:
    """Add the package and everything that it requires here."""
    found = metadata.distribution(name)
    pins[canonicalize_name(name)] = found.version
    for text in found.requires or ():
        requirement = Requirement(text)
        marker = requirement.marker
        wanted = marker is None or any(marker.evaluate({"extra": extra}) for extra in (*extras, ""))
        if wanted and canonicalize_name(requirement.name) not in pins:
            collect(requirement.name, frozenset(requirement.extras), pins)


if __name__ == "__main__":
    sys.exit(main())
