"""Scenarios of ``chant operator``: the real one on a simulated project, clock and signals."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from actors import serve
from actors.fault_plan import FaultPlan, PlannedFault
from actors.serve import INTERNAL_FAULT
from actors.simulation.disk import SimDisk
from actors.simulation.scenario import EVERYWHERE, Scenario
from actors.simulation.seeds import stream
from actors.simulation.served import Pipes
from ops.cron import parse_cron
from ops.waits import judge
from runtimes.chant.op_turn import RECORD
from runtimes.chant.operator.operating import Note, Operator, Orders
from runtimes.chant.run_tasks import RunRequest
from runtimes.chant.simulation.model import STEWARD
from runtimes.chant.simulation.plans import drawn_plan, gated_plan
from runtimes.chant.simulation.project import ENV, SimProject, SimTasks
from runtimes.chant.simulation.requests import check_uses, open_gate
from runtimes.chant.simulation.truth import Truth

if TYPE_CHECKING:
    import random

    from actors.simulation.served import Served
    from actors.simulation.world import World
    from ops.waits import Wait
    from runtimes.chant.run_tasks import RunTasks

MINUTE_S = 60.0
TIMES = {"op0": "* * * * *", "op1": "*/2 * * * *"}
DUE_EVERY_S = {"op0": MINUTE_S, "op1": 2 * MINUTE_S}
POINTS = (*EVERYWHERE, *("operator.judge",) * 2)


class _Notes:
    """The notes of a simulated process, as an operator reads them."""

    def __init__(self, served: Served) -> None:
        self._notes = served.notes

    def put(self, note: Note) -> None:
        self._notes.put(serve.Note(note.kind, note.number))

    def get(self) -> Note:
        note = self._notes.get()
        return Note(note.kind, note.code)


class Post:
    """A project, and its operators, one after another."""

    def __init__(self, world: World) -> None:
        """Make the project; a gate or none is before the last phase of its first Op."""
        self.world = world
        numbers = world.numbers
        gated = numbers.random() < 0.5  # noqa: PLR2004
        first = gated_plan("op0", numbers) if gated else drawn_plan("op0", numbers)
        plans = {"op0": first, "op1": drawn_plan("op1", numbers)}
        disk = SimDisk(world.scheduler, world.faults, stream(world.seed, "disk"))
        self.project = SimProject(world.platform, disk, plans)
        self.opened: list[str] = []
        """Who opened the gate."""
        self.opened_at = 0.0
        """When it was opened last, in epoch seconds."""
        self._began_s = 0.0
        self.started: dict[str, int] = {}
        """How often the operator has started each Op."""
        world.checks.append(Truth(world, self.project).check)
        if gated:
            world.checks.append(lambda: check_uses(world, self.project, self.opened))

    def operate(self, *, once: bool) -> Served:
        """Start an operator."""
        world = self.world
        self.project.process += 1
        self._began_s, self.started = world.platform.wall(), {}
        served = world.add(Pipes())
        orders = self._orders(served, once=once)

        def run() -> int:
            operator = Operator(
                orders,
                world.platform,
                _Notes(served),
                world.faults,
                served.steps,
                telemetry=served.telemetry,
            )
            return INTERNAL_FAULT if operator.run().broken else 0

        served.begin(run)
        return served

    def open_gate(self) -> None:
        """Open the gate as a person does, if it is asked."""
        self.opened_at = self.world.platform.wall()
        open_gate(self.world, self.project, self.opened)

    def _orders(self, served: Served, *, once: bool) -> Orders:
        schedule = {op: [parse_cron(text)] for op, text in TIMES.items()}

        def tasks(op: str) -> RunTasks:
            self._check_start(served, op, once=once)
            asked = RunRequest(op, "/", {}, env=ENV, origin="operator", steward=STEWARD)
            return SimTasks(asked, self.project)

        def tell(text: str) -> None:
            self.world.scheduler.trace.event(f"operator: {text}")

        return Orders(schedule, once, tasks, self._judge, tell)

    def _judge(self, op: str) -> Wait:
        project = self.project
        now_s = project.platform.wall()
        return judge(project.ledger, ENV, op, now_s, project.in_flight)

    def _check_start(self, served: Served, op: str, *, once: bool) -> None:
        """An Op is started alone, once for each time it is due or its gate was opened."""
        count = self.started[op] = self.started.get(op, 0) + 1
        began_s, now_s = self._began_s, self.world.platform.wall()
        due = now_s // DUE_EVERY_S[op] - began_s // DUE_EVERY_S[op]
        if count > (1 if once else due + len(self.opened)):
            served.book.violated("operator", f"{op} was started {count} times, due {due:g} times")
        if running := served.book.running:
            served.book.violated("operator", f"{op} was started while {running} ran")
        newest = self.project.ledger.newest(ENV, op)
        if newest is not None and newest["status"] == "gated" and not self.opened_at:
            served.book.violated("operator", f"{op} was started while it waits at its gate")


def operators(world: World) -> None:
    """An operator for some minutes, its Ops, people at their gate, and how it ends."""
    post, numbers = Post(world), world.numbers
    served = post.operate(once=False)
    for _ in range(numbers.randint(1, 4)):
        world.platform.sleep(numbers.choice((20.0, MINUTE_S, 90.0)))
        if numbers.random() < 0.3:  # noqa: PLR2004
            post.open_gate()
    if numbers.random() < 0.3:  # noqa: PLR2004
        for _ in range(int(400 * numbers.random() ** 2)):
            world.scheduler.point()
        served.kill()
        served = post.operate(once=False)
        world.platform.sleep(numbers.choice((MINUTE_S, 3 * MINUTE_S)))
    _end(world, served)


def _end(world: World, served: Served) -> None:
    served.signal(signal.SIGTERM)
    if world.numbers.random() < 0.3:  # noqa: PLR2004
        world.platform.sleep(world.numbers.choice((0.0, 0.5)))
        served.signal(signal.SIGTERM)
    served.join()


def operators_once(world: World) -> None:
    """An operator that ends by itself once every Op had its turn, twice, with people between."""
    post = Post(world)
    for _ in range(2):
        post.operate(once=True).join()
        if not world.planned.fired and post.started.keys() != TIMES.keys() - _waiting(post):
            world.server.book.violated("operator", f"once, and only {post.started} was started")
        if world.numbers.random() < 0.5:  # noqa: PLR2004
            post.open_gate()


def _waiting(post: Post) -> set[str]:
    """Return the Ops whose gate nobody has opened."""
    newest = post.project.ledger.newest(ENV, "op0")
    gated = newest is not None and newest["status"] == "gated"
    return {"op0"} if gated and "op0" not in post.started else set()


def record_faults(seed: int, numbers: random.Random) -> FaultPlan:
    """Draw a fault of ours in the very step that records a run."""
    fault = PlannedFault(
        point=numbers.choice(("step.call", "step.return")),
        who=RECORD,
        fault="crash",
        hit=numbers.randint(1, 3),
    )
    return FaultPlan(faults=(fault,), name="drawn", seed=seed)


SCENARIOS = (
    Scenario("operators", "an operator, its schedule and its end", operators, 3, POINTS),
    Scenario("operators-once", "an operator that runs each Op once", operators_once, 2, POINTS),
    Scenario(
        "lost-records",
        "an operator whose runs fail to be recorded at first",
        operators_once,
        calm=0.0,
        draw=record_faults,
    ),
)
