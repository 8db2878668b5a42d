"""What a turn does, as rows with a mark each.  Pure: updates go in, rows come out.

A screen draws the rows: one that can move its cursor redraws them, another prints what changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from protocol.acp.updates import PlanUpdate, ToolCall, ToolCallUpdate, ToolText
from protocol.members import as_list, as_object, optional_text
from runtimes.chantry.text import clip, first_line

if TYPE_CHECKING:
    from collections.abc import Sequence

State: TypeAlias = Literal["pending", "running", "done", "failed", "skipped", "waiting", "stopped"]

_STATES: Final[dict[str, State]] = {
    "pending": "pending",
    "in_progress": "running",
    "completed": "done",
    "failed": "failed",
}
_OPEN: Final = ("pending", "running")
_TELLING: Final = ("cmd", "command", "argv", "path", "file_path", "url", "query", "pattern")
"""Members of a raw input that tell calls of one title apart; the first one there is taken."""
_HINT_COLUMNS: Final = 60
_NOT_RUN: Final = ("skipped", "not_reached", "not reached")
"""What an agent may say in ``rawOutput.status`` of a call that is over and never ran."""
_WAITS: Final = ("gated", "waiting")
"""The same for one that is over because people have to say something first."""


@dataclass(slots=True)
class Row:
    """One tool call, or one entry of the agent's plan."""

    title: str
    state: State = "pending"
    hint: str = ""
    """What tells it from others of its title: a word or two of what it was called with."""
    note: str = ""
    """A short reason, such as why it failed, or what it waits for."""
    started_s: float | None = None
    took_s: float | None = None

    @property
    def over(self) -> bool:
        """Whether nothing more is to come of it."""
        return self.state not in _OPEN


@dataclass(slots=True)
class Board:
    """The calls of one turn, in the order in which they were opened, below the agent's plan."""

    plan: list[Row] = field(default_factory=list[Row])
    calls: dict[str, Row] = field(default_factory=dict[str, Row])

    @property
    def rows(self) -> list[Row]:
        """All rows, from the top."""
        return [*self.plan, *self.calls.values()]

    def apply(self, update: ToolCall | ToolCallUpdate | PlanUpdate, now_s: float) -> list[Row]:
        """Take an update and return the rows that look different now."""
        match update:
            case PlanUpdate(entries):
                before = self.plan
                self.plan = [Row(first_line(e.content), _state(e.status)) for e in entries]
                return [row for row in self.plan if row not in before]
            case ToolCall():
                return self._open(update, now_s)
            case ToolCallUpdate():
                return self._change(update, now_s)

    def stop(self, now_s: float) -> list[Row]:
        """End the turn: calls that are still open will not go on."""
        stopped = [row for row in self.calls.values() if not row.over]
        for row in stopped:
            _enter(row, "stopped", now_s)
        return stopped

    def _open(self, call: ToolCall, now_s: float) -> list[Row]:
        row = Row(first_line(call.title) or call.tool_call_id)
        row.hint = _hint(call.raw_input, row.title)
        self.calls[call.tool_call_id] = row
        _move(row, call.status, call.raw_output, call.content, now_s)
        return [row]

    def _change(self, update: ToolCallUpdate, now_s: float) -> list[Row]:
        row = self.calls.get(update.tool_call_id)
        known = row is not None
        if row is None:
            # Opened in an earlier turn, or never: worth a row all the same.
            row = self.calls[update.tool_call_id] = Row(update.title or update.tool_call_id)
        before = (row.title, row.hint, row.state, row.note)
        row.title = first_line(update.title or "") or row.title
        row.hint = _hint(update.raw_input, row.title) or row.hint
        _move(row, update.status, update.raw_output, update.content, now_s)
        return [] if known and before == (row.title, row.hint, row.state, row.note) else [row]


def _hint(raw_input: object, title: str) -> str:
    """Find what the raw input is about, unless the title has it already."""
    values = as_object(raw_input)
    for value in (values.get(name) for name in _TELLING):
        words = value if isinstance(value, str) else " ".join(map(_word, as_list(value)))
        hint = clip(first_line(words), _HINT_COLUMNS)
        if hint:
            return "" if hint in title else hint
    return ""


def _word(value: object) -> str:
    """Write one word of what is run; what stands for a value that comes later is no word yet."""
    return str(value) if isinstance(value, str | int | float) else "…"


def _move(
    row: Row,
    status: str | None,
    raw_output: object,
    content: Sequence[object] | None,
    now_s: float,
) -> None:
    """Bring a row up to date with what one update carries; None is what it does not carry."""
    if status is None:
        return
    state = _state(status)
    if state == "done" and _raw_status(raw_output) in _NOT_RUN:
        state = "skipped"
    elif state == "done" and _raw_status(raw_output) in _WAITS:
        state = "waiting"
    if state != row.state:
        _enter(row, state, now_s)
    if state in ("failed", "waiting"):
        row.note = _reason(raw_output, content or ()) or row.note


def _enter(row: Row, state: State, now_s: float) -> None:
    row.state = state
    if state == "running":
        row.started_s = now_s
    elif row.started_s is not None and row.took_s is None:
        row.took_s = now_s - row.started_s


def _state(status: str) -> State:
    """Read a status; one that we do not know counts as still going on."""
    return _STATES.get(status, "running")


def _raw_status(raw_output: object) -> object:
    return as_object(raw_output).get("status")


def _reason(raw_output: object, content: Sequence[object]) -> str:
    """Find the words for a failure: the raw output's error, else the first text."""
    error = optional_text(as_object(raw_output), "error")
    texts = (item.text for item in content if isinstance(item, ToolText))
    return first_line(error if error is not None else next(texts, ""))
