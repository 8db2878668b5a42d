"""A runtime that keeps something beyond a turn hears of a cancel also when no turn runs."""

from __future__ import annotations

from actors.messages import CancelRead
from actors.opened_session import OpenedSession
from actors.switchboard import Switchboard, TellCancelled


def board() -> tuple[Switchboard, list[str]]:
    """Return a board with sessions a (whose runtime listens) and b, and what was heard."""
    heard: list[str] = []
    made = Switchboard("queue", frozenset())
    made.opened(OpenedSession("a", "/", on_cancel=lambda: heard.append("a")))
    made.opened(OpenedSession("b", "/"))
    return made, heard


def test_a_cancel_of_a_session_without_a_turn_is_told() -> None:
    made, heard = board()

    (told,) = made.cancel(CancelRead(1, session_id="a"))

    assert isinstance(told, TellCancelled)
    told.heard()
    assert heard == ["a"]


def test_other_cancels_are_not_told() -> None:
    made, _heard = board()

    assert made.cancel(CancelRead(1, session_id="b")) == []
    assert made.cancel(CancelRead(2, session_id="c")) == []
    assert made.cancel(CancelRead(3, request_id="a", by_request=True)) == []
