"""Scenarios of the actor layer alone: prompts of `actors.simulation.probe` in all weathers."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from actors.simulation.client import Reading
from actors.simulation.faults import doubled, dropped, executor_crashes, router_crashes
from actors.simulation.probe import ProbeRuntime
from actors.simulation.scenario import IN_ACTORS, Scenario
from actors.simulation.served import Pipes
from actors.simulation.world import HEAL_S

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from actors.simulation.book import Book, Json
    from actors.simulation.client import SimClient
    from actors.simulation.platform import SimPlatform
    from actors.simulation.world import World

ANSWERING = (*("gate.put",) * 3, "outlet.speak", "actor.handled")
DURATIONS_S = (0.0, 0.1, 0.5, 1.0, 2.0)
"""Few values, so that things often happen at the very same moment (2 s is also the grace)."""
PIPE_SIZES = (64, 512, 65_536, 65_536)
TASKS = (
    "say 1",
    "say 3",
    "run prints=3",
    "run takes=1 prints=2 code=1",
    "run takes=0.5 prints=1 raw",
    "run child=5 prints=2",
    "run missing",
    "leave takes=1",
    "leave prints=2 takes=5000 term_takes=1",
    "work 0.6",
    "call chunks=3",
    "call chunks=3 pause=0.5",
    "call chunks=4 fails_after=2",
    "ask",
    "wait 0.5",
    "raise",
)
"""What ends by itself."""
HANGS = (
    "run takes=5000",
    "run takes=5000 ignores_term",
    "run takes=5000 term_takes=1 prints=2",
    "run takes=5000 term_takes=2",
    "run takes=5000 child=6000 ignores_term",
    "run prints=400 size=100 takes=5000",
    "work 9000",
    "call chunks=3 stalls_after=1",
    "call chunks=3 stalls_after=1 slow_stop=1",
    "wait 5000",
    "call chunks=900 pause=0.5",
)
"""What ends in time only when it is cancelled."""


class Talk:
    """One client's conversation with the probe."""

    def __init__(
        self,
        world: World,
        pipes: Pipes | None = None,
        reading: Reading | None = None,
        make: Callable[[SimPlatform, Book], ProbeRuntime] = ProbeRuntime,
    ) -> None:
        """Start a server of what ``make`` makes and shake hands."""
        self.world = world
        self.numbers = world.numbers
        self.client: SimClient = world.serve(
            lambda book: make(world.platform, book), pipes or Pipes(), reading or Reading()
        )
        self._tags = 0
        self.client.uses_ids_again = self.numbers.random() < 0.3  # noqa: PLR2004
        self.client.initialize()

    def prompt(self, session: str, *tasks: str) -> int:
        """Send a prompt with a tag of its own."""
        self._tags += 1
        tag = f"turn{self._tags}"
        return self.client.prompt(session, "; ".join((tag, *tasks)), tag)

    def some(self) -> tuple[str, ...]:
        """Draw a few tasks that end by themselves."""
        return tuple(self.numbers.choices(TASKS, k=self.numbers.randint(1, 3)))

    def hanging(self) -> tuple[str, ...]:
        """Draw tasks of which the last one hangs."""
        return (*self.numbers.choices(TASKS, k=self.numbers.randint(0, 1)), self.one_hang())

    def one_hang(self) -> str:
        """Draw one that hangs."""
        return self.numbers.choice(HANGS)

    def pause(self) -> None:
        """Let some time pass, or none."""
        self.world.platform.sleep(self.numbers.choice(DURATIONS_S))

    def finish(self, *requests: int) -> None:
        """Wait for all answers, end the input and wait for the server's end."""
        for request in requests:
            self.client.answer(request)
        self.client.end_input()
        self.client.until_closed()


def basic(world: World) -> None:
    """One prompt that streams."""
    talk = Talk(world)
    session = talk.client.new_session()
    talk.finish(talk.prompt(session, "say 3", "run prints=5 takes=0.5", "say 1"))


