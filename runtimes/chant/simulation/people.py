"""Scenarios in which a run waits for people: questions that a model looks at, durable requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.simulation.scenario import EVERYWHERE, Scenario
from actors.simulation.seeds import stream
from ops.errors import OpsError
from ops.points_book import Voice
from ops.points_ledger import PointLedger
from runtimes.chant.simulation.model import SimProvider
from runtimes.chant.simulation.plans import asking_plan, gated_plan
from runtimes.chant.simulation.talk import ChantTalk

if TYPE_CHECKING:
    from actors.simulation.book import Json
    from actors.simulation.world import World

ALLOWED: Json = {"outcome": {"outcome": "selected", "optionId": "allow"}}


def questions_of_runs(world: World) -> None:
    """A run asks, a model proposes or not, a person answers, and it runs again."""
    talk = ChantTalk(world, {"op0": asking_plan("op0", world.numbers)})
    talk.project.provider = SimProvider(stream(world.seed, "model"))
    answered: list[str] = []
    world.checks.append(lambda: check_answered(world, answered))
    session = talk.serve()
    request = talk.run(session, "op0")
    if world.numbers.random() < 0.4:  # noqa: PLR2004
        talk.pause()
        talk.client.cancel(session)
    talk.client.answer(request)
    person = world.platform.spawn("client: a person", lambda: answer_questions(talk, answered))
    if world.numbers.random() < 0.5:  # noqa: PLR2004
        person.join()
    request = talk.run(session, "op0")
    talk.client.answer(request)
    person.join()
    talk.finish(talk.run(session, "op0"))


def answer_questions(talk: ChantTalk, answered: list[str]) -> None:
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


def check_answered(world: World, answered: list[str]) -> None:
    """What a model proposes lets nothing pass: a person must have answered."""
    passed = [step for _, step in world.server.steps.begun if step.startswith("p1")]
    if passed and not answered:
        world.server.book.violated("gate", f"{passed[0]} ran, and nobody had answered")


def durable_gates(world: World) -> None:
    """A client that allows everything at once opens no gate; the turn ends and waits."""
    talk = ChantTalk(world, {"op0": gated_plan("op0", world.numbers)})
    talk.gates = world.numbers.choice(("ask", "ask_strictly"))
    world.checks.append(lambda: check_answered(world, []))
    session = talk.serve()
    talk.client.on_question = _allow
    for _ in range(2):
        request = talk.run(session, "op0")
        if world.numbers.random() < 0.3:  # noqa: PLR2004
            talk.pause()
            talk.client.cancel(session)
        talk.client.answer(request)
    talk.finish()


def _allow(message: Any) -> Json:
    del message
    return ALLOWED


SCENARIOS = (
    Scenario("run-questions", "runs that ask a model and people", questions_of_runs, 3, EVERYWHERE),
    Scenario("durable-gates", "clients that are asked to open a gate", durable_gates, 2),
)
