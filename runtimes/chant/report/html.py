"""A run as one HTML page: nothing is fetched, no script runs.  Pure."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from runtimes.chant.columns import moment_text, shown_value
from runtimes.chant.report.markdown import note_text
from runtimes.chant.report.style import STYLE
from runtimes.chant.report.timeline import timeline
from runtimes.chant.runs_shown import commit_text, pairs_text, status_text, took_text, who_text
from runtimes.chant.wording import duration_text, verdict_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from runtimes.chant.report.timeline import Bar, Lane, Timeline

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Said by the page of itself: a value that got past the escaping still could do nothing."""

LABEL_FLIPS = 75.0
"""Percent from which on a bar's label stands before the bar, or in it where no room is left."""

WIDE = 22
"""Characters from which on a value has a row of its own on a phone."""

KINDS = {
    "ok": "ok",
    "fail": "fail",
    "cancelled": "fail",
    "interrupted": "fail",
    "gated": "wait",
    "waiting": "wait",
}


def html_page(record: Mapping[str, Any], version: str) -> str:
    """Return the whole page for a run's record."""
    title = f"{record['op']} {status_text(record)}"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}</style>",
            "</head>",
            "<body>",
            "<main>",
            *_body(record, version),
            "</main>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _body(record: Mapping[str, Any], version: str) -> Iterator[str]:
    took = took_text(record)
    badge = _badge(status_text(record), record)
    yield f"<header><h1>{escape(str(record['op']))}</h1>{badge}</header>"
    verdict = verdict_text(record, f" in {took}" if took else "")
    yield f'<p class="verdict">{escape(verdict)}</p>'
    yield from _failure(record)
    yield from _card("", _definitions(_facts(record)))
    yield from _card("Timeline", _timeline(record))
    yield from _card("Steps", _steps(record))
    for title, pairs in (
        ("Parameters", record.get("params")),
        ("Outcomes", record.get("outcomes")),
    ):
        if pairs:
            yield from _card(title, _definitions(pairs.items(), mono=True))
    yield f"<footer>Made by chant {escape(version)} from run {escape(record['id'])}.</footer>"


def _card(title: str, inner: Iterable[str]) -> Iterator[str]:
    yield '<section class="card">'
    if title:
        yield f"<h2>{title}</h2>"
    yield from inner
    yield "</section>"


def _facts(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    facts = {
        "Environment": record.get("env"),
        "Started": moment_text(record.get("started")),
        "Took": took_text(record),
        "By": who_text(record),
        "Commit": commit_text(record),
        "Clean-up": record.get("compensation"),
        "Labels": pairs_text(record.get("labels")),
        "Did not run": ", ".join(record.get("not_run") or ()),
        "Run": record["id"],
    }
    yield from ((name, str(value)) for name, value in facts.items() if value)


def _definitions(pairs: Iterable[tuple[str, Any]], *, mono: bool = False) -> Iterator[str]:
    yield '<dl class="facts">'
    for name, value in pairs:
        text = escape(shown_value(value) if mono else str(value))
        shown = f"<code>{text}</code>" if mono else text
        wide = ' class="wide"' if len(text) >= WIDE else ""
        yield f"<div{wide}><dt>{escape(str(name))}</dt><dd>{shown}</dd></div>"
    yield "</dl>"


def _failure(record: Mapping[str, Any]) -> Iterator[str]:
    failure = record.get("failure")
    if not failure:
        return
    where = f"{failure.get('phase')} / {failure.get('fn')} ({failure.get('step_id')})"
    place = f" at <code>{escape(where)}</code>" if failure.get("fn") else ""
    words = "Cancelled" if failure.get("kind") == "cancelled" else "Failed"
    yield '<section class="card failure">'
    yield f"<p><strong>{words}</strong>{place}</p>"
    yield f"<pre>{escape(str(failure.get('error')))}</pre>"
    yield "</section>"


def _timeline(record: Mapping[str, Any]) -> Iterator[str]:
    found = timeline(record)
    ticks = "".join(_tick(found, at) for at in found.ticks[1:])
    for lane in found.lanes:
        undo = " <span>on failure</span>" if lane.on_failure else ""
        name = f'<div class="phase-name">{escape(lane.name)}{undo}</div>'
        yield f'<div class="lane phase">{name}</div>'
        yield from _lane(lane, found, ticks)
    marks = "".join(_at(found, at) for at in found.ticks)
    axis = f'<div></div><div class="track">{marks}</div>'
    yield f'<div class="lane axis" aria-hidden="true">{axis}</div>'


def _lane(lane: Lane, found: Timeline, ticks: str) -> Iterator[str]:
    for bar in lane.bars:
        name = str(bar.step["id"])
        what = escape(f"{name} ({bar.step['fn']}): {_words(str(bar.step['status']))}")
        yield (
            f'<div class="lane" title="{what}"><div class="step-name">{escape(name)}</div>'
            f'<div class="track">{ticks}{_drawn(bar, found)}</div></div>'
        )


def _drawn(bar: Bar, found: Timeline) -> str:
    status = str(bar.step["status"])
    if bar.start_ms is None:
        return f'<span class="label" style="left:0">{escape(_words(status))}</span>'
    left, right = found.share(bar.start_ms), found.share(bar.start_ms + bar.duration_ms)
    said = f"{_words(status)}, {duration_text(bar.duration_ms)}"
    label, side = "label", f"left:{right:.3f}%"
    if right > LABEL_FLIPS and left < 100 - LABEL_FLIPS:
        label, side = "label within", f"right:{100 - right:.3f}%"
    elif right > LABEL_FLIPS:
        side = f"right:{100 - left:.3f}%"
    return (
        f'<span class="bar {_kind(status)}" role="img" aria-label="{escape(said)}"'
        f' style="left:{left:.3f}%;width:{right - left:.3f}%"></span>'
        f'<span class="{label}" style="{side}">{escape(duration_text(bar.duration_ms))}</span>'
    )


def _tick(found: Timeline, at: int) -> str:
    return f'<span class="tick" style="left:{found.share(at):.3f}%"></span>'


def _at(found: Timeline, at: int) -> str:
    share = found.share(at)
    last = " last" if share > 97 else ""  # noqa: PLR2004 - would stick out of the card
    text = escape(duration_text(at) if at else "0")
    return f'<span class="at{last}" style="left:{share:.3f}%">{text}</span>'


def _steps(record: Mapping[str, Any]) -> Iterator[str]:
    yield '<div class="scroll"><table>'
    heads = "".join(f"<th>{name}</th>" for name in ("Step", "What", "Status", "Took", "Note"))
    yield f"<thead><tr>{heads}</tr></thead>"
    yield "<tbody>"
    for phase in record.get("phases") or ():
        for step in phase["steps"]:
            took = duration_text(step["duration_ms"]) if step.get("attempts") else ""
            cells = [
                f"<td><code>{escape(str(step['id']))}</code></td>",
                f'<td class="what">{escape(phase["name"])} / {escape(str(step["fn"]))}</td>',
                f"<td>{_badge(_words(str(step['status'])), step)}</td>",
                f'<td class="num">{escape(took)}</td>',
                f'<td class="note">{escape(note_text(step))}</td>',
            ]
            yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table></div>"


def _badge(text: str, status: Mapping[str, Any]) -> str:
    return f'<span class="badge {_kind(str(status["status"]))}">{escape(text)}</span>'


def _kind(status: str) -> str:
    return KINDS.get(status, "idle")


def _words(status: str) -> str:
    return status.replace("_", " ")
