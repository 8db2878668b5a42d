from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ops.events import CompensationStarted, GatePending, PointWaiting, RunSettled, RunStarted
from ops.model import Outcome
from ops.run_values import (
    AbortStep,
    ArmTimer,
    CancelAsked,
    DropTimer,
    Emit,
    GateAnswered,
    HostLost,
    MarkCompensation,
    PointAnswered,
    RunBegun,
    StartStep,
    StepFinished,
    Tick,
)
from ops.step_result import Printed, StepResult, cancelled, exited, failed, timed_out
from tests.ops.runs import Host, clean_up, gate, phase, plan, point, step

OK = exited(0)
ROLLBACK = [clean_up("First", step("f1")), clean_up("Last", step("f2"), step("f3"))]


def begun(*phases: Any, on_failure: Any = (), **more: Any) -> Host:
    host = Host(plan(*phases, on_failure=on_failure, **more))
    host.tell(RunBegun())
    return host


def end(host: Host, step_id: str, result: StepResult = OK) -> None:
    host.running.remove(step_id)
    host.tell(StepFinished(step_id, result), after_s=1.5)


def test_phases_and_steps_run_in_written_order() -> None:
    host = begun(phase("A", step("a"), step("b")), phase("B", step("c")), on_failure=ROLLBACK)

    for name in ("a", "b", "c"):
        assert host.running == [name]
        end(host, name)

    assert host.record["status"] == "ok"
    assert host.record["compensation"] == "none"
    assert isinstance(host.events[0], RunStarted)
    assert isinstance(host.events[-1], RunSettled)


def test_a_parallel_phase_starts_all_and_reports_each_as_it_settles() -> None:
    host = begun(phase("A", step("a"), step("b"), parallel=True), phase("B", step("c")))

    assert host.running == ["a", "b"]
    end(host, "b")
    assert host.statuses == {"b": "ok"}
    assert host.running == ["a"]


def test_a_failure_skips_the_rest_and_cleans_up_in_reverse() -> None:
    host = begun(phase("A", step("a"), step("b")), phase("B", step("c")), on_failure=ROLLBACK)

    end(host, "a", exited(3))

    assert host.statuses == {"a": "fail", "b": "skipped", "c": "skipped"}
    for name in ("f2", "f3", "f1"):
        assert host.running == [name]
        end(host, name)
    assert (host.record["status"], host.record["compensation"]) == ("fail", "ok")
    assert host.record["failure"] == {
        "kind": "fail",
        "error": "exit code 3",
        "step_id": "a",
        "phase": "A",
        "fn": "shell",
        "exit_code": 3,
    }


def test_siblings_of_a_failed_step_run_to_their_end_unless_fail_fast() -> None:
    patient = begun(phase("A", step("a"), step("b"), parallel=True))
    end(patient, "a", exited(1))
    assert patient.running == ["b"]
    end(patient, "b")
    assert patient.statuses == {"a": "fail", "b": "ok"}

    hasty = begun(phase("A", step("a"), step("b"), parallel=True, fail_fast=True))
    end(hasty, "a", exited(1))
    assert hasty.effects[-1] == AbortStep("b")
    end(hasty, "b", cancelled())
    assert hasty.statuses == {"a": "fail", "b": "cancelled"}


def test_clean_up_learns_of_the_failure_and_is_marked_before_it_starts() -> None:
    host = begun(phase("A", step("a")), on_failure=[clean_up("R", step("r"))], params={"n": 1})

    came = host.tell(StepFinished("a", exited(3)))

    kinds = [type(effect) for effect in came]
    assert kinds.index(MarkCompensation) < kinds.index(StartStep)
    (start,) = [effect for effect in came if isinstance(effect, StartStep)]
    assert start.env == {
        "CHANT_RUN_ID": "20261130-101500123-aa",
        "CHANT_ENV": "local",
        "CHANT_OP": "release",
        "CHANT_PARAM_N": "1",
        "CHANT_FAILURE_KIND": "fail",
        "CHANT_FAILURE_STEP": "a",
        "CHANT_FAILURE_PHASE": "A",
        "CHANT_FAILURE_FN": "shell",
        "CHANT_FAILURE_ERROR": "exit code 3",
        "CHANT_FAILURE_EXIT_CODE": "3",
    }


