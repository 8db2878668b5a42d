"""Schedules: five fields, in UTC."""

from __future__ import annotations

import datetime as dt

import pytest

from ops.cron import CronInvalid, parse_cron


def at(text: str) -> float:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC).timestamp()


@pytest.mark.parametrize(
    ("cron", "now", "due"),
    [
        ("*/15 * * * *", "2026-11-30T12:14:59", "2026-11-30T12:15:00"),
        ("*/15 * * * *", "2026-11-30T12:15:00", "2026-11-30T12:30:00"),
        ("0 3 * * *", "2026-11-30T12:00:00", "2026-12-01T03:00:00"),
        ("0 9 * * mon", "2026-12-01T00:00:00", "2026-12-07T09:00:00"),
        ("0 0 29 2 *", "2026-11-30T12:00:00", "2028-02-29T00:00:00"),
        # Hours that a local clock skips or repeats are hours like all others here.
        ("30 2 * * *", "2026-03-29T00:00:00", "2026-03-29T02:30:00"),
        ("30 1 * * *", "2026-10-25T01:30:00", "2026-10-26T01:30:00"),
    ],
)
def test_a_schedule_says_when_it_is_due_next(cron: str, now: str, due: str) -> None:
    assert parse_cron(cron).next_after(at(now)) == at(due)


@pytest.mark.parametrize(
    "text",
    ["", "* * * *", "* * * * * *", "@daily", "61 * * * *", "x * * * *", "H * * * *", "R * * * *"],
)
def test_what_is_no_schedule_is_refused(text: str) -> None:
    with pytest.raises(CronInvalid, match="schedule"):
        parse_cron(text)


def test_a_day_that_never_comes_is_refused() -> None:
    with pytest.raises(CronInvalid, match="never comes"):
        parse_cron("0 0 30 2 *")
