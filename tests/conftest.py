"""Options of the whole suite."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fixtures-update",
        action="store_true",
        help="write the expectations of tests/rules/**/*.md, each only after its numeric check passed",
    )
