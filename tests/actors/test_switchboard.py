"""The switchboard: what each message means, by the order of reading and not of arrival."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.messages import CancelRead
from actors.opened_session import OpenedSession
from actors.switchboard import (
    MAX_EARLY_CANCELS,
    MAX_QUEUED_TURNS,
    AllOver,
    Answer,
    Begin,
    Cancel,
    GiveAnswer,
    Initialize,
    Open,
    Switchboard,
)
from protocol.errors import InternalError, ProtocolError
from protocol.handshake import AgentCapabilities
from protocol.jsonrpc import Failure, Notification, Request, Result

if TYPE_CHECKING:
    from actors.runtime import TurnRule
    from actors.switchboard import Effect
    from actors.turn_line import Turn

METHODS = frozenset({"session/load", "session/resume"})
CANCELLED = {"stopReason": "cancelled"}


class Talk:
    """A switchboard and whoever reads for it: each message gets the next place in the order."""

    def __init__(self, rule: TurnRule = "queue", *sessions: str) -> None:
        self.board = Switchboard(rule, METHODS)
        self.seq = 0
        self.last_id = 0
        self.board.advertised(AgentCapabilities(load_session=True, resume=True))
        for session in sessions:
            self.open(session)

    def next(self) -> int:
        self.seq += 1
        return self.seq

    def request(self, method: str, **params: Any) -> Request:
        self.last_id += 1
        return Request(self.last_id, method, params)

    def send(self, method: str, **params: Any) -> list[Effect]:
        return self.board.incoming(self.next(), self.request(method, **params))

    def prompt(self, session: str) -> list[Effect]:
        return self.board.incoming(self.next(), self.prompt_request(session))

    def prompt_request(self, session: str, text: str = "do it") -> Request:
        block = {"type": "text", "text": text}
        return self.request("session/prompt", sessionId=session, prompt=[block])

    def load(self, session: str) -> list[Effect]:
        return self.send("session/load", sessionId=session, cwd="/", mcpServers=[])

    def open(self, session: str) -> None:
        self.load(session)
        self.opened(session)
        self.board.answered(session)

    def opened(self, session: str) -> None:
        self.board.opened(OpenedSession(session, "/"))

    def cancel(self, session: str) -> list[Effect]:
        return self.board.cancel(CancelRead(self.next(), session))


def _turn(effects: list[Effect]) -> Turn:
    (begin,) = effects
    assert isinstance(begin, Begin)
    return begin.turn


def _error(effects: list[Effect]) -> ProtocolError:
    (answer,) = effects
    assert isinstance(answer, Answer)
    assert isinstance(answer.value, ProtocolError)
    return answer.value


def _answers(effects: list[Effect]) -> list[Any]:
    return [effect.request_id for effect in effects if isinstance(effect, Answer)]


# --- decision 1: the order of checks; decision 10: initialize


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("session/prompt", {}, -32600),
        ("no/such", {}, -32600),
        ("initialize", {"protocolVersion": "1"}, -32602),
    ],
)
def test_before_initialize_only_initialize_is_served(
    method: str, params: dict[str, Any], code: int
) -> None:
    board = Switchboard("queue", METHODS)

    assert _error(board.incoming(1, Request(1, method, params))).code == code


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("no/such", {}, -32601),
        ("session/list", {}, -32601),
        ("session/prompt", {}, -32602),
        ("session/prompt", {"sessionId": "unknown", "prompt": 7}, -32002),
        ("session/prompt", {"sessionId": "s1", "prompt": []}, -32602),
        ("session/prompt", {"sessionId": "s1", "prompt": [{"type": "audio"}]}, -32602),
        ("session/new", {"cwd": "here"}, -32602),
        ("session/load", {"cwd": "/"}, -32602),
    ],
)
def test_what_is_wrong_is_said_in_the_order_that_was_decided(
    method: str, params: dict[str, Any], code: int
) -> None:
    error = _error(Talk("queue", "s1").send(method, **params))

    assert error.code == code
    if code == -32002:
        assert error.data == {"sessionId": "unknown"}


def test_methods_that_the_runtime_does_not_serve_are_unknown() -> None:
    board = Switchboard("queue", frozenset())
    board.advertised(AgentCapabilities())

    effects = board.incoming(1, Request(1, "session/load", {"sessionId": "s", "cwd": "/"}))

    assert _error(effects).code == -32601


def test_initialize_may_come_again() -> None:
    talk = Talk("queue", "s1")

    (effect,) = talk.send("initialize", protocolVersion=7)

    assert isinstance(effect, Initialize)
    assert effect.params.protocol_version == 7


# --- decision 3: the order of turns


def test_prompts_run_one_after_the_other_in_order_across_sessions() -> None:
    talk = Talk("queue", "s1", "s2")
    first = _turn(talk.prompt("s1"))
    assert talk.prompt("s2") == []
    assert talk.prompt("s1") == []

    second = _turn(talk.board.turn_answered(first.turn_id))
    assert talk.board.turn_answered(first.turn_id) == []
    third = _turn(talk.board.turn_answered(second.turn_id))

    assert [turn.session_id for turn in (first, second, third)] == ["s1", "s2", "s1"]
    assert talk.board.turn_answered(third.turn_id) == []


def test_sixty_four_prompts_may_wait_and_no_more() -> None:
    talk = Talk("queue", "s1")
    first = _turn(talk.prompt("s1"))
    for _ in range(MAX_QUEUED_TURNS):
        assert talk.prompt("s1") == []

    error = _error(talk.prompt("s1"))

    assert error.code == -32600
    assert "64" in str(error)
    _turn(talk.board.turn_answered(first.turn_id))
    assert talk.prompt("s1") == []


def test_under_the_refuse_rule_a_second_prompt_is_refused_and_the_first_unharmed() -> None:
    talk = Talk("refuse", "s1")
    first = _turn(talk.prompt("s1"))

    error = _error(talk.prompt("s1"))

    assert error.code == -32600
    assert "running" in str(error)
    assert list(talk.board.line.running) == [first.turn_id]
    talk.board.turn_answered(first.turn_id)
    _turn(talk.prompt("s1"))


def test_a_cancel_ends_the_running_turn_and_answers_what_waits_in_that_session() -> None:
    talk = Talk("queue", "s1", "s2")
    first = _turn(talk.prompt("s1"))
    talk.prompt("s1")
    waiting = talk.last_id
    talk.prompt("s2")

    effects = talk.cancel("s1")

    assert effects == [Cancel(first), Answer(waiting, CANCELLED)]
    assert _turn(talk.board.turn_answered(first.turn_id)).session_id == "s2"


def test_a_cancel_while_nothing_runs_harms_nothing() -> None:
    """P08."""
    talk = Talk("queue", "s1")

    assert talk.cancel("s1") == []
    assert talk.cancel("s1") == []

    _turn(talk.prompt("s1"))


def test_a_cancel_after_the_end_of_its_turn_does_not_hit_the_next() -> None:
    talk = Talk("queue", "s1")
    first = _turn(talk.prompt("s1"))
    late = CancelRead(talk.next(), "s1")
    second_read = talk.next(), talk.prompt_request("s1")
    talk.board.turn_answered(first.turn_id)

    second = _turn(talk.board.incoming(*second_read))

    assert talk.board.cancel(late) == []
    assert second.turn_id in talk.board.line.running


def test_a_cancel_for_an_unknown_session_is_passed_over() -> None:
    """S08."""
    assert Talk("queue", "s1").cancel("s7") == []


# --- cancels that overtake


def test_a_cancel_that_overtook_its_prompt_still_hits_it() -> None:
    """P09."""
    talk = Talk("queue", "s1")
    prompt = talk.next(), talk.prompt_request("s1")

    assert talk.cancel("s1") == []
    effects = talk.board.incoming(*prompt)

    assert effects == [Answer(talk.last_id, CANCELLED)]
    assert talk.board.line.running == {}


def test_a_cancel_then_a_prompt_does_not_cancel_the_prompt() -> None:
    """J24."""
    talk = Talk("queue", "s1")

    talk.cancel("s1")

    _turn(talk.prompt("s1"))


@pytest.mark.parametrize("cancel_comes", range(4))
def test_resume_prompt_and_cancel_in_one_write_end_cancelled(cancel_comes: int) -> None:
    talk = Talk("queue")
    params = {"sessionId": "s1", "cwd": "/", "mcpServers": []}
    resume = talk.next(), talk.request("session/resume", **params)
    prompt = talk.next(), talk.prompt_request("s1")
    cancel = CancelRead(talk.next(), "s1")
    steps: list[Any] = [
        lambda: talk.board.incoming(*resume),
        lambda: talk.board.incoming(*prompt),
        lambda: _tell_opened(talk, "s1"),
    ]
    steps.insert(cancel_comes, lambda: talk.board.cancel(cancel))

    effects = [effect for step in steps for effect in step()]

    begun = [effect.turn for effect in effects if isinstance(effect, Begin)]
    cancelled = [effect.turn for effect in effects if isinstance(effect, Cancel)]
    answered = [effect for effect in effects if isinstance(effect, Answer)]
    assert begun == cancelled
    assert answered == ([] if begun else [Answer(prompt[1].id, CANCELLED)])


def _tell_opened(talk: Talk, session: str) -> list[Effect]:
    talk.opened(session)
    return talk.board.answered(session)


def test_cancels_for_sessions_that_never_come_are_forgotten_some_day() -> None:
    talk = Talk("queue")
    for number in range(3 * MAX_EARLY_CANCELS):
        talk.cancel(f"never {number}")

    assert len(talk.board._early) == MAX_EARLY_CANCELS


# --- decision 11: $/cancel_request, session/cancel with an id


def test_cancel_request_ends_that_prompt_only() -> None:
    """J25."""
    talk = Talk("queue", "s1")
    first = _turn(talk.prompt("s1"))
    first_id = talk.last_id
    talk.prompt("s1")
    second_id = talk.last_id

    waiting = talk.board.cancel(CancelRead(talk.next(), request_id=second_id, by_request=True))
    running = talk.board.cancel(CancelRead(talk.next(), request_id=first_id, by_request=True))

    assert waiting == [Answer(second_id, CANCELLED)]
    assert running == [Cancel(first)]


@pytest.mark.parametrize("request_id", [None, "1", 1.0, 99])
def test_cancel_request_for_anything_else_is_passed_over(request_id: Any) -> None:
    talk = Talk("queue", "s1")
    talk.last_id = 0
    turn = _turn(talk.prompt("s1"))
    assert turn.request_id == 1

    read = CancelRead(talk.next(), request_id=request_id, by_request=True)

    assert talk.board.cancel(read) == []


def test_a_cancel_request_that_overtook_its_prompt_still_hits_it_but_not_a_later_one() -> None:
    talk = Talk("queue", "s1")
    prompt = talk.next(), talk.prompt_request("s1")
    talk.board.cancel(CancelRead(talk.next(), request_id=prompt[1].id, by_request=True))

    assert talk.board.incoming(*prompt) == [Answer(prompt[1].id, CANCELLED)]
    again = talk.next(), prompt[1]

    _turn(talk.board.incoming(*again))


def test_session_cancel_as_a_request_is_answered() -> None:
    talk = Talk("queue", "s1")

    assert talk.send("session/cancel", sessionId="s1") == [Answer(talk.last_id, {})]


# --- sessions


def test_new_sessions_are_opened_while_a_turn_runs() -> None:
    """J23."""
    talk = Talk("queue", "s1")
    _turn(talk.prompt("s1"))

    (effect,) = talk.send("session/new", cwd="/tmp", mcpServers=[])

    assert isinstance(effect, Open)


def test_under_the_refuse_rule_sessions_are_opened_as_they_were_read() -> None:
    talk = Talk("refuse")
    asked = [talk.send("session/new", cwd="/", mcpServers=[]) for _ in range(2)]
    asked.append(talk.load("mine"))
    (first,), *held = asked
    error = InternalError()

    assert isinstance(first, Open)
    assert held == [[], []]
    answer, second = talk.board.refused(first.request_id, None, error)
    assert answer == Answer(1, error)
    assert isinstance(second, Open)
    (third,) = talk.board.opened(OpenedSession("made", "/"))
    assert isinstance(third, Open)
    assert [each.request_id for each in (second, third)] == [2, 3]
    assert talk.board.refused(3, "mine", error) == [Answer(3, error)]
    assert [type(each) for each in talk.load("mine")] == [Open]


def test_turns_wait_until_the_client_was_told_of_their_session() -> None:
    talk = Talk("queue")
    talk.load("s1")
    assert talk.prompt("s1") == []
    talk.opened("s1")

    assert _turn(talk.board.answered("s1")).session_id == "s1"


def test_what_waited_for_a_session_that_is_refused_is_refused_too() -> None:
    talk = Talk("queue", "s2")
    (opening,) = talk.load("s1")
    assert isinstance(opening, Open)
    talk.prompt("s1")
    waiting = talk.last_id
    talk.prompt("s2")

    refused, lost, begin = talk.board.refused(opening.request_id, "s1", InternalError())

    assert isinstance(refused, Answer)
    assert refused.request_id == opening.request_id
    assert isinstance(lost, Answer)
    assert lost.request_id == waiting
    assert lost.value.code == -32002
    assert _turn([begin]).session_id == "s2"
    assert _error(talk.prompt("s1")).code == -32002


def test_a_failed_load_of_an_open_session_leaves_it_as_it_was() -> None:
    talk = Talk("queue", "s1")
    (opening,) = talk.load("s1")
    assert isinstance(opening, Open)
    assert talk.prompt("s1") == []

    refused, begin = talk.board.refused(opening.request_id, "s1", InternalError())

    assert isinstance(refused, Answer)
    assert _turn([begin]).session_id == "s1"


def test_of_two_loads_of_a_session_one_may_fail() -> None:
    talk = Talk("queue")
    (first,) = talk.load("s1")
    (second,) = talk.load("s1")
    assert isinstance(first, Open)
    talk.prompt("s1")

    assert len(talk.board.refused(first.request_id, "s1", InternalError())) == 1
    talk.opened("s1")

    assert _turn(talk.board.answered("s1")).session_id == "s1"
    assert isinstance(second, Open)


def test_a_cancel_that_frees_the_head_of_the_queue_lets_the_next_start() -> None:
    talk = Talk("queue", "s2")
    talk.load("s1")
    talk.prompt("s1")
    talk.prompt("s2")

    answer, begin = talk.cancel("s1")

    assert isinstance(answer, Answer)
    assert _turn([begin]).session_id == "s2"


# --- answers of the client, the end


def test_answers_go_to_whoever_asked_and_notifications_nowhere() -> None:
    board = Talk("queue", "s1").board
    failure = Failure(2, -32000, "no")

    assert board.incoming(1, Result(1, "yes")) == [GiveAnswer(1, "yes", failed=False)]
    assert board.incoming(2, failure) == [GiveAnswer(2, failure, failed=True)]
    assert board.incoming(3, Notification("something/else", {})) == []


def test_the_end_cancels_everything_and_is_over_when_the_last_turn_is() -> None:
    talk = Talk("queue", "s1")
    turn = _turn(talk.prompt("s1"))
    talk.prompt("s1")
    waiting = talk.last_id

    assert talk.board.end(hard=False) == [
        Answer(waiting, CANCELLED),
        Cancel(turn, shutdown=True),
    ]
    assert _error(talk.prompt("s1")).code == -32600
    assert talk.cancel("s1") == [Cancel(turn)]
    assert talk.board.end(hard=True) == [Cancel(turn, hard=True, shutdown=True)]
    assert talk.board.turn_answered(turn.turn_id) == [AllOver()]


def test_the_end_of_an_idle_board_is_over_at_once() -> None:
    assert Talk("queue", "s1").board.end(hard=False) == [AllOver()]


# --- whatever happens, in whatever order it gets here

_DEEDS = st.lists(
    st.tuples(
        st.sampled_from(["prompt", "cancel", "cancel request", "answered", "load", "fail", "end"]),
        st.sampled_from(["s1", "s2", "s3"]),
    ),
    max_size=60,
)


@settings(max_examples=200, deadline=None)
@given(deeds=_DEEDS, ahead=st.lists(st.integers(0, 5), min_size=60, max_size=60))
def test_each_prompt_gets_one_answer_or_one_turn_whatever_overtakes_what(
    deeds: list[tuple[str, str]], ahead: list[int]
) -> None:
    talk = Talk("queue", "s1", "s2")
    prompts: list[Any] = []
    opening: list[Open] = []
    effects: list[Effect] = []
    late: list[Any] = []

    def do(step: Any) -> None:
        new = step()
        opening.extend(effect for effect in new if isinstance(effect, Open))
        effects.extend(new)

    for (deed, session), lead in zip(deeds, ahead, strict=False):
        match deed:
            case "prompt":
                read = talk.next(), talk.prompt_request(session)
                prompts.append(read[1].id)
                late.append(lambda read=read: talk.board.incoming(*read))
            case "load":
                params = {"sessionId": session, "cwd": "/", "mcpServers": []}
                read = talk.next(), talk.request("session/load", **params)
                late.append(lambda read=read: talk.board.incoming(*read))
            case "cancel":
                do(lambda session=session: talk.cancel(session))
            case "cancel request":
                wanted = prompts[-1] if prompts else 0
                cancel = CancelRead(talk.next(), request_id=wanted, by_request=True)
                do(lambda cancel=cancel: talk.board.cancel(cancel))
            case "answered" if talk.board.line.running:
                turn_id = next(iter(talk.board.line.running))
                do(lambda turn_id=turn_id: talk.board.turn_answered(turn_id))
            case "fail" if opening:
                do(lambda: _refuse(talk, opening.pop(0)))
            case "end":
                do(lambda: talk.board.end(hard=False))
            case _:
                pass
        while len(late) > lead:
            do(late.pop(0))
    while late:
        do(late.pop(0))
    while opening or talk.board.line.running:
        if opening:
            do(lambda: _let_in(talk, opening.pop(0)))
        for turn_id in tuple(talk.board.line.running):
            do(lambda turn_id=turn_id: talk.board.turn_answered(turn_id))

    begun = [effect.turn.request_id for effect in effects if isinstance(effect, Begin)]
    answered = [request_id for request_id in _answers(effects) if request_id in prompts]
    assert Counter(begun + answered) == Counter(prompts)
    seqs = [effect.turn.seq for effect in effects if isinstance(effect, Begin)]
    assert seqs == sorted(seqs)
    assert not talk.board.line.waiting


def _refuse(talk: Talk, order: Open) -> list[Effect]:
    session: Any = order.wanted
    return talk.board.refused(order.request_id, session.session_id, InternalError())


def _let_in(talk: Talk, order: Open) -> list[Effect]:
    session: Any = order.wanted
    return _tell_opened(talk, session.session_id)