def stream(world: World) -> None:
    """Prompts one after another."""
    talk = Talk(world, _pipes(world.numbers))
    session = talk.client.new_session()
    for _ in range(world.numbers.randint(1, 3)):
        talk.client.answer(talk.prompt(session, *talk.some()))
    talk.finish()


def cancels(world: World) -> None:
    """Turns that end only by a cancel, sent at any moment: before it starts, or while it ends."""
    talk = Talk(world, _pipes(world.numbers))
    session = talk.client.new_session()
    for _ in range(world.numbers.randint(1, 3)):
        request = talk.prompt(session, *talk.hanging())
        talk.pause()
        for _ in range(world.numbers.choice((1, 1, 2))):
            talk.client.cancel(session)
        if world.numbers.random() < 0.5:  # noqa: PLR2004 - one that must not be hit
            talk.client.answer(talk.prompt(session, *talk.some()))
        talk.client.answer(request)
    talk.finish()


def late_cancels(world: World) -> None:
    """Cancels that race with the end of a turn, and hit nothing that comes later."""
    talk = Talk(world)
    session = talk.client.new_session()
    for _ in range(3):
        request = talk.prompt(session, *talk.some())
        talk.pause()
        talk.client.cancel(session)
        talk.client.answer(request)
    talk.finish(talk.prompt(session, "say 1"))


def queue(world: World) -> None:
    """Prompts that wait for their turn, and are cancelled all at once."""
    talk = Talk(world)
    session = talk.client.new_session()
    requests = [talk.prompt(session, *talk.hanging()) for _ in range(world.numbers.randint(2, 4))]
    talk.pause()
    talk.client.cancel(session)
    requests += [talk.prompt(session, *talk.some()) for _ in range(2)]
    talk.finish(*requests)


def sessions(world: World) -> None:
    """Two sessions at once, each with cancels of its own."""
    talk = Talk(world, _pipes(world.numbers))

    def converse() -> None:
        session = talk.client.new_session()
        for _ in range(2):
            hang = world.numbers.random() < 0.5  # noqa: PLR2004
            request = talk.prompt(session, *(talk.hanging() if hang else talk.some()))
            if hang:
                talk.pause()
                talk.client.cancel(session)
            talk.client.answer(request)

    both = [world.platform.spawn(f"client {number}", converse) for number in (1, 2)]
    for each in both:
        each.join()
    talk.finish()


def slow_client(world: World) -> None:
    """A client that reads little at a time, and a flood."""
    numbers = world.numbers
    reading = Reading(numbers.choice((0.0, 0.1, 1.0)), numbers.choice((200, 2_000)))
    talk = Talk(world, Pipes(512, numbers.choice((256, 2_000))), reading)
    session = talk.client.new_session()
    flood = talk.prompt(session, f"run prints={numbers.choice((10, 60))} size=60", "say 80")
    if numbers.random() < 0.5:  # noqa: PLR2004
        talk.pause()
        talk.client.cancel(session)
    talk.finish(flood)


def gone_client(world: World) -> None:
    """A client that leaves in the middle of whatever it is sent."""
    numbers = world.numbers
    reading = Reading(numbers.choice((0.0, 0.5)), 300, leaves_after=numbers.randint(300, 4_000))
    talk = Talk(world, Pipes(512, numbers.choice((128, 1_000))), reading)
    session = talk.client.new_session()
    for _ in range(2):
        talk.prompt(session, "run prints=60 size=60", talk.one_hang())
    talk.pause()
    talk.client.leave()
    talk.client.until_closed()


def full_gate(world: World) -> None:
    """A client that reads nothing and leaves while three wait at the gate: all are let go."""
    talk = Talk(world, Pipes(from_server=600), Reading(pause=900.0, most=400))
    session = talk.client.new_session()
    talk.prompt(session, "say 200", talk.one_hang())
    talk.pause()
    for method in ("no/such", "session/new"):
        talk.client.request(method, {"cwd": "/", "mcpServers": []})
    talk.pause()
    talk.client.leave()
    talk.client.until_closed()


