"""A run as a turn: prepare, announce, run, record, answer, whatever comes in between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.turn import AbortStep, StartStep, StepEnded
from actors.work import ProcessWork, StepEnd
from ops.events import StepOutput, StepSettled
from ops.model import GateStep
from ops.plan import Plan, PlannedStep
from ops.run_values import GateAnswered
from protocol.acp.updates import AgentMessageChunk, ToolCall, ToolCallUpdate
from runtimes.chant.items import PlanAnnounced, RecordWritten, Refusal, Remark
from runtimes.chant.op_turn import PREPARE, RECORD, WITHDRAW, OpTurn
from runtimes.chant.own_steps import GATE, MARK
from runtimes.chant.run_tasks import RunOutcome, RunRefused
from runtimes.chant.updates import updates_of
from tests.runtimes.chant.hosts import (
    RUN_ID,
    FakeTasks,
    PlayedHost,
    StillClock,
    phase,
    step,
    two_phases,
)

if TYPE_CHECKING:
    from actors.turn import CancelReason

OURS = {PREPARE, WITHDRAW, RECORD, MARK}


def begun(tasks: FakeTasks) -> PlayedHost:
    host = PlayedHost(OpTurn(tasks, StillClock(), "t1")).start()
    host.perform(PREPARE)
    return host


def statuses(record: Any) -> dict[str, str]:
    return {each["id"]: each["status"] for part in record["phases"] for each in part["steps"]}


def test_the_plan_is_announced_before_the_first_step_starts() -> None:
    host = begun(FakeTasks(two_phases()))

    plan_at = next(i for i, each in enumerate(host.effects) if PlanAnnounced in kinds(each))
    start_at = next(i for i, each in enumerate(host.effects) if is_start(each, "pack"))
    assert plan_at < start_at


def kinds(effect: Any) -> set[type]:
    return {type(item) for item in getattr(effect, "items", ())}


def is_start(effect: Any, step_id: str) -> bool:
    return isinstance(effect, StartStep) and effect.step_id == step_id


def test_a_run_that_goes_well_ends_with_its_record() -> None:
    tasks = FakeTasks(two_phases())
    host = begun(tasks)
    for step_id in ("pack", "test", "copy"):
        host.end(step_id)
    host.perform(RECORD)

    assert host.result is not None
    assert host.result.stop_reason == "end_turn"
    assert host.result.meta == {"chant": {"runId": RUN_ID, "status": "ok", "exitCode": 0}}
    assert isinstance(host.said[-1], RecordWritten)
    assert [record["status"] for record in tasks.records] == ["ok"]
    assert not tasks.marked


def test_a_failed_step_runs_on_failure_and_the_turn_ends_normally() -> None:
    tasks = FakeTasks(two_phases())
    host = begun(tasks)
    host.end("pack", code=3)
    assert MARK in host.running
    assert "back" not in host.running, "clean-up began before it was noted"
    host.perform(MARK)
    host.end("back")
    host.perform(RECORD)

    assert host.result is not None
    assert host.result.stop_reason == "end_turn"
    assert isinstance(host.result.value, RunOutcome)
    assert host.result.value.code == 1
    assert statuses(tasks.records[0]) == {
        "pack": "fail",
        "test": "skipped",
        "copy": "skipped",
        "back": "ok",
    }


@pytest.mark.parametrize("reason", ["client", "shutdown"])
def test_a_cancel_stops_the_step_cleans_up_and_answers_cancelled(reason: CancelReason) -> None:
    tasks = FakeTasks(two_phases())
    host = begun(tasks)
    host.cancel(reason)
    assert AbortStep("pack") in host.effects
    host.end("pack")
    host.perform(MARK)
    host.end("back")
    host.perform(RECORD)

    assert host.result is not None
    assert host.result.stop_reason == "cancelled"
    assert tasks.records[0]["status"] == "cancelled"
    assert tasks.records[0]["compensation"] == "ok"


def test_a_hard_stop_cleans_nothing_up_and_says_so() -> None:
    tasks = FakeTasks(two_phases())
    host = begun(tasks)
    host.cancel("hard_stop")
    host.end("pack")
    host.perform(RECORD)

    assert "back" not in host.started
    remarks = [item.text for item in host.said if isinstance(item, Remark)]
    assert remarks == ["clean-up was cut short; not run: Rollback\n"]
    assert tasks.records[0]["not_run"] == ["Rollback"]


def test_a_cancel_before_the_start_does_nothing_at_all() -> None:
    tasks = FakeTasks(two_phases())
    host = PlayedHost(OpTurn(tasks, StillClock(), "t1"))
    host.cancel()
    host.start()

    assert host.result is not None
    assert host.result.stop_reason == "cancelled"
    assert host.started == []


def test_a_cancel_while_preparing_leaves_nothing_behind() -> None:
    tasks = FakeTasks(two_phases())
    host = PlayedHost(OpTurn(tasks, StillClock(), "t1")).start()
    host.cancel()
    host.cancel()
    assert host.effects.count(AbortStep(PREPARE)) == 1
    host.perform(PREPARE)

    assert host.result is not None
    assert host.result.stop_reason == "cancelled"
    assert (tasks.marked, tasks.records, host.said) == (False, [], [])


def test_a_run_that_was_marked_before_the_cancel_was_seen_is_withdrawn() -> None:
    tasks = FakeTasks(two_phases())
    host = PlayedHost(OpTurn(tasks, StillClock(), "t1")).start()
    host.cancel()
    host.running.pop(PREPARE)
    prepared = tasks.prepare(NeverStops())  # it had looked at its token a moment earlier
    host.hear(StepEnded(StepEnd(PREPARE, "cancelled", value=prepared)))
    assert tasks.marked
    host.perform(WITHDRAW)

    assert host.result is not None
    assert host.result.stop_reason == "cancelled"
    assert (tasks.marked, tasks.records, host.said) == (False, [], [])


class NeverStops:
    def is_set(self) -> bool:
        return False


def test_a_cancel_while_the_record_is_written_still_answers_cancelled() -> None:
    tasks = FakeTasks(two_phases())
    host = begun(tasks)
    for step_id in ("pack", "test", "copy"):
        host.end(step_id)
    host.cancel()
    host.perform(RECORD)

    assert host.result is not None
    assert host.result.stop_reason == "cancelled"
    assert tasks.records[0]["status"] == "ok"


@pytest.mark.parametrize(
    ("while_it_runs", "while_it_is_recorded", "hurried"),
    [
        (None, None, False),
        ("client", None, False),
        ("shutdown", None, True),
        (None, "client", True),
        ("client", "shutdown", True),
    ],
)
def test_a_record_waits_for_no_remote_once_nobody_waits_for_the_record(
    while_it_runs: CancelReason | None, while_it_is_recorded: CancelReason | None, *, hurried: bool
) -> None:
    tasks = FakeTasks(Plan("release", "local", (phase("Build", [step("pack", "Build")]),)))
    host = begun(tasks)
    if while_it_runs:
        host.cancel(while_it_runs)
    host.end("pack")
    if while_it_is_recorded:
        host.cancel(while_it_is_recorded)

    host.perform(RECORD)

    assert tasks.hurried == [hurried]


def test_a_hard_stop_spares_what_the_disk_would_tell_wrongly_for_good() -> None:
    host = begun(FakeTasks(two_phases()))
    host.end("pack", code=1)
    host.perform(MARK)
    host.cancel()

    host.cancel("hard_stop")
    host.end("back")

    spared = [e.step_id for e in host.effects if isinstance(e, StartStep) and e.spared]
    assert spared == [PREPARE, RECORD]


def test_an_op_that_may_not_run_is_refused_with_the_reason_and_nothing_else() -> None:
    tasks = FakeTasks(two_phases(), RunRefused("unknown op 'x'; known: release", 2))
    host = begun(tasks)

    assert host.result is not None
    assert host.result.stop_reason == "refusal"
    assert host.result.value == RunOutcome(2, reason="unknown op 'x'; known: release")
    assert host.said == [Refusal("t1/refusal", "unknown op 'x'; known: release\n")]
    assert host.started == [PREPARE]


def test_a_bug_while_preparing_is_an_internal_error_without_details() -> None:
    host = PlayedHost(OpTurn(FakeTasks(two_phases()), StillClock(), "t1")).start()
    host.hear(StepEnded(StepEnd(PREPARE, "failed", error="secret")))

    assert host.result is not None
    assert host.result.error is not None
    assert host.result.error.code == -32603
    assert "secret" not in host.result.error.message


def test_a_record_that_cannot_be_kept_is_said_and_shows_in_the_exit_code() -> None:
    tasks = FakeTasks(two_phases())
    tasks.ledger_error = "disk full"
    host = begun(tasks)
    for step_id in ("pack", "test", "copy"):
        host.end(step_id)
    host.perform(RECORD)

    assert host.result is not None
    assert host.result.meta["chant"]["exitCode"] == 1
    assert host.said[-2].text == "the run is not in the ledger: disk full\n"
    assert isinstance(host.said[-1], RecordWritten)
    assert tasks.marked, "the mark must stay, so that the run is missed"


def test_a_record_that_a_fault_has_cost_is_tried_once_more() -> None:
    tasks = FakeTasks(two_phases())
    host = begun(tasks)
    for step_id in ("pack", "test", "copy"):
        host.end(step_id)

    host.end(RECORD, "lost")
    assert host.result is None
    host.perform(RECORD)

    assert len(tasks.records) == 1
    assert host.result is not None
    assert host.result.meta["chant"]["exitCode"] == 0


def test_a_record_that_fails_twice_is_given_up() -> None:
    host = begun(FakeTasks(two_phases()))
    for step_id in ("pack", "test", "copy"):
        host.end(step_id)

    for _ in range(2):
        host.end(RECORD, "failed")

    assert host.result is not None
    assert host.result.meta["chant"]["exitCode"] == 1
    assert host.said[-2].text == "the run is not in the ledger: failed\n"


def gated_plan() -> Plan:
    """Build (a), Deploy (gate g, copy); on failure Rollback (back)."""
    gate = PlannedStep("g", "Deploy", "gate", "gate:window", gate=GateStep("g", "window"))
    steps = [gate, step("copy", "Deploy")]
    return Plan(
        "release",
        "prod",
        (phase("Build", [step("a", "Build")]), phase("Deploy", steps)),
        (phase("Rollback", [step("back", "Rollback", compensates=True)]),),
    )


LOOK = f"{GATE}g"


def at_gate(tasks: FakeTasks) -> PlayedHost:
    host = begun(tasks)
    host.end("a")
    assert set(host.running) == {LOOK}
    return host


def test_a_closed_gate_ends_the_turn_with_the_line_that_opens_it() -> None:
    tasks = FakeTasks(gated_plan())
    tasks.gate_remarks = ("warning: not pushed",)
    host = at_gate(tasks)
    host.perform(LOOK)
    host.perform(RECORD)

    assert host.result is not None
    assert host.result.stop_reason == "end_turn"
    assert host.result.meta["chant"] == {"runId": RUN_ID, "status": "gated", "exitCode": 3}
    text = "".join(chunk.text for chunk in chunks(host, "/gate"))
    assert text.endswith("\nchant approve release window --approver <you>\n")
    assert [chunk.text for chunk in chunks(host, "/gate/note")] == ["warning: not pushed\n"]
    assert host.started == [PREPARE, "a", LOOK, RECORD]


def test_an_approved_gate_lets_the_run_go_on() -> None:
    tasks = FakeTasks(gated_plan())
    fact = {"pending": "r/g", "kept": False, "by": [{"approver": "bob"}]}
    tasks.gate = GateAnswered("", "approved", fact)
    host = at_gate(tasks)
    host.perform(LOOK)
    host.end("copy")
    host.perform(RECORD)

    (record,) = tasks.records
    assert statuses(record) == {"a": "ok", "g": "ok", "copy": "ok"}
    assert record["phases"][1]["steps"][0]["approval"] == fact


def test_a_gate_that_can_not_be_looked_up_stops_the_run_before_it() -> None:
    tasks = FakeTasks(gated_plan())
    tasks.gate = GateAnswered("", "unreadable", error="no proof, no passage: line 3")
    host = at_gate(tasks)
    host.perform(LOOK)
    host.perform(MARK)
    host.end("back")

    assert "copy" not in host.started
    failure = next(item for item in host.said if isinstance(item, StepSettled) and item.error)
    assert failure.error == "gate 'window': no proof, no passage: line 3"


def test_a_look_at_the_gate_that_breaks_opens_nothing() -> None:
    host = at_gate(FakeTasks(gated_plan()))
    host.end(LOOK, "failed", None)

    assert "copy" not in host.started
    assert "back" not in host.running  # first the note that clean-up begins
    host.perform(MARK)
    assert set(host.running) == {"back"}


def test_a_cancel_at_the_gate_stops_the_look_and_cleans_up() -> None:
    tasks = FakeTasks(gated_plan())
    tasks.gate = GateAnswered("", "approved", {})
    host = at_gate(tasks)
    host.cancel()

    assert LOOK in host.aborted
    host.perform(LOOK)
    host.perform(MARK)
    host.end("back")
    host.perform(RECORD)

    assert "copy" not in host.started
    assert host.result is not None
    assert host.result.stop_reason == "cancelled"
    assert [record["status"] for record in tasks.records] == ["cancelled"]


def chunks(host: PlayedHost, end_of_id: str) -> list[AgentMessageChunk]:
    updates = [update for item in host.said for update in updates_of(item)]
    found = [each for each in updates if isinstance(each, AgentMessageChunk)]
    return [each for each in found if each.message_id.endswith(end_of_id)]


def test_a_step_gets_the_projects_folder_and_the_whole_environment() -> None:
    host = begun(FakeTasks(two_phases()))

    work = host.running["pack"].work
    assert isinstance(work, ProcessWork)
    assert work.cwd.rstrip("/") == "/project"
    assert work.env == {
        "A": "1",
        "CHANT_ENV": "local",
        "CHANT_OP": "release",
        "CHANT_RUN_ID": RUN_ID,
    }
    assert host.running["pack"].timeout_s == 60.0


def test_what_a_step_prints_is_an_event_of_the_run_with_a_number_of_its_own() -> None:
    host = begun(FakeTasks(two_phases()))
    render = host.running["pack"].render

    (first,) = render("stdout", "one")
    (second,) = render("stderr", "two")

    numbers = [item.seq for item in host.said if hasattr(item, "seq")]
    assert isinstance(first, StepOutput)
    assert (first.step_id, first.stream, first.text) == ("pack", "stdout", "one")
    assert len({*numbers, first.seq, second.seq}) == len(numbers) + 2


def test_a_machine_that_failed_stops_its_steps_and_cleans_up() -> None:
    tasks = FakeTasks(two_phases())
    host = begun(tasks)
    host.fail()
    assert AbortStep("pack") in host.effects
    host.end("pack")
    host.perform(MARK)
    host.end("back")
    host.perform(RECORD)

    assert tasks.records[0]["status"] == "fail"
    assert host.result is not None


# Every interleaving.

RETRIES = st.integers(1, 2)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    phases, names = [], iter(range(100))
    for number in range(draw(st.integers(1, 3))):
        name = f"P{number}"
        count = draw(st.integers(1, 3))
        steps = [step(f"s{next(names)}", name, attempts=draw(RETRIES)) for _ in range(count)]
        phases.append(phase(name, steps, parallel=draw(st.booleans())))
    clean_up = [
        phase(f"F{number}", [step(f"f{number}", f"F{number}", compensates=True)])
        for number in range(draw(st.integers(0, 2)))
    ]
    return Plan("any", "local", tuple(phases), tuple(clean_up))


@given(plan=plans(), data=st.data())
def test_every_interleaving_ends_once_and_closes_every_call_once(
    plan: Plan, data: st.DataObject
) -> None:
    tasks = FakeTasks(plan)
    host = PlayedHost(OpTurn(tasks, StillClock(), "t1")).start()
    cancels = play(host, data)

    assert host.result is not None
    check_calls(host, plan)
    ran = any(isinstance(item, PlanAnnounced) for item in host.said)
    assert len(tasks.records) == ran
    assert not tasks.marked
    assert ran == (bool(host.said) and isinstance(host.said[-1], RecordWritten))
    assert (host.result.stop_reason == "cancelled") == bool(cancels)
    assert host.running == {}


@given(plan=plans(), data=st.data())
def test_a_fault_of_ours_at_any_moment_still_ends_once_with_every_call_closed(
    plan: Plan, data: st.DataObject
) -> None:
    tasks = FakeTasks(plan)
    host = PlayedHost(OpTurn(tasks, StillClock(), "t1")).start()
    play(host, data, faults=1)

    assert host.result is not None
    check_calls(host, plan)
    assert not tasks.marked
    assert host.running == {}


def play(host: PlayedHost, data: st.DataObject, faults: int = 0) -> list[CancelReason]:
    """Let anything that can happen next happen, until the turn is over."""
    cancels: list[CancelReason] = []
    while host.result is None:
        choices = [("end", each) for each in sorted(host.running)]
        choices += [("fire", key) for key in sorted(host.timers)]
        assert choices, "the turn waits for nothing and has not ended"
        choices += [("cancel", each) for each in ("client", "shutdown", "hard_stop")]
        choices += [("fault", "")] * faults
        what, which = data.draw(st.sampled_from(choices * 2 + choices[: len(host.running)] * 3))
        if what == "fault":
            faults -= 1
            host.fail()
        elif what == "fire":
            host.fire(which)
        elif what == "cancel":
            cancels.append(cast("CancelReason", which))
            host.cancel(cancels[-1])
        elif which in OURS:
            host.perform(which)
        else:
            kind = data.draw(st.sampled_from(["exited", "exited", "failed", "timed_out", "lost"]))
            host.end(which, kind, data.draw(st.sampled_from([0, 0, 0, 7])))
    return cancels


def check_calls(host: PlayedHost, plan: Plan) -> None:
    """Hold the client's view of all tool calls against the protocol's rules."""
    state: dict[str, str] = {}
    for item in host.said:
        for update in updates_of(item):
            if isinstance(update, ToolCall):
                assert update.tool_call_id not in state, "opened twice"
                assert update.kind == "execute"
                state[update.tool_call_id] = update.status or "pending"
            elif isinstance(update, ToolCallUpdate):
                assert state[update.tool_call_id] in {"pending", "in_progress"}, "closed before"
                state[update.tool_call_id] = update.status or state[update.tool_call_id]
            else:
                assert update.message_id
    assert set(state.values()) <= {"completed", "failed"}, "left open"
    if state:
        assert {f"{RUN_ID}/{each.step_id}" for each in plan.steps} <= state.keys()
