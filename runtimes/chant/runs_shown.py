"""Records of runs as rows and as text.  Pure."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from runtimes.chant.columns import columns, moment_text, shown_value
from runtimes.chant.wording import duration_text, verdict_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def run_row(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a run that a list shows."""
    return {
        "id": record["id"],
        "op": record.get("op"),
        "status": record["status"],
        "started": record.get("started"),
        "ended": record.get("ended"),
        "duration_ms": run_duration_ms(record),
        "actor": record.get("actor"),
        "origin": record.get("origin"),
        "steward": record.get("steward"),
        "compensation": record.get("compensation"),
    }


def run_duration_ms(record: Mapping[str, Any]) -> int | None:
    """Return how long a run took; None while it runs, or for a record without times."""
    try:
        began = dt.datetime.fromisoformat(record["started"])
        ended = dt.datetime.fromisoformat(record["ended"])
    except (KeyError, TypeError, ValueError):
        return None
    return max(round((ended - began).total_seconds() * 1000), 0)


def took_text(record: Mapping[str, Any]) -> str:
    """Return how long a run took, empty when nobody knows."""
    took = run_duration_ms(record)
    return "" if took is None else duration_text(took)


def runs_text(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each run: when, what, how it went, who, its id."""
    return columns(
        (
            moment_text(each.get("started")),
            str(each.get("op")),
            status_text(each),
            took_text(each),
            str(each.get("steward") or each.get("actor") or ""),
            str(each["id"]),
        )
        for each in records
    )


def status_text(record: Mapping[str, Any]) -> str:
    """Return a run's status and what stopped it, or that clean-up was not complete."""
    status = str(record["status"])
    stopped = record.get("gate") or record.get("point")
    if stopped:
        return f"{status} at {stopped.get('name')}"
    if record.get("compensation") in {"partial", "failed"}:
        return f"{status}, clean-up {record['compensation']}"
    return status


def run_text(record: Mapping[str, Any]) -> str:
    """Return everything about one run, for people."""
    return "\n".join(_run_lines(record))


def _run_lines(record: Mapping[str, Any]) -> Iterator[str]:
    took = took_text(record)
    yield verdict_text(record, f" in {took}" if took else "")
    facts = {
        "run": record["id"],
        "env": record.get("env"),
        "started": moment_text(record.get("started")),
        "ended": moment_text(record.get("ended")),
        "by": who_text(record),
        "commit": commit_text(record),
        "params": pairs_text(record.get("params")),
        "outcomes": pairs_text(record.get("outcomes")),
    }
    yield from columns(((f"{name}:", str(value)) for name, value in facts.items() if value), "  ")
    for phase in record.get("phases") or ():
        yield f"  {phase['name']}{' (on failure)' if phase.get('on_failure') else ''}"
        yield from columns(map(_step_row, phase["steps"]), "    ")
    if record.get("not_run"):
        yield f"  did not run: {', '.join(record['not_run'])}"


def pairs_text(pairs: Mapping[str, Any] | None) -> str:
    """Return ``name=value`` for each, on one line."""
    return " ".join(f"{name}={shown_value(value)}" for name, value in (pairs or {}).items())


def who_text(record: Mapping[str, Any]) -> str:
    """Say who ran it, through what, and where."""
    steward = f", steward {record['steward']}" if record.get("steward") else ""
    return f"{record.get('actor')} ({record.get('origin')}{steward}) on {record.get('host')}"


def commit_text(record: Mapping[str, Any]) -> str:
    """Return the short commit and whether the tree differed from it; empty without one."""
    git: Mapping[str, Any] = record.get("git") or {}
    if not git.get("commit"):
        return ""
    return f"{git['commit'][:12]}{' (dirty)' if git.get('dirty') else ''}"


def _step_row(step: Mapping[str, Any]) -> tuple[str, ...]:
    took = duration_text(step["duration_ms"]) if step.get("attempts") else ""
    tries = f"after {step['attempts']} attempts" if (step.get("attempts") or 0) > 1 else ""
    return (step["status"], step["id"], step["fn"], took, step.get("error") or tries)
