"""Scenarios of radian: turns with tools, cancels, people, ends, crashes and disks that fail."""

from __future__ import annotations

import signal
from dataclasses import replace
from typing import TYPE_CHECKING

from actors.fault_plan import FaultPlan, PlannedFault
from actors.simulation.client import Reading
from actors.simulation.scenario import Scenario
from actors.simulation.served import Pipes
from runtimes.radian.simulation.mcp import IDS, TOOL
from runtimes.radian.simulation.talk import AgentTalk

if TYPE_CHECKING:
    import random

    from actors.simulation.world import World
    from runtimes.radian.simulation.journals import Moment

ANSWERS = (
    "look 0 look 0.5 look 0",
    "look 0.1 make 0 look 0",
    "make 0.1 run takes=0.5_prints=2 make 0",
    "run prints=2_code=1",
    "run missing look 0",
    "subagent subagent",
    "look 0 subagent look 0",
    "nonsense 1 look x",
    "fail",
    "cut",
    "pause",
    "long",
    "ask_user",
    "edit 0",
    "edit 0 edit 0.1 look 0",
    "job takes=1",
)
"""What ends by itself, but for questions that nobody answers."""
QUESTIONS = ("edit 0 look 0", "edit 0.1 edit 0", "ask_user edit 0", "asking edit 0")
STALLS = "stalling"
HELPERS = ("subagent", "subagent", STALLS, "look 0.3")
"""What runs side by side, in parts that take different times."""
HANGS = (
    "stall",
    "look 5000",
    "make 5000",
    "look 5000 look 0 look 5000",
    "run takes=5000",
    "run takes=5000_ignores_term",
    "run takes=5000_prints=300_size=100",
    "make 0 run takes=5000_term_takes=1 make 0",
    "fail; stall",
)
QUIET = tuple(each for each in ANSWERS if "edit" not in each and "ask" not in each)
"""What ends by itself, whatever people do."""
HOOKED = (*QUIET, "look 0 make 0", "make 0 look 0.5", "say", "say")
"""What hooks judge."""
ONE, TWO = (f"mcp__{name}__{TOOL}" for name in IDS)
SERVED = (
    ONE,
    f"{ONE} {TWO} look 0",
    f"look 0 {TWO} make 0.1",
    f"{TWO} {TWO} {ONE}",
    f"subagent {ONE}",
)
"""What calls MCP servers."""
DISK = (*("file.write",) * 2, "file.fsync", "journal.write", "journal.sync", "journal.repair")
MOMENTS: tuple[Moment, ...] = ("writing", "writing", "forcing")
LAST = 0.5
SLOW_WRITE_S = 0.2


def _some(numbers: random.Random, most: int = 3) -> tuple[str, ...]:
    return (*numbers.choices(QUIET, k=numbers.randint(1, most)), "say")


def agent_turns(world: World) -> None:
    """Prompts one after another, with tools, retries, subagents and summaries."""
    talk = AgentTalk(world)
    talk.serve()
    talk.open()
    for _ in range(world.numbers.randint(1, 3)):
        talk.client.answer(talk.prompt(*_some(world.numbers)))
    talk.finish()


def cancelled_agent_turns(world: World) -> None:
    """Cancels at any moment of turns that would never end, and a turn behind them."""
    talk, numbers = AgentTalk(world), world.numbers
    talk.serve(Pipes(65_536, numbers.choice((512, 65_536))))
    talk.open()
    for _ in range(numbers.randint(1, 2)):
        before = numbers.choices(ANSWERS, k=numbers.randint(0, 1))
        request = talk.prompt(*before, numbers.choice(HANGS))
        talk.pause()
        for _ in range(numbers.choice((1, 1, 2))):
            talk.client.cancel(talk.session)
        talk.client.answer(request)
    talk.finish(talk.prompt("look 0", "say"))


def late_agent_cancels(world: World) -> None:
    """Cancels that race with the end of a turn, and hit nothing that comes later."""
    talk = AgentTalk(world)
    talk.serve()
    talk.open()
    for _ in range(2):
        request = talk.prompt(*_some(world.numbers, 2))
        talk.pause()
        talk.client.cancel(talk.session)
        talk.client.answer(request)
    talk.finish(talk.prompt("say"))


def agent_questions(world: World) -> None:
    """Questions that a client answers late, wrongly, never, or by cancelling the turn."""
    talk, numbers = AgentTalk(world), world.numbers
    talk.serve()
    talk.open()
    for _ in range(numbers.randint(1, 3)):
        request = talk.prompt(*numbers.choices(QUESTIONS, k=2), "say")
        world.platform.sleep(numbers.choice((0.0, 0.5, 2.0, 10.0)))
        talk.client.cancel(talk.session)
        talk.client.answer(request)
    talk.finish()


