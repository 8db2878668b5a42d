"""The events of a turn for people: the answer on stdout, what happens meanwhile on stderr."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, TextIO

from runtimes.radian import events
from runtimes.radian.tools.subagent import NAME as SUBAGENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MAX_LINE = 160
MAX_REASON = 400
COLOURS: Final = {">": "36", "!": "31", "?": "1", "~": "33", "w": "33", "r": "31"}
"""How a line looks on a terminal, by how it begins; others are dim."""


class TextView:
    """Progress as lines.  ``live``: answers are shown as they come, for a person who watches."""

    def __init__(self, out: TextIO, err: TextIO, *, live: bool) -> None:
        self._out = out
        self._err = err
        self._live = live
        self._coloured = err.isatty() and os.environ.get("TERM") != "dumb"
        self._coloured = self._coloured and not os.environ.get("NO_COLOR")
        self._titles: dict[str, str] = {}
        self._subagents: set[str] = set()
        """Calls whose output is what a subagent does."""
        self._mid_line = False
        """The answer that is being shown has not ended its line."""

    def show(self, items: Sequence[events.Event]) -> None:
        """Write events; may wait for whoever reads."""
        for item in items:
            if isinstance(item, events.Text):
                self._text(item.delta)
            elif isinstance(item, events.Asked):
                self._end_line()
                first, line_end, rest = item.text.partition("\n")
                self._err.write(f"{self._paint(first)}{line_end}{rest}")
                self._err.flush()
            else:
                for line in self._lines(item):
                    self._progress(line)
        if self._live:
            self._out.flush()

    def result(self, table: Mapping[str, Any]) -> None:
        """Write the answer, unless it was shown already, and why a turn did not complete."""
        text = str(table["text"])
        if not self._live and text:
            self._out.write(text if text.endswith("\n") else f"{text}\n")
        self._end_line()
        self._out.flush()

    def _text(self, delta: str) -> None:
        if self._live and delta:
            self._out.write(delta)
            self._mid_line = not delta.endswith("\n")

    def _progress(self, line: str) -> None:
        self._end_line()
        self._err.write(f"{self._paint(line)}\n")
        self._err.flush()

    def _paint(self, line: str) -> str:
        if not self._coloured:
            return line
        return f"\x1b[{COLOURS.get(line[:1], '2')}m{line}\x1b[0m"

    def _end_line(self) -> None:
        if self._mid_line:
            self._out.write("\n")
            self._out.flush()
            self._mid_line = False

    def _lines(self, item: events.Event) -> Iterator[str]:
        match item:
            case events.ToolCall(call_id=call_id, name=name, title=title):
                self._titles[call_id] = shown = _cut(f"{name}: {title}", MAX_LINE)
                yield f"> {shown}"
                if name == SUBAGENT:
                    self._subagents.add(call_id)
            case events.ToolOutput(call_id=call_id, delta=delta) if call_id in self._subagents:
                yield from (f"  {_cut(line, MAX_LINE)}" for line in delta.splitlines() if line)
            case events.Permission(call_id=call_id, decision="deny", reason=reason):
                yield f"! {self._titles.get(call_id, call_id)}: denied: {_cut(reason or '')}"
            case events.ToolResult(call_id=call_id, status="failed", reason=reason) if (
                reason != "denied"
            ):
                yield f"! {self._titles.get(call_id, call_id)}: {_cut(reason or 'failed')}"
            case events.Retry(attempt=attempt, delay_ms=delay_ms, cause=cause):
                yield f"~ {_cut(cause)}; attempt {attempt} in {delay_ms / 1000:.1f} s"
            case events.Compacting():
                yield "~ the conversation is long; summarising what came before"
            case events.Compaction(tokens_before=before, tokens_after=after):
                yield f"~ summarised: about {before} tokens before" + (
                    "" if after is None else f", {after} now"
                )
            case events.Warning():
                yield line_of(item)
            case events.Job(job_id, state, exit_code):
                code = "" if exit_code is None else f", exit code {exit_code}"
                yield f"& {job_id}: {state}{code}"
            case events.TurnEnded() if item.end != "Completed":
                yield line_of(item)
            case _:
                return


def line_of(item: events.Warning | events.TurnEnded) -> str:
    """Return what warns, or says how a turn ended that did not complete, and why."""
    if isinstance(item, events.Warning):
        return f"warning: {item.message}"
    words = " ".join(word for word in (item.end.lower(), item.reason) if word)
    return f"radian: {words}" + (f": {item.error}" if item.error else "")


def _cut(text: str, limit: int = MAX_REASON) -> str:
    """Return one line without control characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: limit * 4]).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
