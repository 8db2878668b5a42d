"""When a session begins a turn by itself: what there must be to tell, and how often in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.turn import EndTurn, TurnResult, TurnStarted
from runtimes.models.base import Text
from runtimes.radian.wakes import MOST_IN_A_ROW, Wakes

if TYPE_CHECKING:
    from collections.abc import Callable


class FakeJobs:
    """A job ends whenever the test says so."""

    def __init__(self) -> None:
        self.untold = False
        self.ended: Callable[[], None] = lambda: None

    def end(self) -> None:
        self.untold = True
        self.ended()

    def has_untold_ends(self) -> bool:
        return self.untold


class FakeSession:
    """Makes turns that are told at once, and keeps how they were made."""

    def __init__(self) -> None:
        self.jobs = FakeJobs()
        self.desk = self
        self.last_turn = 0
        self.made: list[tuple[Any, ...]] = []

    def turn(self, content: Any, origin: str = "prompt", notices: Any = ()) -> str:
        self.last_turn += 1
        self.jobs.untold = False
        self.made.append((content, origin, len(notices)))
        return f"turn {self.last_turn}"


def scene() -> tuple[FakeSession, Any]:
    session = FakeSession()
    made: Any = Wakes(session)  # type: ignore[arg-type]
    return session, made


def test_the_end_of_a_job_is_a_wish_for_a_turn_that_asks_nothing() -> None:
    session, wakes = scene()
    wishes: list[str] = []
    wakes.connect(lambda: wishes.append("wish"))

    session.jobs.end()

    assert wishes == ["wish"]
    assert wakes.begin() == "turn 1"
    assert session.made == [((), "wake", 0)]


def test_where_all_was_told_meanwhile_the_turn_is_over_as_it_begins() -> None:
    session, wakes = scene()

    machine = wakes.begin()

    assert machine.handle(TurnStarted()) == [EndTurn(TurnResult())]
    assert (session.last_turn, wakes.next_turn()) == (0, None)


def test_a_session_wakes_itself_so_often_in_a_row_says_so_and_waits_for_a_prompt() -> None:
    session, wakes = scene()
    for _ in range(MOST_IN_A_ROW + 5):
        session.jobs.end()
        wakes.next_turn()
    assert len(session.made) == MOST_IN_A_ROW
    assert [notices for *_, notices in session.made] == [0] * (MOST_IN_A_ROW - 1) + [1]

    session.turn((Text("go on"),))
    session.jobs.end()

    assert wakes.next_turn() is not None


def test_each_prompt_starts_the_count_again() -> None:
    session, wakes = scene()
    for _ in range(3):
        for _ in range(MOST_IN_A_ROW - 1):
            session.jobs.end()
            wakes.next_turn()
        session.turn((Text("go on"),))

    session.jobs.end()

    assert wakes.next_turn() is not None
