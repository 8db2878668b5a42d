"""Requests that outlive their turn, by values: kept, read, answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from actors.turn import AbortStep, CancelAsked, StepEnded, TurnStarted
from actors.work import StepEnd
from ops.model import GateStep
from ops.plan import Plan, PlannedStep
from ops.run_values import GateAnswered
from protocol.errors import InternalError
from runtimes.chant.at_gate import DurableGates
from runtimes.chant.items import PermissionAsked, RecordWritten, Remark
from runtimes.chant.op_turn import PREPARE, RECORD, OpTurn
from runtimes.chant.own_steps import GATE, MARK
from runtimes.chant.permission_turn import ANSWER, AnswerGiven, PermissionTurn
from runtimes.chant.permissions import (
    MAX_OPEN,
    OpenRequest,
    Permission,
    PermissionDesk,
    UnclearPermission,
    read_permission,
)
from runtimes.chant.verb_turn import SaidTurn
from runtimes.chant.verbs.run import RUN
from runtimes.chant.verbs.verb import Invocation
from tests.runtimes.chant.hosts import FakeTasks, PlayedHost, StillClock, phase, step

if TYPE_CHECKING:
    from runtimes.chant.permission_turn import Next

FACT = {"op": "release", "gate": "window", "env": "prod", "run_id": "r", "expires": "soon"}
LINE = Invocation(RUN, {"OP": ("release",)})


def plan() -> Plan:
    gate = PlannedStep("g", "Deploy", "gate", "gate:window", gate=GateStep("g", "window"))
    return Plan(
        "release",
        "prod",
        (phase("Build", [step("a", "Build")]), phase("Deploy", [gate, step("copy", "Deploy")])),
        (phase("Rollback", [step("back", "Rollback", compensates=True)]),),
    )


def gated(desk: PermissionDesk, *, strict: bool = False) -> tuple[PlayedHost, FakeTasks]:
    """Play a run up to a closed gate."""
    tasks = FakeTasks(plan())
    tasks.gate = GateAnswered("", "pending", FACT)
    asks = DurableGates(desk, "s", LINE, "t1", strict)
    host = PlayedHost(OpTurn(tasks, StillClock(), "t1", at_gate=asks)).start()
    host.perform(PREPARE)
    host.end("a")
    return host, tasks


def test_a_run_that_stops_at_a_gate_asks_last_of_all_and_waits() -> None:
    desk = PermissionDesk()
    host, _tasks = gated(desk)
    host.perform(f"{GATE}g")
    host.perform(RECORD)

    assert host.result is not None
    assert host.result.stop_reason == "waiting"
    told = host.result.meta["chant"]
    assert (told["state"], told["requestId"], told["exitCode"]) == ("waiting", "t1/permission", 3)
    assert isinstance(host.said[-2], RecordWritten)
    asked = host.said[-1]
    assert isinstance(asked, PermissionAsked)
    assert (asked.request_id, asked.title) == ("t1/permission", "Deploy / gate:window")
    assert desk.take("s", "t1/permission") == OpenRequest("t1/permission", "s", LINE, asked.fact)


def test_strict_stop_reasons_keep_to_the_closed_set() -> None:
    host, _tasks = gated(PermissionDesk(), strict=True)
    host.perform(f"{GATE}g")
    host.perform(RECORD)

    assert host.result is not None
    assert host.result.stop_reason == "end_turn"
    assert host.result.meta["chant"]["state"] == "waiting"


def test_a_run_that_was_cancelled_while_it_was_recorded_asks_nobody() -> None:
    desk = PermissionDesk()
    host, _tasks = gated(desk)
    host.perform(f"{GATE}g")
    host.cancel()
    host.perform(RECORD)

    assert host.result is not None
    assert host.result.stop_reason == "cancelled"
    assert len(desk) == 0


def test_a_run_that_goes_through_asks_nobody() -> None:
    desk = PermissionDesk()
    host, tasks = gated(desk)
    tasks.gate = GateAnswered("", "approved", {})
    host.perform(f"{GATE}g")
    host.end("copy")
    host.perform(RECORD)

    assert host.result is not None
    assert host.result.stop_reason == "end_turn"
    assert len(desk) == 0


def test_a_run_that_was_denied_only_cleans_up() -> None:
    tasks = FakeTasks(plan())
    denied = GateAnswered("g", "rejected", FACT, "the client rejected it")
    host = PlayedHost(OpTurn(tasks, StillClock(), "t1", denied=denied)).start()
    host.perform(PREPARE)
    host.perform(MARK)
    host.end("back")
    host.perform(RECORD)

    assert host.started == [PREPARE, MARK, "back", RECORD]
    (record,) = tasks.records
    assert (record["status"], record["compensation"]) == ("fail", "ok")
    statuses = {each["id"]: each["status"] for part in record["phases"] for each in part["steps"]}
    assert statuses == {"a": "skipped", "g": "fail", "copy": "skipped", "back": "ok"}
    assert record["failure"]["error"] == "gate 'window': the client rejected it"


def test_a_desk_keeps_requests_by_session_and_gives_each_out_once() -> None:
    desk = PermissionDesk()
    one, two = OpenRequest("1", "a", LINE, FACT), OpenRequest("1", "b", LINE, FACT)
    desk.open(one)
    desk.open(two)

    assert desk.take("a", "2") is None
    assert [desk.take("a", "1"), desk.take("a", "1")] == [one, None]
    desk.close_all("a")
    assert desk.take("b", "1") == two


def test_a_cancel_closes_a_sessions_requests_and_no_others() -> None:
    desk = PermissionDesk()
    for session, request in (("a", "1"), ("a", "2"), ("b", "1")):
        desk.open(OpenRequest(request, session, LINE, FACT))

    desk.close_all("a")

    assert (desk.take("a", "1"), len(desk)) == (None, 1)


def test_a_client_that_never_answers_costs_a_bounded_room() -> None:
    desk = PermissionDesk()
    for number in range(MAX_OPEN + 10):
        desk.open(OpenRequest(str(number), "a", LINE, FACT))

    assert len(desk) == MAX_OPEN
    assert desk.take("a", "9") is None
    assert desk.take("a", "10") is not None


@pytest.mark.parametrize("meta", [{}, {"chant": None}, {"chant": []}, {"chant": {}}, {"x": 1}])
def test_meta_that_says_nothing_of_a_request_is_passed_over(meta: Any) -> None:
    assert read_permission(meta) is None


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ({"requestId": "r", "optionId": "allow", "op": "x"}, Permission("r", "allow")),
        ({"requestId": "r", "optionId": "reject"}, Permission("r", "reject")),
        (None, UnclearPermission("_meta.chant.permission must be an object")),
        (
            {"requestId": 1, "optionId": "allow"},
            UnclearPermission("_meta.chant.permission.requestId must be a text"),
        ),
        (
            {"requestId": "r", "optionId": "allow_once"},
            UnclearPermission("_meta.chant.permission.optionId must be allow or reject"),
        ),
    ],
)
def test_only_a_clear_answer_is_one(said: Any, read: Any) -> None:
    assert read_permission({"chant": {"permission": said}}) == read


def answering(then: Next, *, made: list[AnswerGiven] | None = None) -> PlayedHost:
    """Play a turn whose answer has been recorded, with another turn to follow."""

    def follow(given: AnswerGiven) -> SaidTurn:
        if made is not None:
            made.append(given)
        return SaidTurn("inner", "end_turn", "k")

    turn = PermissionTurn(lambda _: AnswerGiven("told", then), follow, "k")
    return PlayedHost(turn).start()


def texts(host: PlayedHost) -> list[str]:
    return [item.text for item in host.said if isinstance(item, Remark)]


@pytest.mark.parametrize("then", ["run", "clean_up"])
def test_what_follows_an_answer_is_a_turn_of_its_own(then: Next) -> None:
    made: list[AnswerGiven] = []
    host = answering(then, made=made)
    host.perform(ANSWER)

    assert made == [AnswerGiven("told", then)]
    assert texts(host) == ["told\n", "inner\n"]
    assert host.result is not None
    assert host.result.stop_reason == "end_turn"


@pytest.mark.parametrize(("then", "reason"), [("refuse", "refusal"), ("end", "end_turn")])
def test_an_answer_that_nothing_follows_ends_the_turn(then: Next, reason: str) -> None:
    made: list[AnswerGiven] = []
    host = answering(then, made=made)
    host.perform(ANSWER)

    assert (made, texts(host)) == ([], ["told\n"])
    assert host.result is not None
    assert host.result.stop_reason == reason


def test_a_cancel_while_the_answer_is_recorded_runs_nothing_and_says_what_was_done() -> None:
    made: list[AnswerGiven] = []
    host = answering("run", made=made)
    host.hear(CancelAsked("client"))
    host.hear(CancelAsked("client"))
    host.perform(ANSWER)

    assert host.effects.count(AbortStep(ANSWER)) == 1
    assert (made, texts(host)) == ([], ["told\n"])
    assert host.result is not None
    assert host.result.stop_reason == "cancelled"


def test_a_cancel_that_came_first_leaves_nothing_to_say() -> None:
    host = answering("run")
    host.hear(CancelAsked("client"))
    host.hear(StepEnded(StepEnd(ANSWER, "cancelled")))

    assert host.result is not None
    assert (host.result.stop_reason, host.said) == ("cancelled", [])


def test_a_bug_while_answering_is_an_error_without_details() -> None:
    host = answering("run")
    host.end(ANSWER, "failed", None)
    late = answering("run")
    late.fail()

    for each in (host, late):
        assert each.result is not None
        assert isinstance(each.result.error, InternalError)
    late.hear(TurnStarted())


class LateCancel(str):
    """A request's id that has its session cancelled, once, as soon as it is looked up again."""

    __slots__ = ("desk", "looks")
    desk: PermissionDesk
    looks: int

    def __hash__(self) -> int:
        self.looks -= 1
        if not self.looks:
            self.desk.close_all("a")
        return super().__hash__()


def test_a_cancel_that_comes_while_the_oldest_request_is_dropped_is_no_error() -> None:
    desk, oldest = PermissionDesk(), LateCancel("0")
    oldest.desk, oldest.looks = desk, 2
    desk.open(OpenRequest(oldest, "a", LINE, FACT))
    for number in range(1, MAX_OPEN + 1):
        desk.open(OpenRequest(str(number), "a", LINE, FACT))

    assert len(desk) == 0
