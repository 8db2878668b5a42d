"""What holds for every test: nothing of the caller's environment leaks in, and skips are loud."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from tests.shared import ABSENT

LEAKS = ("CHANT_", "CHANTRY_", "RADIAN_", "LOGURU_", "PYTHONPATH", "PYTHONWARNINGS")
"""Variables that would change what a started server does."""

KEPT = frozenset({"CHANTRY_SHARED"})


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(LEAKS) and name not in KEPT:
            monkeypatch.delenv(name)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count, where nobody overlooks it, the tests that shared data would have fed."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(_reason(report) for report in skipped)
    absent = {reason: count for reason, count in reasons.items() if ABSENT in reason}
    if not absent:
        return
    terminalreporter.section("NOT TESTED: shared data is absent", sep="!", red=True, bold=True)
    for reason, count in sorted(absent.items()):
        terminalreporter.line(f"{count:5} skipped: {reason.split(ABSENT, 1)[1]}")
    terminalreporter.line(f"{sum(absent.values()):5} tests in all did not run")


def _reason(report: pytest.TestReport) -> str:
    """Return why a test was skipped; pytest keeps (file, line, reason) there."""
    place = report.longrepr
    return str(place[2]) if isinstance(place, tuple) else str(place)
