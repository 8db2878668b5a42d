"""What is owed and asked on one connection: one answer each, however many try."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from actors.connection import MAX_UNANSWERED, Connection
from actors.faults import NoFaults
from actors.gate import Gate, GateClosed
from actors.messages import AfterAnswers, Respond
from actors.responder import ResponderActor
from protocol.errors import InternalError, InvalidRequest
from tests.actors.stage import Stage
from tests.fakes import CrashAt, FakePlatform, InjectedError, Running

if TYPE_CHECKING:
    from actors.faults import Faults
    from protocol.jsonrpc import RequestId


class Mail:
    """Stands for the responder's address."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def tell(self, message: Any) -> None:
        self.told.append(message)


class Line:
    """A connection, its gate and its responder's mail."""

    def __init__(self, faults: Faults | None = None) -> None:
        platform = self.platform = FakePlatform()
        self.gate = Gate(platform, faults or NoFaults())
        self.mail = Mail()
        self.connection = Connection(platform, self.gate, self.mail)  # type: ignore[arg-type]


@pytest.fixture
def line() -> Line:
    return Line()


def test_of_all_who_race_to_answer_exactly_one_does(line: Line) -> None:
    connection = line.connection
    for request_id in range(200):
        connection.enter(request_id, request_id)
    start = threading.Barrier(4)

    def settle_all(value: int) -> None:
        start.wait()
        for request_id in range(200):
            connection.answer(request_id, value)

    threads = [threading.Thread(target=settle_all, args=(value,)) for value in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(respond.request_id for respond in line.mail.told) == list(range(200))


def test_an_id_in_flight_is_refused_and_free_again_once_its_answer_is_on_its_way(
    line: Line,
) -> None:
    connection = line.connection

    assert connection.enter("a", 1)
    assert not connection.enter("a", 2)
    assert connection.claim("a", "t1")
    assert not connection.claim("a", "t2")
    assert connection.settle("a")
    assert not connection.settle("a")
    assert not connection.enter("a", 3)
    connection.sent("a")

    assert connection.enter("a", 4)


def test_ids_of_different_types_are_different_requests(line: Line) -> None:
    ids: list[RequestId] = [1, "1", 1.0, None]

    assert [line.connection.enter(request_id, 0) for request_id in ids] == [True] * 4
    assert [line.connection.settle(request_id) for request_id in ids] == [True] * 4


def test_the_limit_of_unanswered_requests_counts_nameless_ones_and_wakes_the_reader(
    line: Line,
) -> None:
    connection, rings = line.connection, []
    connection.on_room(lambda: rings.append("ring"))
    for request_id in range(MAX_UNANSWERED - 1):
        connection.enter(request_id, 0)
    assert not connection.full()

    connection.answer_nameless(None, InvalidRequest("no request"))
    assert connection.full()
    connection.enter("one more", 0)
    connection.sent(None, nameless=True)
    assert connection.full()
    assert rings == []
    connection.sent("one more")

    assert not connection.full()
    assert rings == ["ring"]


def test_a_value_without_a_json_form_is_our_bug_and_still_an_answer(line: Line) -> None:
    line.connection.enter(1, 0)

    line.connection.answer(1, object())

    (respond,) = line.mail.told
    assert json.loads(respond.frame)["error"]["code"] == InternalError.code


def test_a_delivered_answer_frees_its_id_before_it_can_be_seen(line: Line) -> None:
    line.connection.enter(1, 0)
    line.connection.settle(1)
    free: list[bool] = []
    line.gate.on_ready(lambda: free.append(line.connection.enter(1, 1)))

    line.connection.deliver(1, b"{}\n")

    assert free == [True]
    assert bytes(line.gate.take()) == b"{}\n"


def test_an_answer_that_its_own_thread_can_not_deliver_goes_to_the_responder() -> None:
    line = Line(CrashAt("gate.put"))
    line.connection.enter(1, 0)
    line.connection.settle(1)

    with pytest.raises(InjectedError):
        line.connection.deliver(1, b"{}\n")

    assert line.mail.told == [Respond(1, b"{}\n", counted=True)]


def test_a_closed_gate_ends_the_debt(line: Line) -> None:
    line.connection.enter(1, 0)
    line.connection.settle(1)
    line.gate.close()

    with pytest.raises(GateClosed):
        line.connection.deliver(1, b"{}\n")

    assert line.mail.told == []
    assert not line.connection.settle(1)


def test_a_question_is_taken_once_and_dropped_with_its_owner(line: Line) -> None:
    connection = line.connection
    first, second, other = (connection.open_question(what, owner) for what, owner in QUESTIONS)

    assert connection.take_question(first) == "first"
    assert connection.take_question(first) is None
    assert connection.drop_questions("t1") == ["second"]

    assert connection.take_question(second) is None
    assert connection.take_question(other) == "other"
    assert connection.take_question("1") is None


QUESTIONS = [("first", "t1"), ("second", "t1"), ("other", "t2")]


@pytest.mark.parametrize("point", ["actor.receive", "actor.handled", "gate.put"])
@pytest.mark.parametrize("hit", [1, 2, 3])
def test_a_responder_that_crashes_loses_no_answer_and_keeps_their_order(
    point: str, hit: int
) -> None:
    faults = CrashAt(point, (hit,))
    stage = Stage(faults)
    gate = Gate(stage.platform, faults)
    address = stage.address("responder")
    connection = Connection(stage.platform, gate, address)
    done = threading.Event()
    for request_id in range(4):
        connection.enter(request_id, request_id)
        connection.answer(request_id, {})
    connection.answer_nameless(None, InvalidRequest("no request"))
    address.tell(AfterAnswers(done.set))

    address.bind(stage.start(lambda: ResponderActor(stage.system, address, connection)))
    assert isinstance(stage.end(), InjectedError)
    address.bind(stage.start(lambda: ResponderActor(stage.system, address, connection)))

    assert done.wait(20)
    answers = [json.loads(text) for text in bytes(gate.take()).splitlines()]
    assert [answer["id"] for answer in answers] == [0, 1, 2, 3, None]
    assert connection._owed.unanswered == 0
    stage.close()


class Clock(FakePlatform):
    """Tells these times, one after the other, and then the last one again and again."""

    def __init__(self, *times_s: float) -> None:
        super().__init__()
        self._times_s = list(times_s)

    def monotonic(self) -> float:
        return self._times_s.pop(0) if len(self._times_s) > 1 else self._times_s[0]


def test_the_end_waits_for_an_answer_that_is_being_made(line: Line) -> None:
    line.connection.enter(1, 1)
    waiting = Running(lambda: line.connection.wait_answered(1.0, 0.1, Clock(0, 0.5)))

    assert line.connection.settle(1)
    line.connection.sent(1)
    line.connection.pass_on(b"{}\n")

    waiting.result()


def test_the_end_does_not_wait_for_ever_for_an_answer_that_is_being_made(line: Line) -> None:
    line.connection.enter(1, 1)
    waiting = Running(lambda: line.connection.wait_answered(1.0, 0.1, Clock(0, 0.5, 1.1)))

    while waiting.is_running():
        line.platform.advance(0)


def test_the_end_waits_less_for_a_client_that_does_not_read(line: Line) -> None:
    line.connection.enter(1, 1)
    line.connection.enter(2, 2)
    assert line.connection.settle(1)
    line.connection.sent(1)  # and then its thread waits at the gate
    waiting = Running(lambda: line.connection.wait_answered(1.0, 0.1, Clock(0, 0.5, 0.65)))

    while waiting.is_running():
        line.platform.advance(0)