def test_each_clean_up_phase_is_isolated_and_the_first_cause_is_kept() -> None:
    back = [clean_up("Second", step("f1")), clean_up("First", step("f2"), step("f3"))]
    host = begun(phase("A", step("a")), on_failure=back)
    end(host, "a", exited(3))

    end(host, "f2", exited(9))
    end(host, "f1")

    assert host.statuses == {"a": "fail", "f2": "fail", "f3": "skipped", "f1": "ok"}
    assert host.record["compensation"] == "partial"
    assert host.record["failure"]["step_id"] == "a"
    (first, _second) = [each for each in host.record["phases"] if each["on_failure"]]
    assert first["steps"][0]["error"] == "exit code 9"


def test_a_step_is_tried_again_after_growing_waits() -> None:
    host = begun(phase("A", step("a", attempts=3)))

    waits = []
    for _ in range(2):
        end(host, "a", timed_out(60.0))
        waits.append(host.timers.pop("retry:a"))
        host.tell(Tick("retry:a"))
    end(host, "a")

    assert waits == [1.0, 2.0]
    (done,) = host.record["phases"][0]["steps"]
    assert (done["status"], done["attempts"], done["duration_ms"]) == ("ok", 3, 4500)


def test_the_last_attempt_decides() -> None:
    host = begun(phase("A", step("a", attempts=2)))
    end(host, "a", exited(1))
    host.tell(Tick("retry:a"))

    end(host, "a", failed("no such program: x"))

    (done,) = host.record["phases"][0]["steps"]
    assert (done["status"], done["attempts"], done["error"]) == ("fail", 2, "no such program: x")


def test_cancel_stops_the_step_then_cleans_up_then_settles() -> None:
    host = begun(
        phase("A", step("a", attempts=3), step("b")), on_failure=[clean_up("R", step("r"))]
    )

    assert host.tell(CancelAsked()) == [AbortStep("a")]
    end(host, "a", cancelled(143))
    assert host.statuses == {"a": "cancelled", "b": "not_reached"}
    assert host.running == ["r"]
    assert host.tell(CancelAsked()) == []
    end(host, "r")

    assert (host.record["status"], host.record["compensation"]) == ("cancelled", "ok")
    assert [each["hard"] for each in host.record["cancels"]] == [False, False]
    assert host.record["failure"]["kind"] == "cancelled"


def test_a_step_that_ends_well_under_a_cancel_is_ok_and_the_run_is_cancelled() -> None:
    host = begun(phase("A", step("a"), step("b")))
    host.tell(CancelAsked())

    end(host, "a")

    assert host.statuses == {"a": "ok", "b": "not_reached"}
    assert host.record["status"] == "cancelled"


def test_cancel_ends_a_wait_between_attempts_at_once() -> None:
    host = begun(phase("A", step("a", attempts=3)))
    end(host, "a", exited(1))

    came = host.tell(CancelAsked())

    assert DropTimer("retry:a") in came
    assert host.run.settled
    (done,) = host.record["phases"][0]["steps"]
    assert (done["status"], done["exit_code"]) == ("cancelled", 1)
    assert host.tell(Tick("retry:a")) == []


def test_a_hard_stop_says_what_did_not_run() -> None:
    before = begun(phase("A", step("a")), on_failure=ROLLBACK)
    before.tell(CancelAsked(hard=True))
    end(before, "a", cancelled())
    assert before.record["not_run"] == ["Last", "First"]
    assert (before.record["status"], before.record["compensation"]) == ("cancelled", "none")

    during = begun(phase("A", step("a")), on_failure=ROLLBACK)
    during.tell(CancelAsked())
    end(during, "a", cancelled())
    assert during.tell(CancelAsked(hard=True)) == [AbortStep("f2")]
    end(during, "f2", cancelled())
    assert during.statuses["f3"] == during.statuses["f1"] == "not_reached"
    assert during.record["not_run"] == ["First"]
    assert (during.record["status"], during.record["compensation"]) == ("cancelled", "failed")


