"""Scenarios in which a run waits for people: questions that a model looks at, durable requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.simulation.scenario import EVERYWHERE, Scenario
from actors.simulation.seeds import stream
from ops.errors import OpsError
from ops.gate_ledger import GateLedger
from ops.gates import GateAnswer
from ops.points_book import Voice
from ops.points_ledger import PointLedger
from runtimes.chant.simulation.model import SimProvider
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
ALLOWED: Json = {"outcome": {"outcome": "selected", "optionId": "allow"}}


def questions_of_runs(world: World) -> None:
    """A run asks, a model proposes or not, a person answers, and it runs again."""
    talk = ChantTalk(world, {"op0": asking_plan("op0", world.numbers)})
    talk.project.provider = SimProvider(stream(world.seed, "model"))
    answered: list[str] = []
    world.checks.append(lambda: _check_passage(world, answered))
    session = talk.serve()
    request = talk.run(session, "op0")
    if world.numbers.random() < 0.4:  # noqa: PLR2004
        talk.pause()
        talk.client.cancel(session)
    talk.client.answer(request)
    person = world.platform.spawn("client: a person", lambda: _answer(talk, answered))
    if world.numbers.random() < 0.5:  # noqa: PLR2004
        person.join()
    request = talk.run(session, "op0")
    talk.client.answer(request)
    person.join()
    talk.finish(talk.run(session, "op0"))


def _answer(talk: ChantTalk, answered: list[str]) -> None:
    """Say yes to every open question, as a person at the machine."""
    ledger, trace = PointLedger(talk.project.ledger), talk.world.scheduler.trace
    try:
        records, _problems = ledger.open()
        for record in records:
            voice = Voice("alice", "cli", attested=True)
            # Noted before: the run may read it before this returns.
            answered.append(str(record["id"]))
            ledger.answer(record["id"], [voice], "yes", "", talk.world.platform.wall())
            trace.event("the question is answered")
    except OpsError as error:
        trace.event(f"the question is not answered: {error.message}")


def _check_passage(world: World, answered: list[str]) -> None:
    """What a model proposes lets nothing pass: a person must have answered."""
    passed = [step for _, step in world.server.steps.begun if step.startswith("p1")]
    if passed and not answered:
        world.server.book.violated("gate", f"{passed[0]} ran, and nobody had answered")


def durable_gates(world: World) -> None:
    """A client that allows everything at once opens no gate; the turn ends and waits."""
    talk = ChantTalk(world, {"op0": gated_plan("op0", world.numbers)})
    talk.gates = world.numbers.choice(("ask", "ask_strictly"))
    world.checks.append(lambda: _check_passage(world, []))
    session = talk.serve()
    talk.client.on_question = _allow
    for _ in range(2):
        request = talk.run(session, "op0")
        if world.numbers.random() < 0.3:  # noqa: PLR2004
            talk.pause()
            talk.client.cancel(session)
        talk.client.answer(request)
    talk.finish()


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


def _allow(message: Any) -> Json:
    del message
    return ALLOWED


SCENARIOS = (
    Scenario("run-questions", "runs that ask a model and people", questions_of_runs, 3, EVERYWHERE),
    Scenario("answered-requests", "prompts that answer a gate", answered_requests, 2),
    Scenario("durable-gates", "clients that are asked to open a gate", durable_gates, 2),
)
