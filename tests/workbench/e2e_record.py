"""Writes what end-to-end checks ran and saw, from the reports of the tests, to the file E2E_JSON names.

A test that has the property `e2e` (a list of records) is a check; each of its commands becomes one entry:
check, command, outcome of the test, and seen: exit code, and SHA-256 before and after of watched files.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest


class Recorder:
    """A pytest plugin; does nothing without E2E_JSON."""

    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}
        self.entries: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self.outcomes[report.nodeid] = report.outcome
        for name, records in report.user_properties:
            if name == "e2e" and report.when == "teardown" and isinstance(records, list):
                check = report.nodeid.rpartition("::test_")[2]
                outcome = self.outcomes.get(report.nodeid, "error")
                self.entries += [{"check": check, "outcome": outcome, **record} for record in records]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        place = os.environ.get("E2E_JSON")
        if place and self.entries and not hasattr(session.config, "workerinput"):
            text = json.dumps(self.entries, indent=1, ensure_ascii=True)
            Path(place).write_text(text + "\n", encoding="utf-8")