def test_clean_up_that_takes_too_long_is_ended() -> None:
    host = begun(phase("A", step("a")), on_failure=ROLLBACK, compensation_timeout_s=30.0)
    end(host, "a", exited(1))
    assert host.timers == {"compensation": 30.0}
    end(host, "f2")

    assert host.tell(Tick("compensation")) == [AbortStep("f3")]
    end(host, "f3", cancelled())

    assert host.statuses["f1"] == "not_reached"
    assert (host.record["status"], host.record["compensation"]) == ("fail", "failed")
    assert host.record["not_run"] == ["First"]


def test_a_cancel_while_a_failure_is_cleaned_up_is_recorded_and_not_obeyed() -> None:
    host = begun(phase("A", step("a")), on_failure=[clean_up("R", step("r"))])
    end(host, "a", exited(1))

    assert host.tell(CancelAsked()) == []
    end(host, "r")

    assert host.record["status"] == "fail"
    assert host.run.cancel_asked
    assert len(host.record["cancels"]) == 1


def test_a_pending_gate_ends_the_run_without_clean_up() -> None:
    host = begun(phase("A", step("a"), gate("window"), step("b")), on_failure=ROLLBACK)
    end(host, "a")
    fact = {"since": "2026-11-30T10:15:00.000Z", "expires": "2026-12-02T10:15:00.000Z"}

    host.tell(GateAnswered("window", "pending", fact))

    assert host.statuses == {"a": "ok", "window": "gated", "b": "skipped"}
    assert host.record["status"] == "gated"
    assert host.record["gate"] == {**fact, "name": "window", "step": "window"}
    assert any(isinstance(event, GatePending) for event in host.events)
    assert not any(isinstance(event, CompensationStarted) for event in host.events)


def test_an_approved_gate_lets_the_run_through_and_is_recorded() -> None:
    host = begun(phase("A", gate("window"), step("b")))

    host.tell(GateAnswered("window", "approved", {"by": "ann"}))
    end(host, "b")

    assert host.record["status"] == "ok"
    assert host.record["phases"][0]["steps"][0]["approval"] == {"by": "ann"}


@pytest.mark.parametrize("state", ["rejected", "unreadable"])
def test_without_proof_no_passage(state: Any) -> None:
    host = begun(phase("A", gate("window"), step("b")), on_failure=[clean_up("R", step("r"))])

    host.tell(GateAnswered("window", state, error="the ledger can't be read"))

    assert host.statuses == {"window": "fail", "b": "skipped"}
    assert host.running == ["r"]


def test_gates_of_a_parallel_phase_are_decided_before_anything_starts() -> None:
    host = begun(phase("A", step("a"), gate("g"), step("b"), gate("h"), parallel=True))
    assert (host.running, host.asked) == ([], [("g", "gate")])

    host.tell(GateAnswered("g", "approved"))
    assert (host.running, host.asked[-1]) == ([], ("h", "gate"))
    host.tell(GateAnswered("h", "approved"))

    assert host.running == ["a", "b"]


def test_an_open_question_ends_the_run_waiting_and_an_answer_is_an_output() -> None:
    asks = replace(step("b"), args={"x": {"from": "ship", "path": "answer"}})
    open_one = begun(phase("A", point("ship"), asks), on_failure=ROLLBACK)
    open_one.tell(PointAnswered("ship", "open", fact={"id": "ship-0123"}))
    assert open_one.statuses == {"ship": "waiting", "b": "skipped"}
    assert open_one.record["status"] == "waiting"
    assert open_one.record["point"] == {"id": "ship-0123", "name": "ship", "step": "ship"}
    assert any(isinstance(event, PointWaiting) for event in open_one.events)

    answered = begun(phase("A", point("ship"), asks))
    came = answered.tell(PointAnswered("ship", "answered", "yes", {"by": "table"}))
    (start,) = [effect for effect in came if isinstance(effect, StartStep)]
    assert start.args == {"x": "yes"}


