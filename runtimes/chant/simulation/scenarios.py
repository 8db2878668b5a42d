"""Scenarios of chant: real Ops' runs with clean-up, retries and limits, ledger and crashes."""

from __future__ import annotations

import signal
from functools import partial
from typing import TYPE_CHECKING

from actors.simulation.client import Reading
from actors.simulation.scenario import EVERYWHERE, Scenario
from actors.simulation.served import Pipes
from ops.errors import OpsError
from ops.gate_ledger import GateLedger
from ops.gates import GateAnswer
from runtimes.chant.simulation.plans import drawn_plan, endless_plan, failing_plan, gated_plan
from runtimes.chant.simulation.talk import ChantTalk

if TYPE_CHECKING:
    from actors.simulation.world import World
    from ops.gate_facts import Verdict
    from runtimes.chant.simulation.project import RunMoment

DISK_POINTS = ("file.write", "file.fsync", "file.rename")
MOMENTS: tuple[RunMoment, ...] = ("recorded", "cleaning", "writing", "writing")
WRITES = 4
"""Of a run that fails: its note, that it cleans up, its record, and the ledger's new end."""
VERDICTS: tuple[Verdict, ...] = ("approved", "rejected")


def runs(world: World) -> None:
    """Run Ops that go well or fail, one after another or queued."""
    talk = ChantTalk(world, {f"op{n}": drawn_plan(f"op{n}", world.numbers) for n in range(2)})
    session = talk.serve()
    requests = [talk.run(session, "op0")]
    if world.numbers.random() < 0.5:  # noqa: PLR2004
        talk.client.answer(requests[0])
    talk.finish(*requests, talk.run(session, "op1"))


def cancelled_runs(world: World) -> None:
    """Cancel Ops at any moment, before they begin and while they clean up included."""
    talk = ChantTalk(
        world, {f"op{n}": drawn_plan(f"op{n}", world.numbers, hangs=True) for n in range(2)}
    )
    session = talk.serve()
    for op in talk.project.plans:
        request = talk.run(session, op)
        for _ in range(world.numbers.choice((1, 1, 2))):
            talk.pause()
            talk.client.cancel(session)
        talk.client.answer(request)
    talk.finish()


def runs_asked_to_stop(world: World) -> None:
    """Another process asks a run to stop that would never end by itself."""
    talk = ChantTalk(world, {"op0": drawn_plan("op0", world.numbers, hangs=True)})
    talk.project.watched = True
    session = talk.serve()
    answered: list[int] = []
    for _ in range(2):
        request = talk.run(session, "op0")
        ask = partial(_ask_to_stop, talk, session, request, answered)
        world.platform.spawn("client: another process", ask)
        talk.client.answer(request)
        answered.append(request)
    talk.finish()


def _ask_to_stop(talk: ChantTalk, session: str, request: int, answered: list[int]) -> None:
    """Do what ``chant run cancel`` does, as soon as there is a run, and perhaps once more."""
    times = talk.numbers.choice((1, 1, 2))
    while times and request not in answered:
        talk.world.platform.sleep(talk.numbers.choice((0.5, 1.0)))
        for run in talk.project.in_flight.living():
            if request not in answered:
                talk.world.server.book.sent_cancel(session)
                run.ask("cancel")
                times -= 1


def late_run_cancels(world: World) -> None:
    """Cancels that race with the end of a run."""
    talk = ChantTalk(world, {"op0": drawn_plan("op0", world.numbers)})
    session = talk.serve()
    for _ in range(2):
        request = talk.run(session, "op0")
        talk.pause()
        talk.client.cancel(session)
        talk.client.answer(request)
    talk.finish()