def slow_agent_client(world: World) -> None:
    """A client that reads little at a time, or stops, or leaves, while turns go on."""
    talk, numbers = AgentTalk(world), world.numbers
    leaves = numbers.choice((-1, numbers.randint(500, 4_000)))
    reading = Reading(numbers.choice((0.1, 1.0, 300.0)), numbers.choice((300, 2_000)), leaves)
    talk.serve(Pipes(65_536, numbers.choice((256, 2_000))), reading)
    talk.open()
    talk.prompt(*_some(numbers), numbers.choice((*HANGS, "say")))
    world.platform.sleep(numbers.choice((1.0, 10.0, 60.0)))
    if numbers.random() < LAST:
        talk.client.cancel(talk.session)
    talk.client.end_input()
    talk.client.until_closed()


def ended_agents(world: World) -> None:
    """The input ends or a signal comes in mid-turn; another server goes on with the session."""
    talk, numbers = AgentTalk(world), world.numbers
    talk.serve()
    talk.open()
    talk.prompt(*numbers.choices(ANSWERS, k=numbers.randint(0, 2)), numbers.choice(HANGS))
    talk.pause()
    how = numbers.choice(("end", "leave", "signal"))
    if how == "end":
        talk.client.end_input()
    elif how == "leave":
        talk.client.leave()
    else:
        world.server.signal(signal.SIGTERM)
    talk.client.until_closed()
    world.server.join()
    _go_on(talk)


def killed_agents(world: World) -> None:
    """Kill the server anywhere, perhaps with the machine; another one loads the session."""
    talk, numbers = AgentTalk(world), world.numbers
    talk.serve()
    if talk.open() and numbers.random() < LAST:
        talk.client.answer(talk.prompt(*_some(numbers, 1)))
    talk.prompt(*_some(numbers), numbers.choice((*HANGS, "say")))
    talk.pause()
    for _ in range(int(900 * numbers.random() ** 2)):
        world.scheduler.point()
    _kill(talk)
    _go_on(talk)


def agents_killed_at_worst(world: World) -> None:
    """Kill the server right before or after a write of its journal, twice."""
    talk, numbers = AgentTalk(world), world.numbers
    talk.serve()
    talk.open()
    talk.shelf.write_s = numbers.choice((0.0, SLOW_WRITE_S))
    for _ in range(2):
        moment = numbers.choice(MOMENTS)
        already = talk.shelf.count(moment)
        talk.prompt(*_some(numbers, 2))
        times = numbers.randint(1, 4 if moment == "writing" else 1)
        talk.shelf.wait_for(moment, already + times)
        for _ in range(int(60 * numbers.random() ** 2)):
            world.scheduler.point()
        if numbers.random() < 0.5:  # noqa: PLR2004
            world.platform.sleep(talk.shelf.write_s / 2)  # whatever needs no write is told by now
        _kill(talk)
        talk.serve()
        if not talk.load():
            talk.finish()
            return
    talk.finish(talk.prompt("look 0", "say"))


def agent_jobs(world: World) -> None:
    """Jobs that end at any moment: in a turn, between turns, while a prompt comes."""
    talk, numbers = AgentTalk(world), world.numbers
    talk.serve()
    talk.open()
    for _ in range(numbers.randint(1, 3)):
        takes = numbers.choice(("0", "0.1", "0.3", "0.5", "2", "5000"))
        jobs = " ".join([f"job takes={takes}"] * numbers.choice((1, 1, 3)))
        request = talk.prompt(jobs, *numbers.choices(QUIET, k=numbers.randint(0, 1)), "say")
        if numbers.random() < LAST:
            talk.client.answer(request)
        talk.pause()
        if numbers.random() < 0.3:  # noqa: PLR2004
            talk.client.cancel(talk.session)
        talk.client.answer(request)
    talk.pause()
    talk.finish()


def agents_beside(world: World) -> None:
    """A second server that wants the session of one that lives, and gets it once that has ended."""
    talk, numbers = AgentTalk(world), world.numbers
    talk.serve()
    talk.open()
    first, served = talk.client, world.server
    request = talk.prompt(*_some(numbers))
    again = talk.prompt("say", may_fail=True)
    talk.pause()
    talk.serve()
    talk.load(in_use=True)
    first.answer(request)
    first.answer(again)
    first.end_input()
    first.until_closed()
    served.join()
    talk.finish(*([talk.prompt("look 0", "say")] if talk.load() else []))


def agent_helpers(world: World) -> None:
    """Subagents side by side, some of which hang until the turn is cancelled."""
    talk, numbers = AgentTalk(world), world.numbers
    talk.models_let_go_slowly()
    talk.serve()
    talk.open()
    for _ in range(numbers.randint(1, 2)):
        helpers = numbers.choices(HELPERS, k=numbers.randint(3, 4))
        request = talk.prompt(" ".join(helpers), "look 0", "say")
        if STALLS in helpers or numbers.random() < 0.3:  # noqa: PLR2004
            world.platform.sleep(numbers.choice((0.5, 1.0, 5.0)))
            talk.client.cancel(talk.session)
        talk.client.answer(request)
    talk.finish()


