"""A simulated model: a prompt says what each call of it brings, and every request is judged.

``p1; look 0 edit 1; fail; say``: after the prompt's tag one part for each call.  A word that names
a tool is a call of it, with what follows in it; ``say`` or nothing left is the last answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson

from runtimes.models.base import (
    CallFailed,
    Finished,
    Text,
    TextDelta,
    ToolCalled,
    ToolOutput,
    ToolUse,
)
from runtimes.radian.model_desk import SUMMARY_SYSTEM
from runtimes.radian.simulation.mcp import NUMBER
from runtimes.radian.simulation.tools import DO, tag_of
from runtimes.radian.tools.ask_user import NAME as ASK_USER
from runtimes.radian.tools.subagent import NAME as SUBAGENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from actors.simulation.book import Book
    from runtimes.models.base import Cancel, Message, ModelEvent, ModelRequest

TAG = re.compile(r"\b(p\d+(?:s\d+)?); ([^\n]*)")
"""A prompt of ours, wherever it stands in a message."""
PIECE = re.compile(r"<([pw]\d+(?:s\d+)?)\.\d+> ")
SUMMARY = "They asked: "
"""Begins a summary; the prompt that it tells of is not asked again."""
FOREVER_S = 100_000.0
PAUSE_S = 0.1
RETRIED = CallFailed("the model is busy", status=503, retry=True)
BROKEN = CallFailed("the model is broken", status=400)
TOO_LONG = CallFailed("the conversation is too long", status=400, context_overflow=True)
SERVED = "mcp__"
"""Begins the name of a tool of an MCP server."""
HELPERS = {SUBAGENT: "look 0 make 0", "asking": "look 0 edit 0", "stalling": "stall"}
"""What calls a subagent, and what that one is told: to work, to ask, to hang."""
ASKED = {"questions": [{"question": "Which?", "options": [{"label": "this"}, {"label": "that"}]}]}


class SimModel:
    """See `runtimes.models.base.Provider`.  Outlives servers."""

    def __init__(self, book: Callable[[], Book], woken: Callable[[], bool]) -> None:
        """``book``: of the server that serves now; ``woken``: its session began the turn itself."""
        self._book = book
        self._woken = woken
        self._at: dict[str, int] = {}
        """By tag: how many parts of its prompt were played."""
        self._calls = 0
        self._pieces = 0
        self._wakes = 0
        self._last = ""
        self.said = ""
        """The last piece of what was said, but for subagents."""
        self._paused = False
        """The last answer wants to be resumed."""
        self.served: dict[int, str] = {}
        """By its number: the id of each call of an MCP server."""
        self.lets_go: Callable[[], None] = _at_once
        """Is how long a connection takes to end that is given up."""

    def stream(self, request: ModelRequest, cancel: Cancel) -> Iterator[ModelEvent]:
        """Play the next part of what the last message asks for."""
        book = self._book()
        for wrong in faults_of(request.messages, resumes=self._paused):
            book.violated("request", wrong)
        if request.system == SUMMARY_SYSTEM:
            yield from self._summary(request, cancel)
            return
        tag, part = self._next(request)
        root = tag_of(tag)
        book.step_began(root)
        try:
            yield from self._play(tag, part.split(), cancel)
        finally:
            if cancel.is_set():
                self.lets_go()
            book.step_ended(root)

    def _next(self, request: ModelRequest) -> tuple[str, str]:
        """Return the tag of the conversation, and what comes next in it."""
        tag, parts = self._asked(request)
        at = self._at[tag] = self._at.get(tag, 0) + 1
        return tag, parts[at - 1] if at <= len(parts) else "say"

    def _asked(self, request: ModelRequest) -> tuple[str, list[str]]:
        if self._woken():
            self._wakes += 1
            return f"w{self._wakes}", []
        for message in reversed(request.messages):
            for part in reversed(message.parts):
                if not isinstance(part, Text) or SUMMARY in part.text:
                    continue
                if found := TAG.findall(part.text):
                    tag, parts = found[-1]
                    return tag, [each.strip() for each in parts.split(";")]
        return self._last, []

    def _summary(self, request: ModelRequest, cancel: Cancel) -> Iterator[ModelEvent]:
        """Keep of a conversation what it is about."""
        if cancel.wait(PAUSE_S):
            return
        text = "".join(p.text for m in request.messages for p in m.parts if isinstance(p, Text))
        tag, parts = (TAG.findall(text) or [("p0", "say")])[-1]
        yield TextDelta(f"{SUMMARY}{tag}; {parts}")
        yield Finished("stop")

    def _play(self, tag: str, words: list[str], cancel: Cancel) -> Iterator[ModelEvent]:
        if tag == tag_of(tag):
            self._last = tag
        calls: list[ToolCalled] = []
        while words:
            match words.pop(0):
                case "fail" | "broken" | "long" as how:
                    yield from self._say(tag, 1 if how == "fail" else 0, cancel)
                    yield {"fail": RETRIED, "broken": BROKEN, "long": TOO_LONG}[how]
                    return
                case "stall":
                    self._paused = False
                    yield from self._say(tag, 2, cancel)
                    cancel.wait(FOREVER_S)
                    return
                case "cut":
                    self._paused = False
                    yield from self._say(tag, 1, cancel)
                    yield Finished("length")
                    return
                case "pause":
                    self._paused = True
                    yield Finished("pause")
                    return
                case "say":
                    pass
                case tool:
                    calls.append(self._call(tag, tool, words))
        self._paused = False
        yield from self._say(tag, 3, cancel)
        if cancel.is_set():
            return
        yield from calls
        yield Finished("tools" if calls else "stop")

    def _say(self, tag: str, count: int, cancel: Cancel) -> Iterator[ModelEvent]:
        for _ in range(count):
            if cancel.wait(PAUSE_S):
                return
            self._pieces += 1
            piece = f"<{tag}.{self._pieces}> "
            if tag == tag_of(tag):
                self.said = piece
            yield TextDelta(piece)

    def _call(self, tag: str, tool: str, words: list[str]) -> ToolCalled:
        self._calls += 1
        call_id = f"{tag}-c{self._calls}"
        if tool == ASK_USER:
            return ToolCalled(call_id, tool, orjson.dumps(ASKED).decode())
        if tool.startswith(SERVED):
            self.served[self._calls] = call_id
            return ToolCalled(call_id, tool, orjson.dumps({NUMBER: self._calls}).decode())
        if tool in HELPERS:
            given = {"prompt": f"{tag}s{self._calls}; {HELPERS[tool]}; say"}
            tool = SUBAGENT
        else:
            given = {DO: words.pop(0).replace("_", " ") if words else "0"}
        return ToolCalled(call_id, tool, orjson.dumps(given).decode())


def _at_once() -> None:
    """Take no time."""


def faults_of(messages: tuple[Message, ...], *, resumes: bool) -> Iterator[str]:
    """Say what a provider would refuse a request for."""
    if not messages or messages[0].role != "user":
        yield "a request does not begin with the user"
    if messages and messages[-1].role != "user" and not resumes:
        yield "a request does not end with the user"
    for at, (message, after) in enumerate(zip(messages, (*messages[1:], None), strict=True)):
        if after is not None and after.role == message.role:
            yield f"messages {at} and {at + 1} are of one side"
        if not message.parts:
            yield f"message {at} is empty"
        if any(isinstance(part, Text) and not part.text for part in message.parts):
            yield f"message {at} has an empty text"
        made = [part.call_id for part in message.parts if isinstance(part, ToolUse)]
        parts = () if after is None else after.parts
        answered = [part.call_id for part in parts if isinstance(part, ToolOutput)]
        if made != answered:
            yield f"calls {made} of message {at} are answered by {answered}"