def ended_runs(world: World) -> None:
    """The input ends, the client leaves or a signal comes while an Op runs."""
    numbers = world.numbers
    talk = ChantTalk(world, {"op0": drawn_plan("op0", numbers, hangs=True)})
    session = talk.serve(Pipes(512, numbers.choice((300, 65_536))), Reading(most=400))
    talk.run(session, "op0")
    talk.pause()
    how = numbers.choice(("end", "leave", "signal", "two signals"))
    if how == "end":
        talk.client.end_input()
    elif how == "leave":
        talk.client.leave()
    else:
        world.server.signal(signal.SIGTERM)
        if how == "two signals":
            talk.pause()
            world.server.signal(signal.SIGTERM)
    talk.client.until_closed()


def unread_runs(world: World) -> None:
    """A client that reads nothing while an Op floods it and fails: clean-up must not wait."""
    # Each line fills the pipe of the step, so that each is a message of its own.
    flood = world.numbers.choice(("prints=200 size=100", "prints=120 size=4000"))
    plan = failing_plan("op0", f"{flood} code=1")
    talk = ChantTalk(world, {"op0": plan})
    session = talk.serve(Pipes(from_server=600), Reading(pause=500.0, most=500))
    talk.run(session, "op0")
    world.platform.sleep(200.0)
    if not any(step.startswith("undo") for _, step in world.server.steps.begun):
        world.server.book.violated("clean-up", "it waits for a client that does not read")
    talk.client.end_input()
    talk.client.until_closed()


def killed_runs(world: World) -> None:
    """Kill the server anywhere, perhaps with the machine, and start it again."""
    numbers = world.numbers
    talk = ChantTalk(world, {f"op{n}": drawn_plan(f"op{n}", numbers) for n in range(2)})
    session = talk.serve()
    talk.run(session, "op0")
    talk.pause()
    for _ in range(int(900 * numbers.random() ** 2)):
        world.scheduler.point()
    world.server.kill()
    if numbers.random() < 0.5:  # noqa: PLR2004
        talk.project.disk.lose_power()
    session = talk.serve()
    talk.finish(talk.run(session, "op1"))


def runs_killed_at_worst(world: World) -> None:
    """Kill the server while a run is recorded, its clean-up begins, or a file is written."""
    numbers, plan = world.numbers, failing_plan("op0", "prints=1 code=1")
    talk = ChantTalk(world, {"op0": plan, "op1": drawn_plan("op1", numbers)})
    talk.run(talk.serve(), "op0")
    moment = numbers.choice(MOMENTS)
    talk.project.wait_for(moment, numbers.randint(1, WRITES) if moment == "writing" else 1)
    for _ in range(int(60 * numbers.random() ** 2)):
        world.scheduler.point()
    world.server.kill()
    if numbers.random() < 0.3:  # noqa: PLR2004
        talk.project.disk.lose_power()
    talk.finish(talk.run(talk.serve(), "op1"))


def cancelled_clean_ups(world: World) -> None:
    """Cancels that come while a run cleans up, and change nothing."""
    talk = ChantTalk(world, {"op0": failing_plan("op0", "code=1", undo="prints=2 takes=1")})
    session = talk.serve()
    request = talk.run(session, "op0")
    talk.project.wait_for("cleaning")
    for _ in range(world.numbers.randint(1, 2)):
        world.platform.sleep(world.numbers.choice((0.0, 0.1, 0.5)))
        talk.client.cancel(session)
    talk.finish(request)


def servers_beside(world: World) -> None:
    """Two servers on one disk, of which the second takes the first for dead."""
    numbers = world.numbers
    talk = ChantTalk(world, {f"op{n}": drawn_plan(f"op{n}", numbers) for n in range(2)})
    talk.project.beside = True
    session = talk.serve()
    first, request = talk.client, talk.run(session, "op0")
    talk.pause()
    session = talk.serve()
    talk.finish(talk.run(session, "op1"))
    first.answer(request)
    first.end_input()
    first.until_closed()


def racing_servers(world: World) -> None:
    """Two servers whose runs end at the same moment: both are recorded."""
    plan = failing_plan("op0", world.numbers.choice(("takes=1", "code=1")))
    talk = ChantTalk(world, {"op0": plan})
    opened = [(talk.serve(), talk.client) for _ in range(2)]
    for _ in range(2):
        requests = [(client, client.prompt(session, "run op0")) for session, client in opened]
        for client, request in requests:
            client.answer(request)
    for _, client in opened:
        client.end_input()
        client.until_closed()


