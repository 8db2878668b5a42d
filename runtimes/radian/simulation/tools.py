"""Simulated tools: they look, change, run programs and leave jobs, and note what they did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.work import ProcessWork
from runtimes.radian.permissions import GrantKey, Request
from runtimes.radian.tools.base import (
    Prepared,
    ToolOutcome,
    ToolRun,
    ToolView,
    ended_badly,
    failure,
)
from runtimes.radian.tools.running import run_callable
from runtimes.radian.tools.subagent import SubagentTool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from actors.simulation.book import Book
    from actors.work import StepEnd, WorkContext
    from runtimes.radian.profiles import ProfileName
    from runtimes.radian.tools.base import Input, Kind, Tool, ToolContext

DO = "do"
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {DO: {"type": "string"}},
    "additionalProperties": False,
}


class Deeds:
    """What tools have really done.  Outlives servers."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.begun: dict[str, int] = {}
        """By id of a call: how often it was run."""
        self.outputs: dict[str, str] = {}
        """What calls that came through have returned."""
        self.looked: set[str] = set()
        """Calls that change nothing: a kill may lose what they have shown."""
        self.watch: Callable[[str, str], None] | None = None
        """Is told the id of each call that runs, and what it does."""

    def begin(self, call_id: str, do: str) -> None:
        """A call runs."""
        self.begun[call_id] = self.begun.get(call_id, 0) + 1
        if self.watch is not None:
            self.watch(call_id, do)


def tag_of(call_id: str) -> str:
    """Return the prompt that a call belongs to: ids of calls begin with it."""
    return call_id.partition("-")[0].partition("s")[0]


class SimTool:
    """One tool of a simulated session; see `runtimes.radian.tools.base.Tool`."""

    summary = "does what it is told"
    schema = SCHEMA

    def __init__(self, name: str, kind: Kind, request: Request, deeds: Deeds, book: Book) -> None:
        """Be judged by ``request``."""
        self.name = name
        self.kind: Kind = kind
        self.read_only = request.action == "read"
        self._request = request
        self._deeds = deeds
        self._book = book

    def prepare(self, values: Input, context: ToolContext) -> Prepared:
        """See `Tool.prepare`."""
        del context
        return Prepared(self.name, values, ToolView(f"{self.name} {values[DO]}"), self._request)

    def start(self, prepared: Prepared, call_id: str, context: ToolContext) -> ToolRun:
        """See `Tool.start`."""
        do = str(prepared.input[DO])
        if self.read_only:
            self._deeds.looked.add(call_id)
        if self.name == "job":
            return run_callable("job", lambda _work: self._leave(do, call_id, context))
        if self.name == "run":
            return self._program(do, call_id)
        return run_callable(self.name, lambda work: self._act(do, call_id, work))

    def _act(self, do: str, call_id: str, work: WorkContext) -> ToolOutcome:
        takes_s = float(do)
        self._deeds.begin(call_id, do)
        tag = tag_of(call_id)
        self._book.step_began(tag)
        try:
            if takes_s and work.cancel.wait(takes_s):
                return failure("stopped")
        finally:
            self._book.step_ended(tag)
        return self._done(call_id)

    def _program(self, script: str, call_id: str) -> ToolRun:
        def finish(end: StepEnd) -> ToolOutcome:
            if end.kind != "exited":
                return failure(ended_badly(end))
            return self._done(call_id)

        work = ProcessWork(("sh", script), "/", {"SIM_TAG": tag_of(call_id)})
        self._deeds.begin(call_id, script)
        return ToolRun(work, finish)

    def _leave(self, script: str, call_id: str, context: ToolContext) -> ToolOutcome:
        self._deeds.begin(call_id, script)
        assert context.jobs is not None  # noqa: S101 - a session has them
        context.jobs.start(ProcessWork(("sh", script), "/", {"SIM_TAG": "job"}), script)
        return self._done(call_id)

    def _done(self, call_id: str) -> ToolOutcome:
        output = self._deeds.outputs[call_id] = f"done {call_id}"
        return ToolOutcome(output)


REQUESTS: tuple[tuple[str, Kind, Request], ...] = (
    ("look", "read", Request("look", "read", "/a")),
    ("make", "edit", Request("make", "write", "/a")),
    (
        "edit",
        "edit",
        Request("edit", "write", "/.git/a", zone="protected", grant=GrantKey("edit", "/.git")),
    ),
    ("run", "execute", Request("run", "shell", "run", sandboxed=True)),
    ("job", "execute", Request("job", "shell", "job", sandboxed=True, background=True)),
)
"""Name, kind and what is judged; `edit` asks a person."""


def tools_for(
    deeds: Deeds, book: Book
) -> Callable[[ProfileName, Mapping[str, str]], dict[str, Tool]]:
    """Return what makes the tools of one server's session."""

    def make(profile: ProfileName, environ: Mapping[str, str]) -> dict[str, Tool]:
        del profile, environ
        ours: list[Tool] = [SimTool(*each, deeds, book) for each in REQUESTS]
        return {tool.name: tool for tool in (*ours, SubagentTool())}

    return make
