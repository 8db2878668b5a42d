"""Scenarios of sessions that begin turns by themselves, beside prompts and cancels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from actors.simulation.conversations import Talk
from actors.simulation.probe import ProbeRuntime, ProbeTurn
from actors.simulation.scenario import IN_ACTORS, Scenario

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.opened_session import OpenedSession
    from actors.simulation.book import Book
    from actors.simulation.platform import SimPlatform
    from actors.simulation.world import World
    from protocol.acp.sessions import LoadSession, NewSession, ResumeSession

SOON_S = 60.0
"""By then all that ends by itself has ended, and each wish has come true."""
SHORT = "say 2; run takes=0.5 prints=2; say 1"
HANGS = "say 1; run takes=5000"


class ProbeOwnTurns:
    """The turns that a probe's session begins; see `actors.runtime.OwnTurns`."""

    def __init__(self, session_id: str, tasks: str, platform: SimPlatform, book: Book) -> None:
        """Each of them does ``tasks``."""
        self._session_id = session_id
        self._tasks = tasks
        self._platform = platform
        self._book = book
        self._wish: Callable[[], None] | None = None
        self._begun = 0
        self.wished = False
        """A wish has not come true yet."""

    def connect(self, wish: Callable[[], None]) -> None:
        """See `actors.runtime.OwnTurns.connect`."""
        self._wish = wish
        if self.wished:  # the client had its session before the router heard of it
            wish()

    def wish(self) -> None:
        """Wish for a turn, as a thread of the session's own would."""
        self.wished = True
        if self._wish is not None:
            self._wish()

    def begin(self) -> ProbeTurn:
        """See `actors.runtime.OwnTurns.begin`."""
        self.wished = False
        self._begun += 1
        if self._book.running:
            others = ", ".join(self._book.running)
            self._book.violated("order", f"a session's own turn began while {others} ran")
        tag = f"own{self._begun}"
        text = f"{tag}; {self._tasks}"
        return ProbeTurn(text, self._session_id, tag, self._platform, self._book)


class WakingRuntime(ProbeRuntime):
    """The probe, whose sessions have turns of their own."""

    def __init__(self, platform: SimPlatform, book: Book, tasks: str) -> None:
        """Serve in one world."""
        super().__init__(platform, book)
        self._tasks = tasks
        self.own: dict[str, ProbeOwnTurns] = {}

    def open_session(self, request: NewSession | ResumeSession | LoadSession) -> OpenedSession:
        """Open any session."""
        opened = super().open_session(request)
        own = ProbeOwnTurns(opened.session_id, self._tasks, self._platform, self._book)
        self.own[opened.session_id] = own
        return replace(opened, own_turns=own)


def wakes(world: World) -> None:
    """Wishes at any moment: they come true, and each prompt is answered by its own turn."""
    talk, session, own = _begun(world, SHORT)
    requests: list[int] = []
    for _ in range(talk.numbers.randint(1, 4)):
        if talk.numbers.random() < 0.6:  # noqa: PLR2004
            requests.append(talk.prompt(session, *talk.some()))
        talk.pause()
        for _ in range(talk.numbers.choice((0, 1, 1, 3))):
            own.wish()
    for request in requests:
        talk.client.answer(request)
    world.platform.sleep(SOON_S)
    _judge(world.server.book, own)
    talk.finish()


def cancelled_wakes(world: World) -> None:
    """Own turns that only a cancel ends, and prompts that wait behind them."""
    talk, session, own = _begun(world, HANGS)
    for _ in range(talk.numbers.randint(1, 3)):
        own.wish()
        talk.pause()
        request = talk.prompt(session, "say 1")
        talk.pause()
        talk.client.cancel(session)
        talk.client.answer(request)
    if talk.numbers.random() < 0.5:  # noqa: PLR2004 - the end comes while one runs
        own.wish()
        talk.pause()
    talk.finish()


def _begun(world: World, tasks: str) -> tuple[Talk, str, ProbeOwnTurns]:
    made: list[WakingRuntime] = []

    def make(platform: SimPlatform, book: Book) -> WakingRuntime:
        made.append(WakingRuntime(platform, book, tasks))
        return made[0]

    talk = Talk(world, make=make)
    session = talk.client.new_session()
    unopened = ProbeOwnTurns(session, tasks, world.platform, world.server.book)
    return talk, session, made[0].own.get(session, unopened)


def _judge(book: Book, own: ProbeOwnTurns) -> None:
    """Check what holds once all is quiet, unless the server has ended or lost its voice."""
    if book.ended_at is not None or book.faults_fired():
        return
    if own.wished:
        book.violated("wakes", "a session wished for a turn and never got it")
    for key, text in book.said.items():
        if key.startswith("own") and book.seen.get(key, "") != text:
            book.violated("text", f"{key} said {text!r}, the client saw {book.seen.get(key)!r}")


SCENARIOS = (
    Scenario("wakes", "sessions that begin turns by themselves, among prompts", wakes, 2),
    Scenario(
        "cancelled-wakes",
        "cancels of a session's own turns, with prompts behind them",
        cancelled_wakes,
        2,
        IN_ACTORS,
    ),
)