def test_outputs_reach_later_steps_and_outcomes_the_record() -> None:
    first = replace(step("a"), outcomes=(Outcome("artifact"), Outcome("size", "n")))
    second = replace(step("b"), args={"src": {"from": "a", "path": "stdout"}})
    host = begun(phase("A", first), phase("B", second))

    end(host, "a", exited(0, Printed("box.tar\n", "ab", 8)))

    start = host.effects[-1]
    assert isinstance(start, StartStep)
    assert start.args == {"src": "box.tar"}
    end(host, "b")
    done = host.record["phases"][0]["steps"][0]
    assert done["outcome"] == {"artifact": "box.tar"}
    assert done["error"] == "outcome 'size': nothing at 'n'"
    assert (done["output_digest"], done["output_bytes"]) == ("ab", 8)
    assert host.record["outcomes"] == {"artifact": "box.tar"}


def test_a_reference_to_nothing_fails_the_step_before_it_starts() -> None:
    host = begun(phase("A", replace(step("a"), args={"x": {"param": "v"}})))

    assert host.started == []
    (done,) = host.record["phases"][0]["steps"]
    assert (done["status"], done["error"]) == ("fail", "parameter 'v' has no value")


def test_a_lost_host_stops_what_runs_then_cleans_up_then_fails() -> None:
    host = begun(
        phase("A", step("a"), step("b"), parallel=True),
        phase("B", step("c")),
        on_failure=[clean_up("R", step("r"))],
    )

    came = host.tell(HostLost("bug", alive=frozenset({"b"})))

    assert AbortStep("b") in came
    assert AbortStep("a") not in came
    assert host.statuses == {"a": "fail"}
    host.running.remove("a")
    end(host, "b", cancelled())
    assert host.running == ["r"]
    end(host, "r")
    assert host.statuses == {"a": "fail", "b": "cancelled", "c": "not_reached", "r": "ok"}
    assert host.record["status"] == "fail"


def test_a_host_lost_while_cleaning_up_repeats_nothing() -> None:
    host = begun(phase("A", step("a")), on_failure=ROLLBACK, compensation_timeout_s=30.0)
    end(host, "a", exited(1))

    came = host.tell(HostLost("bug"), after_s=10.0)

    assert came == [ArmTimer("compensation", 20.0)]
    for name in ("f2", "f3", "f1"):
        end(host, name)
    assert host.started == ["a", "f2", "f3", "f1"]
    assert host.record["compensation"] == "ok"


def test_a_cancel_before_the_run_begins_is_not_lost() -> None:
    host = Host(plan(phase("A", step("a"))))
    host.tell(CancelAsked())

    host.tell(RunBegun())

    assert host.started == []
    assert host.record["status"] == "cancelled"


def test_a_step_that_someone_else_stopped_failed() -> None:
    host = begun(phase("A", step("a", attempts=3)))

    end(host, "a", cancelled())

    assert host.statuses == {"a": "fail"}


def test_the_events_say_everything_in_order() -> None:
    host = begun(phase("A", step("a", attempts=2)), on_failure=[clean_up("R", step("r"))])
    end(host, "a", exited(1))
    host.tell(Tick("retry:a"))
    end(host, "a", exited(1))
    end(host, "r")

    names = [type(effect.event).__name__ for effect in host.effects if isinstance(effect, Emit)]
    assert names == [
        "RunStarted",
        "StepStarted",
        "StepRetrying",
        "StepSettled",
        "CompensationStarted",
        "StepStarted",
        "StepSettled",
        "RunSettled",
    ]
