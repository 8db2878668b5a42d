"""Scenarios in which later prompts answer what a run has asked: gates and questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.simulation.scenario import EVERYWHERE, Scenario
from actors.simulation.seeds import stream
from ops.errors import OpsError
from ops.gate_ledger import GateLedger
from ops.gates import GateAnswer
from ops.points_book import is_open
from ops.points_ledger import PointLedger
from runtimes.chant.simulation.model import SimProvider
from runtimes.chant.simulation.people import answer_questions, check_answered
from runtimes.chant.simulation.plans import asking_plan, gated_plan
from runtimes.chant.simulation.talk import ChantTalk

if TYPE_CHECKING:
    from actors.simulation.book import Json
    from actors.simulation.world import World
    from runtimes.chant.simulation.project import SimProject

OPTIONS = ("allow", "allow", "reject", "reject", "perhaps")
HOW = (
    *("once", "once", "twice", "twice"),
    *("and cancel", "after a cancel", "elsewhere", "in a race", "late"),
)
"""What a client says of a request, and when and where."""
VALUES = ("yes", "yes", "no", "perhaps")
"""What a client has chant answer; the last is none of the possible answers."""


def answered_requests(world: World) -> None:
    """Later prompts answer what a gate asked: rightly, twice, too late, elsewhere, in a race."""
    talk = ChantTalk(world, {"op0": gated_plan("op0", world.numbers)})
    talk.gates = world.numbers.choice(("ask", "ask_strictly"))
    opened: list[str] = []
    world.checks.append(lambda: check_uses(world, talk.project, opened))
    session = talk.serve()
    for _ in range(2):
        answer = talk.client.answer(talk.run(session, "op0"))
        request = _request_id(answer)
        if request:
            session = _say(talk, session, request, opened)
    talk.finish(talk.run(session, "op0"))


def _say(talk: ChantTalk, session: str, request: str, opened: list[str]) -> str:
    """Answer a request in one of many ways, and return the session to go on in."""
    numbers, client = talk.numbers, talk.client
    option, how = numbers.choice(OPTIONS), numbers.choice(HOW)
    talk.world.scheduler.trace.event(f"the client says {option}, {how}")
    if how == "after a cancel":
        client.cancel(session)
    elif how == "elsewhere":
        elsewhere = client.new_session()
        client.answer(talk.answer_request(elsewhere, request, option))
        return session
    elif how == "late":
        talk.world.server.kill()
        session = talk.serve()
        client = talk.client
    elif option == "allow":
        opened.append(request)
    elif option == "reject":
        talk.project.rejected.append(request)
    person = None
    cleaned = _cleaned_up(talk)
    if how == "in a race":
        person = talk.world.platform.spawn(
            "client: a person", lambda: open_gate(talk.world, talk.project, opened)
        )
    tickets = [talk.answer_request(session, request, option)]
    if how == "twice":
        tickets.append(talk.answer_request(session, request, option))
    if how == "and cancel":
        talk.pause()
        client.cancel(session)
    for ticket in tickets:
        client.answer(ticket)
    if person is not None:
        person.join()
    elif option == "reject" and how in {"once", "twice"}:
        _check_cleaned(talk, cleaned)
    return session


def _cleaned_up(talk: ChantTalk) -> int:
    """Count the steps of clean-up so far."""
    return sum(step.startswith("undo") for _, step in talk.world.server.steps.begun)


def _check_cleaned(talk: ChantTalk, before: int) -> None:
    """The turn of a rejection does not end before it has cleaned up."""
    if _cleaned_up(talk) == before and not talk.world.planned.fired:
        talk.world.server.book.violated("clean-up", "a gate was rejected, and nothing cleaned up")


def open_gate(world: World, project: SimProject, opened: list[str]) -> None:
    """Open the gate as a person at the machine; note it in ``opened`` if it was asked."""
    given = GateAnswer("op0", "window", "approved", "alice", "cli")
    opened.append("a person")  # before: a run may use it before this returns
    try:
        GateLedger(project.ledger).answer(given, world.platform.wall())
    except OpsError as error:
        opened.remove("a person")
        world.scheduler.trace.event(f"the gate is not answered: {error.message}")


def _request_id(answer: Json) -> str:
    """Return the request that a prompt's answer says it waits for; empty: for none."""
    chant: Json = answer.get("result", {}).get("_meta", {}).get("chant", {})
    return str(chant.get("requestId", ""))


def check_uses(world: World, project: SimProject, opened: list[str]) -> None:
    """Each opening lets one run of op0 through, and nothing else does."""
    begun = [each for served in world.servers for each in served.steps.begun]
    past = {run_id for run_id, step in begun if step.startswith("p1")}
    passed = [run_id for run_id in past if project.begun.get(run_id) == "op0"]
    if len(passed) > len(opened):
        what = f"{len(passed)} runs passed, and it was opened {len(opened)} times"
        world.server.book.violated("gate", what)


def answered_questions(world: World) -> None:
    """Prompts that answer a run's question: wrongly, twice, cancelled, in a race with a person."""
    talk = ChantTalk(world, {"op0": asking_plan("op0", world.numbers)})
    talk.project.provider = SimProvider(stream(world.seed, "model"))
    answered: list[str] = []
    world.checks.append(lambda: check_answered(world, answered))
    session = talk.serve()
    talk.client.answer(talk.run(session, "op0"))
    person = None
    if world.numbers.random() < 0.3:  # noqa: PLR2004
        person = world.platform.spawn("client: a person", lambda: answer_questions(talk, answered))
    for question_id in _asked(talk.project):
        _answer_by_prompt(talk, session, question_id, answered)
    if person is not None:
        person.join()
    talk.finish(talk.run(session, "op0"))


def _asked(project: SimProject) -> list[str]:
    try:
        return [str(record["id"]) for record in PointLedger(project.ledger).open()[0]]
    except OpsError:
        return []


def _answer_by_prompt(talk: ChantTalk, session: str, question_id: str, answered: list[str]) -> None:
    numbers, client = talk.numbers, talk.client
    tickets: list[int] = []
    for _ in range(numbers.choice((1, 1, 2))):
        value = numbers.choice(VALUES)
        if value != "perhaps":
            answered.append(question_id)
        line = f"workspace points answer {question_id} --answer {value} --by alice"
        tickets.append(client.prompt(session, line))
    if numbers.random() < 0.3:  # noqa: PLR2004
        talk.pause()
        client.cancel(session)
    told = [_exit_code(client.answer(ticket)) for ticket in tickets]
    record = PointLedger(talk.project.ledger).find(question_id)
    if 0 in told and (record is None or is_open(record)):
        what = f"{question_id} is open, and the client was told that it is answered"
        talk.world.server.book.violated("ledger", what)


def _exit_code(answer: Json) -> int | None:
    chant: Json = answer.get("result", {}).get("_meta", {}).get("chant", {})
    return chant.get("exitCode")


SCENARIOS = (
    Scenario("answered-requests", "prompts that answer a gate", answered_requests, 2),
    Scenario(
        "answered-questions", "prompts that answer a question", answered_questions, 2, EVERYWHERE
    ),
)
