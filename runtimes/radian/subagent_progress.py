"""What people see of a subagent: lines of its call's output, and whole calls that it asks about."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from runtimes.models.calling import Retrying
from runtimes.radian import events
from runtimes.radian.tools.running import one_line
from runtimes.radian.turn_state import Told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MAX_SHOWN = 64 * 1024
"""Characters of one subagent."""
MAX_TEXT = 2000
"""Characters of one answer of its model."""


class SubagentProgress:
    """Turns what a subagent's conversation says into what its turn says."""

    def __init__(self, turn: int, agent: str) -> None:
        """``agent``: the id of the call whose output the lines are."""
        self._turn = turn
        self._agent = agent
        self._left = MAX_SHOWN
        self._calls: dict[str, events.ToolCall] = {}
        self._surfaced: dict[str, str] = {}
        """Calls that are shown as the turn's: by whom a person knows them to be made."""
        self._summary = False
        """The call that starts next makes a summary of its conversation."""

    def of_events(self, items: Sequence[Any]) -> tuple[Any, ...]:
        """Return what is shown of events; what a question needs passes as it is."""
        return tuple(shown for item in items for shown in self._of(item))

    def render(self) -> Callable[[Any], tuple[Any, ...]]:
        """Return what shows the stream of the call that starts now.  For its own thread."""
        summary, self._summary = self._summary, False
        return lambda event: self._of_model(event, summary=summary)

    def _of_model(self, event: Any, *, summary: bool) -> tuple[Any, ...]:
        match event:
            case Told(answer) if not summary:
                return self._line(answer.text.strip()[:MAX_TEXT])
            case Retrying(cause=cause, delay_ms=delay_ms):
                return self._line(f"~ {one_line(cause)}; again in {delay_ms / 1000:g} s")
            case events.Warning():
                return (event,)
            case _:
                return ()

    def surface(self, call_id: str, name: str) -> tuple[events.ToolCall, ...]:
        """Show a call as one of the turn's, for a person is asked about it; ``name`` made it.

        Returns what is to be said of it now; a call that was not told yet is shown with that.
        """
        known = call_id in self._surfaced
        self._surfaced.setdefault(call_id, name)
        call = self._calls.get(call_id)
        return () if known or call is None else (self._shown(call),)

    def _shown(self, call: events.ToolCall) -> events.ToolCall:
        title = f"{self._surfaced[call.call_id]}: {call.title}"
        return replace(call, title=title, agent=self._agent)

    def _of(self, item: Any) -> Iterator[Any]:
        match item:
            case events.Asked() | events.Warning() | events.ToolCall(agent=str()):
                yield item
            case events.Compacting():
                self._summary = True
                yield from self._line("~ summarising its conversation")
            case events.ToolCall(call_id=call_id):
                self._calls[call_id] = item
                yield from self._line(f"> {item.name}: {item.title}")
                if call_id in self._surfaced:
                    yield self._shown(item)
            case events.Permission(call_id=call_id) | events.ToolResult(call_id=call_id):
                if call_id in self._surfaced:
                    yield replace(item, agent=self._agent)
                yield from self._line(self._trouble(item))
            case _:
                return  # what it thinks and prints is its own

    def _trouble(self, item: events.Permission | events.ToolResult) -> str:
        call = self._calls.get(item.call_id)
        name = item.call_id if call is None else call.name
        match item:
            case events.Permission(decision="deny", reason=reason):
                return f"! {name}: denied: {one_line(reason or '')}"
            case events.ToolResult(status="failed", reason=reason) if reason != "denied":
                return f"! {name}: {one_line(reason or 'failed')}"
            case _:
                return ""

    def _line(self, text: str) -> tuple[events.ToolOutput, ...]:
        shown = f"{text}\n"[: self._left] if text else ""
        if not shown:
            return ()
        self._left -= len(shown)
        return (events.ToolOutput(self._turn, self._agent, shown),)