def stalled_client(world: World) -> None:
    """A client that stops reading, and ends its input later: nothing may wait for it."""
    talk = Talk(world, Pipes(65_536, 600), Reading(pause=900.0, most=400))
    session = talk.client.new_session()
    talk.prompt(session, "say 200", talk.one_hang())
    talk.pause()
    # Those who wait at the gate then: a speaker, the responder, and who opens a session.
    for method in talk.numbers.sample(("session/new", "no/such", "session/new"), k=2):
        talk.client.request(method, {"cwd": "/", "mcpServers": []})
    talk.world.platform.sleep(40.0)
    talk.client.cancel(session)
    talk.pause()
    talk.client.end_input()
    talk.client.until_closed()


def end_in_turn(world: World) -> None:
    """The input ends while turns run and wait."""
    talk = Talk(world, _pipes(world.numbers))
    session = talk.client.new_session()
    for _ in range(world.numbers.randint(1, 3)):
        talk.prompt(session, *talk.hanging())
    talk.pause()
    if world.numbers.random() < 0.3:  # noqa: PLR2004
        talk.client.cancel(session)
    talk.client.end_input()
    talk.client.until_closed()


def signals(world: World) -> None:
    """SIGTERM while a turn runs, and perhaps a second one that takes its grace away."""
    talk = Talk(world, _pipes(world.numbers))
    session = talk.client.new_session()
    talk.prompt(session, *talk.hanging())
    talk.pause()
    world.server.signal(signal.SIGTERM)
    if world.numbers.random() < 0.5:  # noqa: PLR2004
        talk.pause()
        world.server.signal(signal.SIGINT)
    talk.client.until_closed()


def crashes(world: World) -> None:
    """A turn of all kinds of work, and one that is cancelled, while actors crash."""
    talk = Talk(world)
    talk.client.on_question = lambda _message: {"nonsense": 1}
    session = talk.client.new_session()
    work = ("ask", "call chunks=3", "run prints=2", "call chunks=2 pause=0.1", "ask", "work 0.6")
    request = talk.prompt(session, *world.numbers.sample(work, k=4))
    if world.numbers.random() < 0.5:  # noqa: PLR2004
        talk.client.answer(request)
    hanging = talk.prompt(session, talk.one_hang())
    talk.pause()
    talk.client.cancel(session)
    talk.finish(request, hanging)


def crashed_router(world: World) -> None:
    """Many prompts at once while the router crashes: they keep their order."""
    talk = Talk(world)
    session = talk.client.new_session()
    talk.finish(*(talk.prompt(session, "say 1") for _ in range(12)))


def questions(world: World) -> None:
    """Questions to the client that are answered late, twice, wrongly or never."""
    talk = Talk(world)
    talk.client.on_question = _moody(world)
    session = talk.client.new_session()
    requests = [talk.prompt(session, "say 1", "ask", "say 1") for _ in range(2)]
    talk.pause()
    talk.client.cancel(session)
    talk.finish(*requests)


def silences(world: World) -> None:
    """Streams whose next piece comes at the very moment at which they are given up."""
    talk = Talk(world)
    session = talk.client.new_session()
    for _ in range(2):
        pause = talk.numbers.choice((0.1, 0.5))
        patience = talk.numbers.choice((pause, pause, pause, 1.0))
        streams = [f"listen {patience} chunks=9 pause={pause}" for _ in range(3)]
        request = talk.prompt(session, *streams)
        if talk.numbers.random() < 0.3:  # noqa: PLR2004
            talk.pause()
            talk.client.cancel(session)
        talk.client.answer(request)
    talk.finish()


def used_ids(world: World) -> None:
    """A client that uses each id again at once, while answers are delivered by others."""
    talk = Talk(world)
    talk.client.uses_ids_again = True
    session = talk.client.new_session()
    for _ in range(4):
        talk.client.answer(talk.prompt(session, "say 1", *talk.numbers.choices(TASKS, k=1)))
    talk.finish()


def taken_ids(world: World) -> None:
    """A client that uses an id a second time while its request is in flight."""
    talk = Talk(world)
    talk.client.uses_ids_again = False
    session = talk.client.new_session()
    for _ in range(3):
        request = talk.prompt(session, *talk.some())
        talk.pause()
        talk.client.double(request)
        talk.client.answer(request)
    talk.finish()


