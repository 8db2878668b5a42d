"""A run that a person denied: it goes no step forward, fails at its gate, and cleans up."""

from __future__ import annotations

import pytest

from ops.run_values import CancelAsked, GateAnswered, RunBegun, StepFinished
from ops.step_result import exited
from tests.ops.runs import Host, clean_up, gate, phase, plan, step

DENIED = GateAnswered("window", "rejected", {}, "bob rejected it")
FORWARD = (phase("A", step("a")), phase("B", gate("window"), step("b")), phase("C", step("c")))


def denied(*undo: str) -> Host:
    host = Host(plan(*FORWARD, on_failure=[clean_up("R", *map(step, undo))] if undo else []))
    host.tell(RunBegun(DENIED))
    return host


def test_it_starts_nothing_but_its_clean_up() -> None:
    host = denied("r")
    host.tell(StepFinished("r", exited(0)))

    assert host.started == ["r"]
    assert host.statuses == {
        "a": "skipped",
        "window": "fail",
        "b": "skipped",
        "c": "skipped",
        "r": "ok",
    }
    assert (host.record["status"], host.record["compensation"]) == ("fail", "ok")
    assert host.record["failure"]["step_id"] == "window"
    assert host.record["failure"]["error"] == "gate 'window': bob rejected it"


def test_its_clean_up_learns_what_failed() -> None:
    host = denied("r")

    (start,) = [each for each in host.effects if getattr(each, "step_id", "") == "r"][-1:]
    env: dict[str, str] = getattr(start, "env", {})
    assert env["CHANT_FAILURE_STEP"] == "window"
    assert env["CHANT_FAILURE_FN"] == "gate:window"


def test_without_clean_up_it_is_over_at_once() -> None:
    host = denied()

    assert host.started == []
    assert (host.record["status"], host.record["compensation"]) == ("fail", "none")


@pytest.mark.parametrize("hard", [False, True])
def test_a_cancel_that_came_first_wins(hard: bool) -> None:  # noqa: FBT001
    host = Host(plan(*FORWARD))
    host.tell(CancelAsked(hard))
    host.tell(RunBegun(DENIED))

    assert host.started == []
    assert host.record["status"] == "cancelled"
