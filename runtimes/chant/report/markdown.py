"""A run as Markdown, for a pull request or a summary page.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.chant.columns import moment_text, shown_value
from runtimes.chant.report.timeline import timeline
from runtimes.chant.runs_shown import commit_text, status_text, took_text, who_text
from runtimes.chant.wording import duration_text, verdict_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from runtimes.chant.report.timeline import Bar

WIDTH = 30
"""Characters of the timeline."""


def markdown(record: Mapping[str, Any]) -> str:
    """Return the report; it ends in a newline."""
    return "\n".join(_lines(record)) + "\n"


def _lines(record: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {_text(record['op'])}: {_text(status_text(record))}"
    yield ""
    yield _text(verdict_text(record)) + "."
    yield ""
    yield from _table(("", ""), _facts(record))
    for title, pairs in (
        ("Parameters", record.get("params")),
        ("Outcomes", record.get("outcomes")),
    ):
        if pairs:
            yield from ("", f"## {title}", "")
            yield from _table(("name", "value"), ((k, shown_value(v)) for k, v in pairs.items()))
    yield from ("", "## Steps", "")
    rows = _step_rows(record)
    yield from _table(("phase", "step", "what", "status", "took", "note"), rows)
    yield from ("", "## Timeline", "", "```text")
    yield from _chart(record)
    yield "```"


def _facts(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    steward = record.get("steward")
    facts = {
        "run": f"`{record['id']}`",
        "environment": _text(record.get("env")),
        "started": moment_text(record.get("started")),
        "took": took_text(record),
        "by": _text(who_text(record)),
        "steward": _text(steward) if steward else "",
        "commit": commit_text(record),
        "clean-up": _text(record.get("compensation")),
        "did not run": _text(", ".join(record.get("not_run") or ())),
    }
    yield from ((name, value) for name, value in facts.items() if value)


def _step_rows(record: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for phase in record.get("phases") or ():
        name = f"{phase['name']} (on failure)" if phase.get("on_failure") else phase["name"]
        for step in phase["steps"]:
            took = duration_text(step["duration_ms"]) if step.get("attempts") else ""
            yield (name, step["id"], step["fn"], step["status"], took, note_text(step))


def note_text(step: Mapping[str, Any]) -> str:
    """Say what else is to be said of a step: its error, its attempts, who let it through."""
    attempts: int = step.get("attempts") or 0
    approval: Mapping[str, Any] = step.get("approval") or {}
    by = ", ".join(str(each["approver"]) for each in approval.get("by") or ())
    notes = [
        str(step.get("error") or ""),
        f"{attempts} attempts" if attempts > 1 else "",
        f"approved by {by}" if by else "",
    ]
    return "; ".join(note for note in notes if note)


def _chart(record: Mapping[str, Any]) -> Iterator[str]:
    found = timeline(record)
    bars = [bar for lane in found.lanes for bar in lane.bars]
    width = max((len(str(bar.step["id"])) for bar in bars), default=0)
    for bar in bars:
        drawn = _drawn(bar, found.total_ms)
        took = duration_text(bar.duration_ms) if bar.start_ms is not None else bar.step["status"]
        yield f"{bar.step['id']:<{width}} |{drawn:<{WIDTH}}| {took}"


def _drawn(bar: Bar, total_ms: int) -> str:
    if bar.start_ms is None:
        return ""
    begin = min(round(WIDTH * bar.start_ms / total_ms), WIDTH - 1)
    length = max(round(WIDTH * bar.duration_ms / total_ms), 1)
    return " " * begin + "#" * min(length, WIDTH - begin)


def _table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(_cell(each) for each in row)} |"


def _cell(value: object) -> str:
    text = str(value)
    return text if text.startswith("`") else _text(text)


def _text(value: object) -> str:
    """Keep what Markdown would take for markup as it is."""
    text = " ".join(str(value if value is not None else "").split())
    for mark in "\\`*_[]<>|#":
        text = text.replace(mark, f"\\{mark}")
    return text
