"""Clients' conversations with simulated radian: one session, and servers one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.simulation.client import Reading
from actors.simulation.conversations import DURATIONS_S
from actors.simulation.disk import SimDisk
from actors.simulation.seeds import stream
from actors.simulation.served import Pipes
from runtimes.radian.ground import AgentGround
from runtimes.radian.options import ConversationOptions
from runtimes.radian.runtime import RadianRuntime
from runtimes.radian.simulation.hooks import SimHooks
from runtimes.radian.simulation.journals import Shelf, SimJournals
from runtimes.radian.simulation.mcp import Town
from runtimes.radian.simulation.model import SimModel
from runtimes.radian.simulation.tools import Deeds, tools_for
from runtimes.radian.simulation.truth import Truth
from runtimes.radian.simulation.view import View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from actors.opened_session import OpenedSession
    from actors.simulation.book import Book, Json
    from actors.simulation.client import SimClient
    from actors.simulation.world import World
    from protocol.acp.sessions import LoadSession, NewSession, ResumeSession
    from runtimes.radian.hook_config import Hook

OPTIONS = ConversationOptions(
    provider="openai", model="sim", profile="workspace", trust=False, user_config=False
)
CANCEL_LIMIT_S = 4.0
"""More than a cancelled turn ever takes here: programs that ignore TERM are killed after 2 s."""
NOWHERE = "/nowhere/of/a/simulation"
ENVIRON = {"HOME": NOWHERE, "RADIAN_HOME": f"{NOWHERE}/.radian"}


class HookedRuntime(RadianRuntime):
    """Gives its session hooks, as the person's file would that no simulation reads."""

    hooks: tuple[Hook, ...] = ()

    def open_session(self, request: NewSession | ResumeSession | LoadSession) -> OpenedSession:
        """See `RadianRuntime`."""
        opened = super().open_session(request)
        opened.state.desk.tools.hooks.hooks = self.hooks
        return opened


class AgentTalk:
    """A session, its servers and what must be true of them; that is checked at the end."""

    def __init__(self, world: World, *, hooked: bool = False, servers: Sequence[str] = ()) -> None:
        """Make an empty disk.  ``hooked``: the session has hooks; ``servers``: it has these."""
        self.world = world
        self.numbers = world.numbers
        disk = SimDisk(world.scheduler, world.faults, stream(world.seed, "disk"))
        self.shelf = Shelf(world.platform, disk, stream(world.seed, "writes"))
        self.deeds = Deeds()
        self.truth = Truth(world, self.shelf, self.deeds)
        self.client: SimClient
        self.session = ""
        self.model = SimModel(lambda: world.server.book, self.shelf.last_turn_is_own)
        self.options = OPTIONS
        self._servers: list[Json] = [
            {"name": name, "command": f"/{name}", "args": [], "env": []} for name in servers
        ]
        self.cancel_limit_s = CANCEL_LIMIT_S
        self._slow = False
        """The client may be what an answer waits for."""
        self._prompts = 0
        self._hooks: SimHooks | None = None
        if hooked:
            self._hooks = self.truth.hooks = SimHooks(
                world, self.shelf.written, lambda: self.model.said
            )
            self.deeds.watch = self._hooks.ran
        world.checks.append(self.truth.check)

    def serve(self, pipes: Pipes | None = None, reading: Reading | None = None) -> None:
        """Start a server and shake hands."""
        self._slow = reading is not None
        self.client = self.world.serve(self._runtime, pipes or Pipes(), reading or Reading())
        self.client.on_question = self._answer
        self.client.initialize()

    def open(self) -> str:
        """Ask for a new session and return its id; empty: there is none."""
        self.session = self.client.new_session(self._servers)
        if self.session:
            self.truth.opened.append(self.session)
        return self.session

    def load(self, *, in_use: bool = False) -> bool:
        """Load the session again; tell whether that worked.  ``in_use``: it must not."""
        if not self.session:
            return False
        params: Json = {"sessionId": self.session, "cwd": "/", "mcpServers": self._servers}
        answer = self.client.answer(self.client.request("session/load", params, may_fail=True))
        if in_use:
            self.truth.held_twice(answer)
        elif "error" in answer:
            self.truth.refused(answer)
        if "result" in answer:
            self.truth.replayed()
        return "result" in answer

    def models_let_go_slowly(self) -> None:
        """Have each stream that is given up take a while to end, at most half of what it gets."""
        takes_s = self.numbers.choice((0.0, 0.5, 1.0, 2.0))

        def lets_go() -> None:
            if not self.world.scheduler.over:
                self.world.platform.sleep(takes_s)

        self.model.lets_go = lets_go

    def prompt(self, *parts: str, may_fail: bool = False) -> int:
        """Send a prompt with a tag of its own; ``may_fail``: a turn may run."""
        self._prompts += 1
        tag = f"p{self._prompts}"
        if self._hooks is not None:
            self._hooks.prompted = tag
        blocks = [{"type": "text", "text": "; ".join((tag, *parts))}]
        params: Json = {"sessionId": self.session, "prompt": blocks}
        return self.client.request("session/prompt", params, tag, may_fail=may_fail)

    def pause(self) -> None:
        """Let some time pass, or none."""
        self.world.platform.sleep(self.numbers.choice(DURATIONS_S))

    def finish(self, *requests: int) -> None:
        """Wait for all answers, end the input and wait for the server's end."""
        for request in requests:
            self.client.answer(request)
        self.client.end_input()
        self.client.until_closed()

    def _runtime(self, book: Book) -> RadianRuntime:
        served = self.world.server
        view = self.truth.views[served] = View()
        book.text_is_checked = False
        book.cancel_limit_s = None if self._slow else self.cancel_limit_s
        book.tag_of_update = view.take
        town = Town(self.world, self._watch_server)
        ground = AgentGround(
            self.world.platform,
            self.world.faults,
            SimJournals(self.shelf, served),
            served.steps_apart,
            lambda _config, _secrets: self.model,
            tools_for(self.deeds, book),
            town.program,
        )
        runtime = HookedRuntime(self.world.platform, ENVIRON, lambda: self.options, ground)
        if self._hooks is not None:
            runtime.hooks = self._hooks.hooks
            served.steps.cast = self._hooks.cast(served)

        def close() -> None:
            town.closing_s = self.world.platform.monotonic()
            runtime.close()
            town.end()

        served.after = close
        return runtime

    def _watch_server(self, number: int, result: str | None) -> None:
        """An MCP server begins what a call asks for, or has returned what came of it."""
        call_id = self.model.served[number]
        if result is None:
            self.deeds.begin(call_id, "")
        else:
            self.deeds.outputs[call_id] = result

    def _answer(self, message: Json) -> Json | None:
        """Answer as people do: at once, late, wrongly or never."""
        params: Any = message["params"]
        call_id = str(params["toolCall"]["toolCallId"])
        options: list[str] = [each["optionId"] for each in params["options"]]
        mood = self.numbers.choice(("quick", "quick", "slow", "silent", "confused", "leaving"))
        if mood == "slow":
            self.world.platform.sleep(self.numbers.choice(DURATIONS_S))
        if mood == "silent":
            return None
        if mood == "confused":
            return {"nonsense": 1}
        if mood == "leaving":
            self.world.server.book.sent_cancel(self.session)  # for that is what it means
            self.truth.left.add(call_id)
            return {"outcome": {"outcome": "cancelled"}}
        chosen = self.numbers.choice(options)
        self.truth.chose(call_id, chosen)
        return {"outcome": {"outcome": "selected", "optionId": chosen}}