def torn_ledger(world: World) -> None:
    """Runs on a ledger whose last line was cut off."""
    talk = ChantTalk(world, {"op0": drawn_plan("op0", world.numbers)})
    talk.project.tear("op0")
    session = talk.serve()
    talk.finish(talk.run(session, "op0"))


def long_clean_ups(world: World) -> None:
    """Clean-up that would never end, cancelled in vain and ended by its limit."""
    talk = ChantTalk(world, {"op0": endless_plan("op0")})
    session = talk.serve()
    request = talk.run(session, "op0")
    talk.pause()
    if world.numbers.random() < 0.5:  # noqa: PLR2004
        talk.client.cancel(session)
    talk.finish(request)


def gates(world: World) -> None:
    """A run stops at a gate, people answer, and it runs again; answers race with it."""
    talk = ChantTalk(world, {"op0": gated_plan("op0", world.numbers)})
    opened: list[bool] = []
    world.checks.append(lambda: _check_gate(world, opened))
    session = talk.serve()
    talk.client.answer(talk.run(session, "op0"))
    person = world.platform.spawn("client: a person", lambda: opened.append(_answer_gate(talk)))
    if world.numbers.random() < 0.5:  # noqa: PLR2004
        person.join()
    talk.client.answer(talk.run(session, "op0"))
    person.join()
    talk.finish(talk.run(session, "op0"))


def _answer_gate(talk: ChantTalk) -> bool:
    """Answer as a person would; return whether the gate was opened."""
    verdict = talk.numbers.choice(VERDICTS)
    given = GateAnswer("op0", "window", verdict, "alice", "cli")
    try:
        GateLedger(talk.project.ledger).answer(given, talk.world.platform.wall())
    except OpsError as error:
        talk.world.scheduler.trace.event(f"the gate is not answered: {error.message}")
        return False
    talk.world.scheduler.trace.event(f"the gate is {verdict}")
    return verdict == "approved"


def _check_gate(world: World, opened: list[bool]) -> None:
    """No proof, no passage."""
    passed = [step for _, step in world.server.steps.begun if step.startswith("p1")]
    if passed and not any(opened):
        world.server.book.violated("gate", f"{passed[0]} ran, and nobody had opened the gate")


SCENARIOS = (
    Scenario("runs", "Ops that go well or fail and clean up", runs, 3, EVERYWHERE),
    Scenario("cancelled-runs", "Ops cancelled at any moment", cancelled_runs, 3, EVERYWHERE),
    Scenario("asked-to-stop", "runs that another process asks to stop", runs_asked_to_stop, 2),
    Scenario("late-run-cancels", "cancels that race with a run's end", late_run_cancels, 3),
    Scenario("ended-runs", "ends and signals while an Op runs", ended_runs, 2, codes=(0, 143)),
    Scenario("unread-runs", "an Op that fails while the client reads nothing", unread_runs),
    Scenario("killed-runs", "a server killed anywhere, and the next one", killed_runs),
    Scenario("killed-at-worst", "a server killed while it records or marks", runs_killed_at_worst),
    Scenario("cancelled-clean-ups", "cancels while a run cleans up", cancelled_clean_ups),
    Scenario("beside", "a server that takes another's run for dead", servers_beside),
    Scenario("racing", "two servers that record at the same moment", racing_servers),
    Scenario("torn-ledger", "a ledger whose last line was cut off", torn_ledger),
    Scenario("long-clean-ups", "clean-up that ends by its limit only", long_clean_ups, 2, calm=0.3),
    Scenario("gates", "a run at a gate, and people who answer", gates, 2),
    Scenario("full-disk", "Ops while the disk fails", runs, 3, DISK_POINTS),
)
