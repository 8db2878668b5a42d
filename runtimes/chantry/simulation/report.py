"""What ``chantry simulate`` prints."""

from __future__ import annotations

import json
import shlex
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

from ops.counts import counted

if TYPE_CHECKING:
    from actors.simulation.schedule import Schedule
    from runtimes.chantry.simulation.campaign import Campaign, Found, Tally

MOST_SHOWN = 5
"""Findings that are shown in full; the others with their replay only."""
EVERY_S = 0.5


class Progress:
    """A line on stderr that is written over, or now and then a new one where that can't be."""

    def __init__(self, total: int) -> None:
        """Show progress towards ``total`` schedules."""
        self._total = total
        self._live = sys.stderr.isatty()
        self._next = 0.0

    def show(self, tally: Tally) -> None:
        """Show where we are, unless we just did."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (EVERY_S if self._live else 10 * EVERY_S)
        start, end = ("\r", "\x1b[K") if self._live else ("", "\n")
        text = f"{tally.schedules}/{self._total} schedules, {rate(tally)}, {_counts(tally)}"
        sys.stderr.write(f"{start}{text}{end}")
        sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._live:
            sys.stderr.write("\r\x1b[K")


def rate(tally: Tally) -> str:
    """Say how many schedules a second there were."""
    return f"{tally.schedules / max(tally.seconds, 0.001):.0f}/s"


def summary(tally: Tally, campaign: Campaign) -> str:
    """Say on one line what came of it."""
    processes = counted(campaign.jobs, "process", "processes")
    took = f"{tally.seconds:.1f} s ({rate(tally)} on {processes})"
    return f"{counted(tally.schedules, 'schedule')} in {took}: {_counts(tally)}"


def _counts(tally: Tally) -> str:
    return f"{counted(tally.fired, 'fault')} fired, {counted(len(tally.found), 'violation')}"


def findings(tally: Tally, campaign: Campaign, plan_file: str | None) -> str:
    """Tell every finding: what broke, how it came to it, and how to see it again."""
    shown = [_finding(each, campaign, plan_file) for each in tally.found[:MOST_SHOWN]]
    rest = [replay(each, campaign, plan_file) for each in tally.found[MOST_SHOWN:]]
    return "\n\n".join([*shown, *(["and:\n" + "\n".join(rest)] if rest else [])])


def _finding(found: Found, campaign: Campaign, plan_file: str | None) -> str:
    faults = ", ".join(found.faults) or "none"
    return "\n".join(
        [
            f"VIOLATION in {found.scenario}, seed {found.seed}, trace {found.trace_hash}",
            *(f"  {violation}" for violation in found.violations),
            f"  faults: {faults}",
            *(f"    {line}" for line in found.trace),
            f"  replay: {replay(found, campaign, plan_file)}",
        ]
    )


def replay(found: Found, campaign: Campaign, plan_file: str | None) -> str:
    """Return the command that plays a finding again."""
    words = ["chantry", "simulate", "--scenario", found.scenario, "--seed", str(found.seed)]
    if campaign.policy:
        words += ["--policy", campaign.policy]
    if plan_file:
        words += ["--faults", plan_file]
    return shlex.join(words)


def as_json(tally: Tally, campaign: Campaign, plan_file: str | None) -> str:
    """Return all of it for programs."""
    return json.dumps(
        {
            "schedules": tally.schedules,
            "seconds": round(tally.seconds, 3),
            "schedules_per_second": round(tally.schedules / max(tally.seconds, 0.001), 1),
            "points": tally.points,
            "faults_fired": tally.fired,
            "violations": [
                {**asdict(found), "replay": replay(found, campaign, plan_file)}
                for found in tally.found
            ],
        },
        indent=2,
    )


def one(schedule: Schedule) -> str:
    """Tell one schedule, with its trace."""
    fired = ", ".join(map(str, schedule.fired)) or "none"
    lines = [
        *schedule.trace.lines(),
        f"faults: {fired}",
        f"{schedule.points} scheduling points, {schedule.seconds:g} s of its clock",
        f"{schedule.scenario}, seed {schedule.seed}: trace {schedule.trace.hash}",
        *(f"VIOLATION {violation}" for violation in schedule.violations),
    ]
    return "\n".join(lines)
