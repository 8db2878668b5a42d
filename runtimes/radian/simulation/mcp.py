"""Simulated MCP servers: programs that answer, fail, hang, die and start again.

The classes that start, ask and end them are the real ones; the programs are played here, and keep
what they were asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import orjson

from actors.cancel import CancelSignal
from actors.piped_program import ProgramEnd
from actors.simulation.conversations import DURATIONS_S
from actors.simulation.scenario import Scenario
from actors.simulation.served import Pipes
from protocol.named_tuple import NamedTuple
from runtimes.models.secrets import Secrets
from runtimes.radian.mcp.connection import (
    RequestCancelled,
    RequestFailed,
    RequestTimedOut,
    ServerEnded,
)
from runtimes.radian.mcp.server import MAX_RESTARTS, PATIENCE_S, STEADY_S
from runtimes.radian.mcp.servers import McpServers
from runtimes.radian.mcp.specs import ServerSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.piped_program import ProgramListener
    from actors.simulation.world import World
    from actors.work import ProcessWork

Mood: TypeAlias = Literal["answer", "error", "silent", "late", "die", "last", "babble", "twice"]
"""``die``: it ends instead of answering; ``last``: right after it."""
MOODS: dict[Mood, int] = {
    "answer": 6,
    "error": 1,
    "silent": 2,
    "late": 1,
    "die": 2,
    "last": 1,
    "babble": 1,
    "twice": 1,
}
GIVEN_UP = (RequestCancelled, RequestTimedOut, ServerEnded)
TIMEOUT_S = 3.0
TOOL = "act"
NUMBER = "number"
"""The one argument: no two calls have the same."""
LISTED = {"name": TOOL, "inputSchema": {"type": "object"}}
IDS = ("one", "two")


class Call(NamedTuple):
    """A call that has come to its end."""

    number: int
    outcome: str
    """What it returned; else the name of the error."""
    began_s: float
    ended_s: float
    cancelled_s: float | None


class SimServer:
    """One life of a server's program; see `runtimes.radian.mcp.world.Program`."""

    def __init__(self, town: Town, listener: ProgramListener) -> None:
        """Make it; `start` runs it."""
        self._town = town
        self._platform = town.world.platform
        self._listener = listener
        self._numbers = town.world.numbers
        self._changed = self._platform.condition()
        self._unread = b""
        self._due: list[tuple[float, bytes, int]] = []
        """When, what, and the number of the call that it is the result of, 0 for none."""
        self._no_more = self._asked_to_end = self._killed = self._dies = False
        self.stubborn = self._numbers.random() < 0.2  # noqa: PLR2004
        """It ends neither when its stdin is closed nor when it is asked to."""
        self.in_time = False
        """It was started before the end began: whoever ends all knows it."""
        self.over_s: float | None = None
        self.hung_up_s: float | None = None
        self.calls: dict[int, int] = {}
        """By id of a request: the number of the call."""
        self.given_up: set[int] = set()
        """Numbers of calls of which it was told that nobody waits."""

    def start(self) -> None:
        """See `Program`."""
        self.in_time = self._town.closing_s is None
        self._platform.spawn("mcp program", self._run)

    def write(self, data: bytes) -> bool:
        """See `Program`."""
        with self._changed:
            if self._no_more or self.over_s is not None:
                return False
            self._unread += data
            self._changed.notify_all()
            return True

    def hang_up(self) -> None:
        """See `Program`."""
        with self._changed:
            self._no_more = True
            self.hung_up_s = self._platform.monotonic()
            self._changed.notify_all()

    def terminate(self) -> None:
        """See `Program`."""
        with self._changed:
            self._asked_to_end = True
            self._changed.notify_all()

    def kill(self) -> None:
        """See `Program`."""
        with self._changed:
            self._killed = True
            self._changed.notify_all()

    def _run(self) -> None:
        if self._town.closed or self._numbers.random() < 0.1:  # noqa: PLR2004
            self._over("no such program", started=False)
            return
        while not self._is_to_end():
            with self._changed:
                line, self._unread = self._line()
                said = self._what_is_due()
                if not line and not said and not self._is_to_end():
                    left_s = [each[0] - self._platform.monotonic() for each in self._due]
                    self._changed.wait(min(left_s, default=None))
            for _, data, number in said:
                if number:
                    self._town.returned(number)
                self._listener.heard("stdout", data)
            if line:
                self._read(orjson.loads(line))
        self._over("exit code 1", started=True)

    def _is_to_end(self) -> bool:
        asked = self._asked_to_end or (self._no_more and not self._unread)
        return self._killed or (self._dies and not self._due) or (asked and not self.stubborn)

    def _over(self, why: str, *, started: bool) -> None:
        with self._changed:
            self.over_s = self._platform.monotonic()
        self._listener.ended(ProgramEnd(why, started=started))

    def _line(self) -> tuple[bytes, bytes]:
        line, found, rest = self._unread.partition(b"\n")
        return (line, rest) if found else (b"", self._unread)

    def _what_is_due(self) -> list[tuple[float, bytes, int]]:
        now_s = self._platform.monotonic()
        said = [each for each in self._due if each[0] <= now_s]
        self._due = [each for each in self._due if each[0] > now_s]
        return said

    def _read(self, message: dict[str, Any]) -> None:
        match message["method"]:
            case "initialize":
                able: dict[str, Any] = {"tools": {}}
                hello = {"protocolVersion": "2025-11-25", "capabilities": able}
                self._answer(message["id"], self._numbers.choice((0.0, 0.0, 0.5, 2.0)), hello)
            case "tools/list":
                self._answer(message["id"], 0.0, {"tools": [LISTED]})
            case "tools/call":
                self._call(message["id"], message["params"]["arguments"][NUMBER])
            case "notifications/cancelled":
                self.given_up.add(self.calls.get(message["params"]["requestId"], -1))
            case _:
                pass

    def _call(self, request_id: int, number: int) -> None:
        self.calls[request_id] = number
        self._town.acted(number)
        (mood,) = self._numbers.choices(tuple(MOODS), tuple(MOODS.values()))
        takes_s = self._numbers.choice(DURATIONS_S)
        result = {"content": [{"type": "text", "text": f"done {number}"}]}
        match mood:
            case "silent":
                return
            case "die":
                self._dies = True
                return
            case "error":
                error = {"code": -32000, "message": "it is broken"}
                self._say(takes_s, {"id": request_id, "error": error})
                self._town.answers(number, self._platform.monotonic() + takes_s)
                return
            case "late":
                takes_s += TIMEOUT_S
            case "babble":
                self._due.append((self._platform.monotonic(), b"starting...\n{}\n", 0))
            case "twice":
                self._answer(request_id, takes_s, result, number)
            case "last":
                self._dies = True
            case "answer":
                pass
        self._answer(request_id, takes_s, result, number)
        self._town.answers(number, self._platform.monotonic() + takes_s)

    def _answer(
        self, request_id: int, takes_s: float, result: dict[str, Any], number: int = 0
    ) -> None:
        self._say(takes_s, {"id": request_id, "result": result}, number)

    def _say(self, takes_s: float, message: dict[str, Any], number: int = 0) -> None:
        data = orjson.dumps({"jsonrpc": "2.0", **message}) + b"\n"
        self._due.append((self._platform.monotonic() + takes_s, data, number))


