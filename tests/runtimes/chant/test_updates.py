"""Events into updates: ids, statuses, and lines that every client can read."""

from __future__ import annotations

import datetime as dt
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.events import (
    CompensationStarted,
    GatePending,
    RunSettled,
    RunStarted,
    StepOutput,
    StepRetrying,
    StepStarted,
)
from protocol.acp.updates import (
    AgentMessageChunk,
    ToolCall,
    ToolCallUpdate,
    ToolText,
    encode_update,
)
from runtimes.chant.items import Item, PlanAnnounced, RecordWritten, Remark, VerbOutput
from runtimes.chant.updates import Update, updates_of
from tests.runtimes.chant.events import RUN_ID, settled
from tests.runtimes.chant.hosts import two_phases

LINE_LIMIT = 60 * 1024


def only(item: Item) -> Update:
    (update,) = updates_of(item)
    return update


def started(*, compensates: bool) -> StepStarted:
    args = {"cmd": "make"}
    return StepStarted(RUN_ID, "pack", 2, 0.0, "Build", "shell", "Build / shell", args, compensates)


def test_the_plan_opens_a_pending_call_for_each_declared_step() -> None:
    updates = list(updates_of(PlanAnnounced(RUN_ID, two_phases())))

    assert updates[0] == ToolCall(
        tool_call_id=f"{RUN_ID}/pack",
        title="Build / shell",
        kind="execute",
        status="pending",
        raw_input={"cmd": "echo pack"},
    )
    assert [getattr(each, "tool_call_id", "").rpartition("/")[2] for each in updates] == [
        "pack",
        "test",
        "copy",
    ]


def test_a_declared_step_is_updated_and_one_of_on_failure_opens_its_own_call() -> None:
    declared, own = only(started(compensates=False)), only(started(compensates=True))

    assert declared == ToolCallUpdate(tool_call_id=f"{RUN_ID}/pack", status="in_progress")
    assert isinstance(own, ToolCall)
    assert (own.status, own.raw_input) == ("in_progress", {"cmd": "make"})


@pytest.mark.parametrize(
    ("status", "final", "text"),
    [
        ("ok", "completed", None),
        ("fail", "failed", "exit code 3"),
        ("cancelled", "failed", "cancelled"),
        ("skipped", "completed", "skipped"),
        ("not_reached", "completed", "not reached"),
        ("gated", "completed", "waiting at the gate"),
        ("waiting", "completed", "waiting for an answer"),
    ],
)
def test_a_settled_step_closes_its_call(status: str, final: str, text: str | None) -> None:
    update = only(settled(status, error="exit code 3" if status == "fail" else None))

    assert isinstance(update, ToolCallUpdate)
    assert update.status == final
    assert update.content == (None if text is None else (ToolText(text),))
    assert update.raw_output["status"] == status


@pytest.mark.parametrize("status", ["skipped", "not_reached"])
def test_a_step_of_on_failure_that_never_ran_opens_and_closes_at_once(status: str) -> None:
    update = only(settled(status, compensates=True, attempts=0))

    assert isinstance(update, ToolCall)
    assert (update.kind, update.status, update.title) == ("execute", "completed", "Build / shell")


def test_output_streams_under_an_id_for_each_step_and_stream() -> None:
    update = only(StepOutput(RUN_ID, "pack", 3, 0.0, "stderr", "oops"))

    assert update == AgentMessageChunk("oops", f"{RUN_ID}/pack/stderr")


def test_the_record_is_one_json_line() -> None:
    update = only(RecordWritten(RUN_ID, {"version": 1, "status": "ok"}))

    assert isinstance(update, AgentMessageChunk)
    assert update.text == '{"version":1,"status":"ok"}\n'


def test_what_has_no_place_in_the_protocol_says_nothing() -> None:
    assert list(updates_of(RunStarted(RUN_ID, "", 1, 0.0, "release", "local"))) == []
    assert list(updates_of(RunSettled(RUN_ID, "", 9, 0.0, "ok", "none", {}))) == []


def test_the_rest_is_text() -> None:
    assert only(Remark("m", "text")) == AgentMessageChunk("text", "m")
    assert only(VerbOutput("m", "text")) == AgentMessageChunk("text", "m")
    begun = only(CompensationStarted(RUN_ID, "", 5, 0.0, ("Undo", "Tell")))
    assert begun == AgentMessageChunk("on_failure: Undo, Tell\n", f"{RUN_ID}/on_failure")
    again = only(StepRetrying(RUN_ID, "pack", 4, 0.0, 2, 5.0, "exit code 1"))
    assert isinstance(again, ToolCallUpdate)
    assert again.content == (ToolText("exit code 1; attempt 2 in 5s"),)
    fact = {"op": "release", "env": "prod", "expires": "tomorrow"}
    gate = only(GatePending(RUN_ID, "g", 6, 0.0, "window", fact))
    assert isinstance(gate, AgentMessageChunk)
    assert gate.text.endswith("chant approve release window --approver <you>\n")


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300), st.integers(1, 700))
def test_streamed_text_of_any_length_comes_in_short_lines_and_whole(text: str, times: int) -> None:
    whole = text * times
    updates = list(updates_of(StepOutput(RUN_ID, "pack", 3, 0.0, "stdout", whole)))

    lines = [encode_update("s", update) for update in updates]
    assert all(len(line) <= LINE_LIMIT for line in lines)
    texts = [json.loads(line)["params"]["update"]["content"]["text"] for line in lines]
    assert "".join(texts) == whole


def test_large_arguments_and_outputs_stay_in_a_short_line() -> None:
    long = "x" * 600_000
    event = settled("fail", error=long, output={"stdout": long}, args={"cmd": long}, exit_code=1)
    open_and_close = settled("skipped", args={"cmd": long}, compensates=True)

    for each in (event, open_and_close):
        line = encode_update("s", only(each))
        assert len(line) <= LINE_LIMIT
    assert json.loads(encode_update("s", only(event)))["params"]["update"]["rawOutput"]


def test_dates_in_arguments_are_written() -> None:
    day = dt.datetime(2026, 11, 30, tzinfo=dt.UTC)
    args = {"when": [day], "long": ["x" * 100] * 9000}

    assert b"2026-11-30" in encode_update(
        "s", only(settled("skipped", args=args, compensates=True))
    )
    assert "2026-11-30" in "".join(
        each.text
        for each in updates_of(RecordWritten(RUN_ID, {"when": day}))
        if isinstance(each, AgentMessageChunk)
    )