def doubled_messages(world: World) -> None:
    """Messages between actors that arrive twice."""
    talk = Talk(world)
    session = talk.client.new_session()
    requests = [talk.prompt(session, *talk.some()) for _ in range(2)]
    requests += [talk.client.request("no/such", {}) for _ in range(3)]
    hanging = talk.prompt(session, talk.one_hang())
    talk.pause()
    talk.client.cancel(session)
    talk.finish(*requests, hanging)


def lost_messages(world: World) -> None:
    """Messages between actors that get lost; once they do no more, all is well again."""
    talk = Talk(world)
    session = talk.client.new_session()
    for tasks in (talk.some(), talk.hanging()):
        request = talk.prompt(session, *tasks)
        talk.pause()
        talk.client.cancel(session)
        talk.client.answer(request)
    world.platform.sleep(max(0.0, HEAL_S + 1 - world.platform.monotonic()))
    talk.finish()
    if "result" not in _answer_of_the_next(world):
        world.server.book.violated("healed", "a new server did not answer a prompt")


def _answer_of_the_next(world: World) -> Json:
    talk = Talk(world)
    request = talk.prompt(talk.client.new_session(), "say 1", "run prints=1")
    talk.finish(request)
    return talk.client.answer(request)


def _moody(world: World) -> Callable[[Json], Json | None]:
    allowed = {"outcome": {"outcome": "selected", "optionId": "yes"}}

    def answer(message: Json) -> Json | None:
        del message
        mood = world.numbers.choice(("silent", "slow", "confused", "quick"))
        if mood == "slow":
            world.platform.sleep(world.numbers.choice(DURATIONS_S))
        moods: dict[str, Json | None] = {"silent": None, "confused": {"nonsense": 1}}
        return moods.get(mood, allowed)

    return answer


def _pipes(numbers: random.Random) -> Pipes:
    return Pipes(numbers.choice(PIPE_SIZES), numbers.choice(PIPE_SIZES))


SCENARIOS = (
    Scenario("basic", "one prompt that streams, without faults", basic),
    Scenario("stream", "prompts one after another", stream, 3),
    Scenario("cancels", "cancels at any moment of turns that would never end", cancels, 3),
    Scenario("late-cancels", "cancels that race with the end of a turn", late_cancels, 3),
    Scenario("queue", "prompts that wait, and are cancelled together", queue, 3),
    Scenario("sessions", "two sessions at once", sessions, 3),
    Scenario("slow-client", "a client that reads slowly, and a flood", slow_client, 2),
    Scenario("gone-client", "a client that leaves in mid-turn", gone_client, 2),
    Scenario("stalled-client", "a client that stops reading and then ends", stalled_client, 2),
    Scenario("full-gate", "a client that leaves while some wait at the gate", full_gate),
    Scenario("end-in-turn", "the end of input while turns run", end_in_turn, 2),
    Scenario("signals", "one or two signals while a turn runs", signals, 2, codes=(143,)),
    Scenario("crashes", "crashes of actors in all kinds of work", crashes, 3, IN_ACTORS, calm=0.0),
    Scenario(
        "crashed-executors",
        "crashes of executors in all kinds of work",
        crashes,
        calm=0.0,
        draw=executor_crashes,
    ),
    Scenario(
        "crashed-router",
        "crashes of the router among many prompts",
        crashed_router,
        calm=0.0,
        draw=router_crashes,
    ),
    Scenario("questions", "questions answered late, twice, wrongly, never", questions, 3),
    Scenario("silences", "streams that are given up as they go on", silences, 3),
    Scenario("used-ids", "ids used again at once", used_ids, 2, ANSWERING, calm=0.2),
    Scenario("taken-ids", "an id used again while it is in flight", taken_ids, 2),
    Scenario("doubled", "messages that arrive twice", doubled_messages, calm=0.1, draw=doubled),
    Scenario(
        "lost", "messages that get lost", lost_messages, calm=0.1, codes=(0, 70), draw=dropped
    ),
)