class Town:
    """Where servers live, and what they and their callers know of each other."""

    def __init__(
        self, world: World, watch: Callable[[int, str | None], None] | None = None
    ) -> None:
        """Be empty.

        ``watch`` is told the number of each call that a server acts on, and None; then perhaps the
        number and what came of it.
        """
        self.world = world
        self._watch = watch
        self.closing_s: float | None = None
        """When all servers were asked to end."""
        self.closed = False
        """The guardian has ended, and starts nothing more."""
        self.lives: list[SimServer] = []
        self._acts: dict[int, int] = {}
        self._answered_s: dict[int, float] = {}
        self._calls = 0

    def program(self, work: ProcessWork, listener: ProgramListener) -> SimServer:
        """Make a life of a server."""
        del work
        self.lives.append(SimServer(self, listener))
        return self.lives[-1]

    def acted(self, number: int) -> None:
        """A server does what a call asks for."""
        self._acts[number] = self._acts.get(number, 0) + 1
        if self._watch is not None:
            self._watch(number, None)
        if self._acts[number] > 1:
            self._violated(f"call {number} reached a server {self._acts[number]} times")

    def returned(self, number: int) -> None:
        """A server hands over the result of a call."""
        if self._watch is not None:
            self._watch(number, f"done {number}")

    def answers(self, number: int, at_s: float) -> None:
        """A server will answer a call, unless it ends before."""
        self._answered_s[number] = at_s

    def call(self, servers: McpServers, cancel_after_s: float | None) -> None:
        """Call a tool as the agent does, and judge what comes of it."""
        platform = self.world.platform
        cancel, cancelled_at = CancelSignal(platform), list[float]()
        self._calls += 1
        number, began_s = self._calls, platform.monotonic()

        def give_up() -> None:
            platform.sleep(cancel_after_s or 0.0)
            cancelled_at.append(platform.monotonic())
            cancel.set()

        if cancel_after_s is not None:
            platform.spawn("client gives up", give_up)
        for _ in servers.await_start(cancel):
            pass
        tools = servers.tools()
        began_s = platform.monotonic()
        if not tools:
            return
        tool = tools[self.world.numbers.choice(sorted(tools))]
        try:
            result = tool.server.call(TOOL, {NUMBER: number}, cancel)
            outcome = str(result["content"][0]["text"])
        except RequestFailed as error:
            outcome = type(error).__name__
        ended_s = platform.monotonic()
        at_s = cancelled_at[0] if cancelled_at else None
        self._judge(Call(number, outcome, began_s, ended_s, at_s))

    def _judge(self, call: Call) -> None:
        number, outcome = call.number, call.outcome
        if outcome.startswith("done") and outcome != f"done {number}":
            self._violated(f"call {number} came to {outcome!r}")
        if call.ended_s - call.began_s > PATIENCE_S + TIMEOUT_S:
            self._violated(f"call {number} took {call.ended_s - call.began_s:g} s")
        if call.cancelled_s is not None and call.ended_s > max(call.cancelled_s, call.began_s):
            late_s = call.ended_s - call.cancelled_s
            self._violated(f"call {number} ended {late_s:g} s after its cancel")
        asked = next((life for life in self.lives if number in life.calls.values()), None)
        if asked is None:
            return
        at_s = self._answered_s.get(number)
        lived = asked.over_s is None or asked.over_s > call.ended_s
        given_up = outcome in {each.__name__ for each in GIVEN_UP}
        if lived and at_s is not None and at_s < call.ended_s and given_up:
            self._violated(f"the answer to call {number} came, and it ended as {outcome}")
        elif not given_up and at_s is not None and at_s < call.ended_s:
            self._violated(f"call {number} ended {call.ended_s - at_s:g} s after its answer")
        elif given_up and (at_s is None or at_s > call.ended_s):
            self.world.checks.append(lambda: self._check_told(call, asked))

    def _check_told(self, call: Call, asked: SimServer) -> None:
        """A server that lives on hears that nobody waits for its answer any more."""
        ends = [at for at in (asked.over_s, asked.hung_up_s) if at is not None]
        if min(ends, default=call.ended_s + 1) > call.ended_s and call.number not in asked.given_up:
            self._violated(f"nobody told the server that call {call.number} is given up")

    def end(self) -> None:
        """End what is left, as the guardian does."""
        self.closed = True
        for life in self.lives:
            lived = life.over_s is None or life.over_s > (self.closing_s or 0.0)
            if lived and life.in_time and life.hung_up_s is None:
                self._violated("a server may have ended by itself, and was not asked to")
            life.kill()

    def check_lives(self, seconds: float) -> None:
        """No server is started again and again."""
        if seconds < STEADY_S and len(self.lives) > len(IDS) * (1 + MAX_RESTARTS):
            self._violated(f"{len(self.lives)} starts of {len(IDS)} servers")

    def _violated(self, what: str) -> None:
        self.world.server.book.violated("mcp", what)


