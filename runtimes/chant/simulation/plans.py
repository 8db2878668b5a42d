"""Plans that a seed draws: phases, parallel steps, retries, time limits, clean-up."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ops.model import GateStep, Retry
from ops.plan import Plan, PlannedPhase, PlannedStep
from runtimes.chant.simulation.model import POINT
from runtimes.chant.simulation.project import ENV

if TYPE_CHECKING:
    import random

FINE = (
    "prints=1",
    "prints=3 takes=0.5",
    "takes=1",
    "prints=2 child=4",
    "prints=1 raw",
    "prints=30 size=60",
)
BAD = ("code=1", "prints=2 takes=0.5 code=3", "takes=5000", "missing")
"""The third one fails by its time limit."""
SLOW = (
    "takes=4000",
    "takes=4000 ignores_term",
    "prints=3 takes=4000 term_takes=1",
    "takes=4000 term_takes=2",
)
"""The last one ends at the very moment of its KILL."""
LIMIT_S = 2.0


def drawn_plan(name: str, numbers: random.Random, *, hangs: bool = False) -> Plan:
    """Draw an Op.  One that ``hangs`` has a step without a time limit that ends by a cancel."""
    fails = numbers.random() < 0.5  # noqa: PLR2004
    phases = [_phase(f"p{number}", numbers) for number in range(numbers.randint(1, 3))]
    if hangs or fails:
        at = numbers.randrange(len(phases))
        step = _step(numbers.choice(SLOW if hangs else BAD), numbers)
        if hangs:
            step = replace(step, timeout_s=None)
        phases[at] = _with(phases[at], step, numbers)
    clean_up = [_phase(f"undo{n}", numbers) for n in range(numbers.randint(0, 2))]
    if clean_up and numbers.random() < 0.3:  # noqa: PLR2004
        at = numbers.randrange(len(clean_up))
        clean_up[at] = _with(clean_up[at], _step(numbers.choice(BAD), numbers), numbers)
    return Plan(name, ENV, _named(phases), _named(clean_up, compensates=True))


def failing_plan(name: str, script: str, undo: str = "prints=1") -> Plan:
    """Make an Op of one step that follows ``script``, and one step of clean-up."""
    clean_up = _named([_plain("undo0", undo)], compensates=True)
    return Plan(name, ENV, _named([_plain("p0", script)]), clean_up)


def endless_plan(name: str) -> Plan:
    """Make an Op that fails, and whose clean-up ends by its limit only."""
    undo = _plain("undo1", SLOW[0])
    undo = replace(undo, steps=(replace(undo.steps[0], timeout_s=None),))
    on_failure = _named([_plain("undo0", "prints=1"), undo], compensates=True)
    fails = _named([_plain("p0", "code=1")])
    return Plan(name, ENV, fails, on_failure, compensation_timeout_s=20.0)


def _plain(name: str, script: str) -> PlannedPhase:
    step = PlannedStep("", "", "activity", "shell", args={"cmd": script}, timeout_s=LIMIT_S)
    return PlannedPhase(name, (step,))


def gated_plan(name: str, numbers: random.Random) -> Plan:
    """Draw an Op with a gate before its last phase."""
    first, last = _phase("p0", numbers), _phase("p1", numbers)
    gate = PlannedStep("gate", "", "gate", "gate:window", gate=GateStep("gate", "window"))
    return Plan(
        name,
        ENV,
        _named([first, PlannedPhase("window", (gate,)), last]),
        _named([_phase("undo0", numbers)], compensates=True),
        op_digest=f"op of {name}",
        params_digest="no params",
    )


def asking_plan(name: str, numbers: random.Random) -> Plan:
    """Draw an Op with a question before its last phase."""
    first, last = _phase("p0", numbers), _phase("p1", numbers)
    step = PlannedStep("ask", "", "point", f"point:{POINT}", point=POINT)
    phases = _named([first, PlannedPhase("decide", (step,)), last])
    return Plan(name, ENV, phases, _named([_phase("undo0", numbers)], compensates=True))


def _phase(name: str, numbers: random.Random) -> PlannedPhase:
    steps = [_step(numbers.choice(FINE), numbers) for _ in range(numbers.randint(1, 3))]
    parallel = numbers.random() < 0.4  # noqa: PLR2004
    return PlannedPhase(name, tuple(steps), parallel, parallel and numbers.random() < 0.5)  # noqa: PLR2004


def _step(script: str, numbers: random.Random) -> PlannedStep:
    retry = Retry(attempts=numbers.choice((1, 1, 2, 3)), first_wait_s=numbers.choice((0.1, 1.0)))
    return PlannedStep(
        "", "", "activity", "shell", args={"cmd": script}, timeout_s=LIMIT_S, retry=retry
    )


def _with(phase: PlannedPhase, step: PlannedStep, numbers: random.Random) -> PlannedPhase:
    at = numbers.randint(0, len(phase.steps))
    return replace(phase, steps=(*phase.steps[:at], step, *phase.steps[at:]))


def _named(phases: list[PlannedPhase], *, compensates: bool = False) -> tuple[PlannedPhase, ...]:
    """Give steps their ids: ``<phase>-<number>``."""
    return tuple(
        replace(
            phase,
            compensates=compensates,
            steps=tuple(
                replace(
                    step,
                    step_id=f"{phase.name}-{number}",
                    phase=phase.name,
                    compensates=compensates,
                )
                for number, step in enumerate(phase.steps, 1)
            ),
        )
        for phase in phases
    )