def hooked_agents(world: World) -> None:
    """Hooks that allow, deny, rewrite, fail and hang, in turns that are cancelled at any moment."""
    talk, numbers = AgentTalk(world, hooked=True), world.numbers
    talk.serve()
    talk.open()
    for _ in range(numbers.randint(1, 3)):
        hangs = (numbers.choice(HANGS),) if numbers.random() < 0.2 else ()  # noqa: PLR2004
        request = talk.prompt(*numbers.choices(HOOKED, k=numbers.randint(1, 2)), *hangs, "say")
        if hangs or numbers.random() < 0.3:  # noqa: PLR2004
            world.platform.sleep(numbers.choice((0.0, 0.5, 1.0, 3.0, 5.0)))
            talk.client.cancel(talk.session)
        talk.client.answer(request)
    if numbers.random() < 0.8:  # noqa: PLR2004
        talk.finish()
        return
    talk.prompt(*numbers.choices(HOOKED, k=2), "say")
    talk.pause()
    for _ in range(int(400 * numbers.random() ** 2)):
        world.scheduler.point()
    _kill(talk)
    _go_on(talk)


def served_agents(world: World) -> None:
    """Calls of MCP servers that die, hang and start again, in turns cancelled at any moment."""
    talk, numbers = AgentTalk(world, servers=IDS), world.numbers
    talk.cancel_limit_s = 0.5  # no call of theirs is waited for
    if unasked := numbers.random() < 0.7:  # noqa: PLR2004
        talk.options = replace(talk.options, allow=("mcp",))
    talk.serve()
    talk.open()
    for _ in range(numbers.randint(1, 3)):
        request = talk.prompt(*numbers.choices(SERVED, k=numbers.randint(1, 2)), "say")
        if not unasked or numbers.random() < LAST:
            world.platform.sleep(numbers.choice((0.0, 0.2, 0.2, 0.5, 1.0, 3.0)))
            talk.client.cancel(talk.session)
        talk.client.answer(request)
    if numbers.random() < 0.7:  # noqa: PLR2004
        talk.finish()
        return
    talk.prompt(*numbers.choices(SERVED, k=2), "say")
    talk.pause()
    for _ in range(int(400 * numbers.random() ** 2)):
        world.scheduler.point()
    _kill(talk)
    _go_on(talk)


def full_disks(seed: int, numbers: random.Random) -> FaultPlan:
    """Draw a write from which on there is no room for some time."""
    fault = PlannedFault(
        point="file.write",
        fault="error",
        errno="ENOSPC",
        hit=numbers.randint(5, 15),
        times=numbers.choice((1, 3, 50)),
    )
    return FaultPlan(faults=(fault,), name="drawn", seed=seed)


def _kill(talk: AgentTalk) -> None:
    talk.world.server.kill()
    if talk.numbers.random() < LAST:
        talk.truth.power_lost = True
        talk.shelf.disk.lose_power()


def _go_on(talk: AgentTalk) -> None:
    """Load the session in a new server, and have another turn."""
    talk.serve()
    talk.finish(*([talk.prompt("look 0 make 0", "say")] if talk.load() else []))


SCENARIOS = (
    Scenario("agent-turns", "turns of the agent, with tools and retries", agent_turns, 3),
    Scenario("cancelled-agent", "cancels at any moment of its turns", cancelled_agent_turns, 3),
    Scenario("late-agent-cancels", "cancels that race with a turn's end", late_agent_cancels, 3),
    Scenario("agent-questions", "clients that are asked for permission", agent_questions, 2),
    Scenario("slow-agent-client", "clients that hardly read", slow_agent_client, 2, codes=(0,)),
    Scenario("ended-agents", "ends and signals in mid-turn", ended_agents, 2, codes=(0, 143)),
    Scenario("killed-agents", "an agent killed anywhere, and the next one", killed_agents),
    Scenario("agents-killed-at-worst", "an agent killed around a write", agents_killed_at_worst),
    Scenario("agents-beside", "two agents that want one session", agents_beside),
    Scenario("agent-jobs", "background jobs and the turns that tell of them", agent_jobs, 2),
    Scenario("agent-full-disk", "turns while the disk fails", agent_turns, 3, DISK, calm=0.1),
    Scenario("hooked-agents", "hooks that allow, deny, fail and hang", hooked_agents, 2),
    Scenario("served-agents", "turns that call MCP servers", served_agents, 2),
    Scenario(
        "agent-helpers",
        "subagents side by side, and a disk that fills up",
        agent_helpers,
        calm=0.1,
        draw=full_disks,
    ),
)