def mcp_servers(world: World) -> None:
    """Calls side by side of servers that die, hang and start again, and the end of all of it."""
    town, served, numbers = Town(world), world.add(Pipes()), world.numbers
    platform = world.platform

    def run() -> int:
        servers = McpServers(
            [ServerSpec(name, name, timeout_s=TIMEOUT_S) for name in IDS],
            workspace="/",
            folder="/",
            env={},
            profile="full",
            secrets=Secrets({}),
            platform=platform,
            faults=world.faults,
            program=town.program,
        )
        servers.start()

        def calls() -> None:
            for _ in range(numbers.randint(1, 4)):
                platform.sleep(numbers.choice(DURATIONS_S))
                patient = numbers.random() < 0.5  # noqa: PLR2004
                town.call(servers, None if patient else numbers.choice((*DURATIONS_S, 5.0)))

        callers = [platform.spawn(f"client {number}", calls) for number in (1, 2, 3)]
        if numbers.random() < 0.5:  # noqa: PLR2004
            for each in callers:
                each.join()
        else:
            platform.sleep(numbers.choice((0.0, 0.5, 1.0, 5.0)))
        town.closing_s = platform.monotonic()
        servers.close()
        town.end()
        for each in callers:
            each.join()
        town.check_lives(platform.monotonic())
        return 0

    served.begin(run)
    served.join()


SCENARIOS = (Scenario("mcp-servers", "MCP servers that die, hang and start again", mcp_servers),)
