from __future__ import annotations

import json

from ops.events import RunStarted, event_json
from ops.record import interrupted_record
from ops.run_id import new_run_id, timestamp
from ops.run_values import Moment, RunBegun, StepFinished
from ops.step_result import exited
from tests.ops.runs import Host, phase, plan, step

# The ledger's keys, as one would read them off a line.
# fmt: off
KEYS = [
    "version", "id", "op", "op_digest", "env", "actor", "origin", "steward", "host", "git",
    "params", "params_digest", "started", "ended", "status", "compensation", "labels",
    "outcomes", "phases", "failure", "gate", "point", "cancels", "not_run", "ignored_depends",
]
STEP_KEYS = [
    "id", "fn", "status", "attempts", "start_ms", "duration_ms", "exit_code", "error", "outcome",
    "approval", "output_digest", "output_bytes",
]
# fmt: on


def test_the_record_has_every_key_of_the_ledger_in_one_order() -> None:
    host = Host(plan(phase("A", step("a"))), now_s=1_000_000_000.5)
    host.tell(RunBegun())
    host.tell(StepFinished("a", exited(0)), after_s=2)

    record = host.record

    assert list(record) == KEYS
    assert record["version"] == 1
    assert (record["started"], record["ended"]) == (
        "2001-09-09T01:46:40.500Z",
        "2001-09-09T01:46:42.500Z",
    )
    assert [list(each) for each in record["phases"]] == [["name", "status", "on_failure", "steps"]]
    assert list(record["phases"][0]["steps"][0]) == STEP_KEYS
    assert record["phases"][0]["steps"][0]["duration_ms"] == 2000
    assert record["phases"][0]["steps"][0]["start_ms"] == 0


def test_a_run_has_a_record_while_it_runs_and_it_can_become_interrupted() -> None:
    host = Host(plan(phase("A", step("a"))))
    host.tell(RunBegun())

    stub = host.run.record(Moment(1001.0, 1001.0))
    interrupted = interrupted_record(stub, 2000.0, compensating=True)

    assert (stub["status"], stub["ended"]) == ("running", None)
    assert stub["phases"][0]["steps"][0]["status"] == "running"
    assert (interrupted["status"], interrupted["compensation"]) == ("interrupted", "partial")
    assert interrupted["ended"] == "1970-01-01T00:33:20.000Z"


def test_a_huge_outcome_is_cut_and_says_so() -> None:
    from dataclasses import replace

    from ops.model import Outcome
    from ops.step_result import Printed

    host = Host(plan(phase("A", replace(step("a"), outcomes=(Outcome("log"),)))))
    host.tell(RunBegun())
    host.tell(StepFinished("a", exited(0, Printed("x" * 100_000))))

    assert host.record["outcomes"]["log"].endswith("[83616 more characters left out]")


def test_run_ids_sort_by_time() -> None:
    ids = [new_run_id(when, b"\xff\x00") for when in (0.0, 999999999.5, 1e9, 1e9 + 0.001)]

    assert ids == sorted(ids)
    assert ids[2] == "20010909-014640000-ff00"
    assert timestamp(0.0) == "1970-01-01T00:00:00.000Z"


def test_events_have_a_json_form() -> None:
    event = RunStarted("r", "", 1, 2.0, "release", "local")

    assert json.loads(json.dumps(event_json(event))) == {
        "event": "run_started",
        "run_id": "r",
        "step_id": "",
        "seq": 1,
        "time": 2.0,
        "op": "release",
        "env": "local",
    }
