"""One client's conversation with simulated chant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.simulation.client import Reading
from actors.simulation.conversations import DURATIONS_S
from actors.simulation.disk import SimDisk
from actors.simulation.process import GRACE_S
from actors.simulation.seeds import stream
from actors.simulation.served import Pipes
from runtimes.chant.runtime import ChantRuntime
from runtimes.chant.simulation.project import SimProject, SimTasks
from runtimes.chant.simulation.truth import Truth

if TYPE_CHECKING:
    from collections.abc import Mapping

    from actors.simulation.book import Book, Json
    from actors.simulation.client import SimClient
    from actors.simulation.world import World
    from ops.plan import Plan
    from runtimes.chant.acp_flags import GateRule


class ChantTalk:
    """A project, and servers of chant in it, one after another."""

    def __init__(self, world: World, plans: Mapping[str, Plan]) -> None:
        """Make the project; the truth about its runs is checked at the end."""
        self.world = world
        self.numbers = world.numbers
        disk = SimDisk(world.scheduler, world.faults, stream(world.seed, "disk"))
        self.project = SimProject(world.platform, disk, plans)
        self.client: SimClient
        self.gates: GateRule = "tell"
        world.checks.append(Truth(world, self.project).check)

    def serve(self, pipes: Pipes | None = None, reading: Reading | None = None) -> str:
        """Start a server, shake hands and return a new session."""
        self.project.process += 1
        self.client = self.world.serve(self._runtime, pipes or Pipes(), reading or Reading())
        self.client.initialize()
        return self.client.new_session()

    def run(self, session: str, op: str) -> int:
        """Send ``run OP``."""
        return self.client.prompt(session, f"run {op}")

    def answer_request(self, session: str, request: str, option: str) -> int:
        """Send a prompt that answers a request of ours, as clients of durable requests do."""
        meta = {"chant": {"permission": {"requestId": request, "optionId": option}}}
        return self.client.prompt(session, "answer", meta=meta)

    def pause(self) -> None:
        """Let some time pass, or none."""
        self.world.platform.sleep(self.numbers.choice(DURATIONS_S))

    def finish(self, *requests: int) -> None:
        """Wait for all answers, end the input and wait for the server's end."""
        for request in requests:
            self.client.answer(request)
        self.client.end_input()
        self.client.until_closed()

    def _runtime(self, book: Book) -> ChantRuntime:
        book.tag_of_update = self._run_of_update
        book.tag_of_answer = run_of_answer
        project = self.project
        return ChantRuntime(
            self.world.platform,
            {},
            GRACE_S,
            lambda request: SimTasks(request, project),
            self.gates,
            premises=project.premises(),
        )

    def _run_of_update(self, update: Json) -> str:
        named: Any = update.get("messageId") or update.get("toolCallId") or ""
        run_id = str(named).partition("/")[0]
        return run_id if run_id in self.project.begun else ""


def run_of_answer(answer: Json) -> str:
    """Return the run that an answer tells of."""
    found: Any = answer
    for name in ("result", "_meta", "chant", "runId"):
        found = found.get(name) or {}
    return found if isinstance(found, str) else ""
