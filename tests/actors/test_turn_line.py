"""Turns that a session begins by itself: their place in the line, and what ends them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.messages import CancelRead
from actors.opened_session import OpenedSession
from actors.switchboard import AllOver, Answer, Begin, Cancel, Connect, Switchboard
from protocol.handshake import AgentCapabilities
from protocol.jsonrpc import Request

if TYPE_CHECKING:
    from actors.runtime import TurnRule
    from actors.switchboard import Effect
    from actors.turn_line import Turn

CANCELLED = {"stopReason": "cancelled"}


class Talk:
    """A switchboard with open sessions and its reader."""

    def __init__(self, rule: TurnRule = "refuse", *sessions: str) -> None:
        self.answered: set[str] = set()
        """Turns whose answer the client may have, though nobody has told us that they are over."""
        self.board = Switchboard(rule, frozenset(), lambda turn_id: turn_id not in self.answered)
        self.board.advertised(AgentCapabilities())
        self.seq = 0
        for session in sessions or ("s1",):
            self.board.opened(OpenedSession(session, "/"))
            self.board.answered(session)

    def prompt(self, session: str = "s1") -> list[Effect]:
        self.seq += 1
        block = {"type": "text", "text": "do it"}
        params = {"sessionId": session, "prompt": [block]}
        return self.board.incoming(self.seq, Request(self.seq, "session/prompt", params))

    def cancel(self, session: str = "s1") -> list[Effect]:
        self.seq += 1
        return self.board.cancel(CancelRead(self.seq, session))

    def over(self, turn: Turn) -> list[Effect]:
        return self.board.turn_answered(turn.turn_id)


def begun(effects: list[Effect]) -> Turn:
    (begin,) = effects
    assert isinstance(begin, Begin)
    return begin.turn


def test_an_idle_session_gets_its_turn_at_once_and_owes_nobody() -> None:
    turn = begun(Talk().board.wished("s1"))

    assert (turn.session_id, turn.is_owed, turn.prompt) == ("s1", False, None)


def test_wishes_are_one_turn_until_it_begins_and_another_afterwards() -> None:
    talk = Talk()
    first = begun(talk.prompt())
    assert [talk.board.wished("s1") for _ in range(3)] == [[], [], []]

    own = begun(talk.over(first))
    assert talk.board.wished("s1") == []
    again = begun(talk.over(own))

    assert (own.is_owed, again.is_owed) == (False, False)
    assert talk.over(again) == []


def test_a_prompt_that_comes_while_an_own_turn_runs_waits_for_it_and_then_runs() -> None:
    talk = Talk("refuse")
    own = begun(talk.board.wished("s1"))

    assert talk.prompt() == []

    assert begun(talk.over(own)).request_id == talk.seq


def test_a_second_prompt_is_refused_also_while_the_first_waits_for_an_own_turn() -> None:
    talk = Talk("refuse")
    own = begun(talk.board.wished("s1"))
    talk.prompt()
    waiting = talk.seq

    (answer,) = talk.prompt()

    assert isinstance(answer, Answer)
    assert "still running a turn" in str(answer.value)
    assert begun(talk.over(own)).request_id == waiting


def test_a_client_that_has_its_answer_may_prompt_before_the_turn_is_known_to_be_over() -> None:
    talk = Talk("refuse")
    first = begun(talk.prompt())
    talk.answered.add(first.turn_id)

    assert talk.prompt() == []
    second = talk.seq
    (third,) = talk.prompt()
    assert isinstance(third, Answer)
    assert begun(talk.over(first)).request_id == second


def test_an_own_turn_goes_before_prompts_that_wait() -> None:
    talk = Talk("queue", "s1", "s2")
    first = begun(talk.prompt("s1"))
    talk.prompt("s2")
    talk.board.wished("s1")

    own = begun(talk.over(first))

    assert (own.session_id, own.is_owed) == ("s1", False)
    assert begun(talk.over(own)).session_id == "s2"


def test_a_cancel_ends_an_own_turn_and_the_prompt_behind_it() -> None:
    talk = Talk()
    own = begun(talk.board.wished("s1"))
    talk.prompt()
    waiting = talk.seq

    assert talk.cancel() == [Cancel(own), Answer(waiting, CANCELLED)]
    assert talk.over(own) == []


def test_a_prompt_read_after_the_cancel_of_an_own_turn_runs() -> None:
    talk = Talk()
    own = begun(talk.board.wished("s1"))
    talk.cancel()
    talk.prompt()

    assert begun(talk.over(own)).request_id == talk.seq


def test_a_cancel_takes_a_wish_away_and_no_later_one() -> None:
    talk = Talk()
    first = begun(talk.prompt())
    talk.board.wished("s1")

    assert talk.cancel() == [Cancel(first)]
    assert talk.over(first) == []

    assert begun(talk.board.wished("s1")).is_owed is False


@pytest.mark.parametrize("request_id", [None, 0, "t1"])
def test_no_cancel_of_a_request_means_an_own_turn(request_id: Any) -> None:
    talk = Talk()
    begun(talk.board.wished("s1"))

    assert talk.board.cancel(CancelRead(9, request_id=request_id, by_request=True)) == []


def test_the_end_cancels_an_own_turn_and_no_wish_comes_true_after_it() -> None:
    talk = Talk()
    own = begun(talk.board.wished("s1"))
    talk.board.wished("s1")

    assert talk.board.end(hard=False) == [Cancel(own, shutdown=True)]
    assert talk.board.wished("s1") == []
    assert talk.over(own) == [AllOver()]
    assert talk.board.wished("s1") == []


def test_a_session_that_is_unknown_or_not_open_yet_gets_no_turn() -> None:
    talk = Talk()
    opening = OpenedSession("s2", "/")
    talk.board.opened(opening)

    assert talk.board.wished("s3") == []
    assert talk.board.wished("s2") == []
    assert begun(talk.board.answered("s2")).session_id == "s2"


def test_a_session_with_own_turns_is_connected_when_it_is_opened() -> None:
    own: Any = object()

    effects = Talk().board.opened(OpenedSession("s2", "/", own_turns=own))

    assert effects == [Connect("s2", own)]


@given(st.lists(st.sampled_from(["prompt", "wish", "cancel", "over"]), max_size=40))
def test_one_turn_at_a_time_and_each_prompt_is_answered_or_begun(deeds: list[str]) -> None:
    talk = Talk("queue")
    line = talk.board.line
    effects: list[Effect] = []
    prompts: list[int] = []
    for deed in deeds:
        if deed == "prompt":
            effects += talk.prompt()
            prompts.append(talk.seq)
        elif deed == "wish":
            effects += talk.board.wished("s1")
        elif deed == "cancel":
            effects += talk.cancel()
        elif line.running:
            effects += talk.over(next(iter(line.running.values())))
        assert len(line.running) <= 1
    while line.running:
        effects += talk.over(next(iter(line.running.values())))

    turns = [effect.turn for effect in effects if isinstance(effect, Begin)]
    answered = [effect.request_id for effect in effects if isinstance(effect, Answer)]
    owed = [turn.request_id for turn in turns if turn.is_owed]
    assert sorted([*owed, *answered]) == prompts  # type: ignore[type-var]
    assert not line.waiting
