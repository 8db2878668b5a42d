"""Runs on a terminal: lines, marks, the last word; and the JSON forms."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.events import (
    CompensationStarted,
    GatePending,
    PointWaiting,
    RunSettled,
    RunStarted,
    StepOutput,
    StepRetrying,
    StepStarted,
)
from runtimes.chant.items import PlanAnnounced, RecordWritten, Remark
from runtimes.chant.line_buffer import MAX_LINE_CHARS, LineBuffer
from runtimes.chant.marks import marks_for
from runtimes.chant.render import TerminalView
from runtimes.chant.render_json import ProgressView, QuietView
from runtimes.chant.wording import duration_text, verdict_text
from tests.runtimes.chant.events import RUN_ID, settled
from tests.runtimes.chant.hosts import two_phases

if TYPE_CHECKING:
    from runtimes.chant.items import Item

FAILURE = {"phase": "Build", "fn": "shell", "step_id": "pack", "error": "exit code 3"}
RECORD = {"op": "release", "status": "fail", "compensation": "ok", "failure": FAILURE}


def output(text: str, stream: Any = "stdout") -> StepOutput:
    return StepOutput(RUN_ID, "pack", 3, 0.0, stream, text)


def started() -> StepStarted:
    return StepStarted(
        RUN_ID, "pack", 2, 0.0, "Build", "shell", "Build / shell", {}, compensates=False
    )


FAILED_RUN: list[Item] = [
    Remark("r", "warning: careful\n"),
    PlanAnnounced(RUN_ID, two_phases()),
    RunStarted(RUN_ID, "", 1, 10.0, "release", "local"),
    started(),
    output("one\ntw"),
    output("o\nrest"),
    StepRetrying(RUN_ID, "pack", 4, 0.0, 2, 5.0, "exit code 3"),
    settled("fail", error="exit code 3", attempts=2, duration_ms=1300),
    settled("skipped", step_id="test", attempts=0, duration_ms=0),
    CompensationStarted(RUN_ID, "", 8, 0.0, ("Rollback",)),
    RunSettled(RUN_ID, "", 9, 12.5, "fail", "ok", RECORD),
    RecordWritten(RUN_ID, RECORD),
]

SHOWN = f"""\
release in local: 2 phases, 3 steps, run {RUN_ID}
▸ Build / shell  pack
  pack │ one
  pack │ two
… pack: exit code 3; attempt 2 in 5s
  pack │ rest
✗ Build / shell  pack  exit code 3 after 2 attempts  1.3 s
– Build / shell  test  skipped
on_failure: Rollback
✗ release failed in 2.5 s at Build / shell (pack): exit code 3; clean-up: ok
"""


def paper(encoding: str = "utf-8") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding)


def written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode(stream.encoding)


def test_a_run_reads_as_plain_lines() -> None:
    out, err = paper(), paper()
    TerminalView(out, err, colors=False).show(FAILED_RUN)

    assert written(out) == SHOWN
    assert written(err) == "warning: careful\n"


def test_colors_change_nothing_but_the_colors() -> None:
    out = paper()
    TerminalView(out, paper(), colors=True).show(FAILED_RUN)

    bare = written(out)
    for code in ("0", "1", "2", "31", "32", "33"):
        bare = bare.replace(f"\033[{code}m", "")
    assert bare == SHOWN
    assert "\033[31m✗\033[0m" in written(out)


def test_a_terminal_without_our_marks_gets_plain_ones() -> None:
    out = paper("ascii")
    TerminalView(out, paper(), colors=False).show([started(), output("x\n"), settled()])

    assert written(out) == "> Build / shell  pack\n  pack | x\nok Build / shell  pack  40 ms\n"


def test_a_stop_at_a_gate_or_a_question_shows_the_line_that_resolves_it() -> None:
    out = paper()
    fact = {"op": "release", "env": "prod", "description": "Someone watches", "expires": "soon"}
    question = {"id": "ship-it-0123456789ab", "question": "Ship it?"}
    items: list[Item] = [
        GatePending(RUN_ID, "g", 1, 0.0, "window", fact),
        PointWaiting(RUN_ID, "p", 2, 0.0, "ship-it", question),
    ]
    TerminalView(out, paper(), colors=False).show(items)

    assert written(out).splitlines() == [
        "gate window of release in prod is closed; this run stops here",
        "description: Someone watches",
        "expires: soon",
        "chant approve release window --approver <you>",
        "open question: Ship it?",
        "chant workspace points answer ship-it-0123456789ab --answer <value> --by <you>",
    ]


def test_progress_is_a_json_line_for_each_event_and_the_record_last() -> None:
    out = paper()
    ProgressView(out).show(FAILED_RUN)

    lines = [json.loads(line) for line in written(out).splitlines()]
    assert [line["event"] for line in lines] == [
        "remark",
        "plan",
        "run_started",
        "step_started",
        "step_output",
        "step_output",
        "step_retrying",
        "step_settled",
        "step_settled",
        "compensation_started",
        "run_settled",
        "record",
    ]
    assert lines[-1]["record"] == RECORD
    assert lines[-2]["record"] is None
    assert [step["id"] for step in lines[1]["phases"][0]["steps"]] == ["pack", "test"]


def test_with_json_only_remarks_are_shown_beside_the_document() -> None:
    err = paper()
    QuietView(err).show(FAILED_RUN)

    assert written(err) == "warning: careful\n"


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"status": "ok"}, "release is done in 1 s"),
        ({"status": "gated"}, "release waits at a gate"),
        ({"status": "waiting"}, "release waits for an answer"),
        ({"status": "cancelled", "compensation": "none"}, "release was cancelled in 1 s"),
        (
            {"status": "cancelled", "compensation": "partial"},
            "release was cancelled in 1 s; clean-up: partial",
        ),
        ({"status": "fail", "failure": None}, "release failed in 1 s"),
        (
            {"status": "fail", "failure": {"error": "host lost"}},
            "release failed in 1 s: host lost",
        ),
    ],
)
def test_the_last_line_says_how_it_ended(record: dict[str, Any], said: str) -> None:
    assert verdict_text({"op": "release", **record}, " in 1 s") == said


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(0, "0 ms"), (999, "999 ms"), (1300, "1.3 s"), (59_900, "59.9 s"), (125_000, "2 m 05 s")],
)
def test_durations_read_as_people_say_them(milliseconds: int, text: str) -> None:
    assert duration_text(milliseconds) == text


@given(st.lists(st.text(st.sampled_from("ab\n\r"), max_size=6)))
def test_pieces_make_the_same_lines_as_the_whole(pieces: list[str]) -> None:
    buffer = LineBuffer()
    lines = [line for piece in pieces for line in buffer.feed(("s", "stdout"), piece)]
    lines += buffer.rest("s")

    whole = "".join(pieces).split("\n")
    expected = [line.removesuffix("\r") for line in whole[:-1]] + [whole[-1]] * bool(whole[-1])
    assert lines == expected


def test_a_line_without_an_end_is_shown_in_parts() -> None:
    buffer = LineBuffer()
    parts = list(buffer.feed(("s", "stdout"), "x" * (3 * MAX_LINE_CHARS)))

    assert [len(part) for part in parts] == [MAX_LINE_CHARS] * 2
    assert buffer.rest("s") == ["x" * MAX_LINE_CHARS]
    assert buffer.rest("s") == []


def test_an_unknown_encoding_gets_plain_marks() -> None:
    assert marks_for("no-such-encoding", colors=False).ok == "ok"
