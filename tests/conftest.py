"""What holds for every test: nothing of the caller's environment leaks in, and skips are loud."""

from __future__ import annotations

import os
from collections import Counter

import pytest
from hypothesis import settings

from tests.shared import ABSENT

LEAKS = ("CHANT_", "CHANTRY_", "RADIAN_", "LOGURU_", "PYTHONPATH", "PYTHONWARNINGS")
"""Variables that would change what a started server does."""

KEPT = frozenset({"CHANTRY_SHARED"})

# A first example imports what the others have, and a busy machine may take its time.
settings.register_profile("patient", settings(), deadline=None)
settings.load_profile("patient")


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(LEAKS) and name not in KEPT:
            monkeypatch.delenv(name)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count, where nobody overlooks it, the tests that something absent kept from running."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(_reason(report) for report in skipped)
    missed = {reason: count for reason, count in reasons.items() if _is_missed(reason)}
    if not missed:
        return
    terminalreporter.section("NOT TESTED: something is absent", sep="!", red=True, bold=True)
    for reason, count in sorted(missed.items()):
        terminalreporter.line(f"{count:5} skipped: {reason.removeprefix('Skipped: ')}")
    terminalreporter.line(f"{sum(missed.values()):5} tests in all did not run")


def _is_missed(reason: str) -> bool:
    return ABSENT in reason or "NOT TESTED" in reason


def _reason(report: pytest.TestReport) -> str:
    """Return why a test was skipped; pytest keeps (file, line, reason) there."""
    place = report.longrepr
    return str(place[2]) if isinstance(place, tuple) else str(place)
