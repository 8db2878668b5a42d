"""Calls with their retries, on a clock that stands still."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from runtimes.models.answer import Answer, CallError
from runtimes.models.base import (
    CallFailed,
    Finished,
    KeepForLater,
    Kept,
    Noted,
    Reasoning,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCalled,
    ToolUse,
    Usage,
)
from runtimes.models.calling import Retrying, call_model
from runtimes.models.retry import ONCE, RetryPolicy
from tests.fakes import Running
from tests.runtimes.models.servers import REQUEST, Naps, full_call, signal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runtimes.models.base import Cancel, ModelEvent, ModelRequest

BUSY = CallFailed("busy", 503, retry=True)


@dataclass
class Playing:
    """Plays one list of events a call; each event takes its time."""

    calls: list[list[ModelEvent]]
    naps: Naps
    event_s: float = 0.0

    def stream(self, request: ModelRequest, cancel: Cancel) -> Iterator[ModelEvent]:
        del request, cancel
        for event in self.calls.pop(0):
            self.naps.now_s += self.event_s
            yield event


def played(*calls: list[ModelEvent], event_s: float = 0.0) -> tuple[list[object], Answer]:
    naps = Naps()
    shown, answer = full_call(Playing(list(calls), naps, event_s), naps=naps)
    return list(shown), answer


def test_an_answer_is_put_together_in_the_order_it_came() -> None:
    kept = {"from": "anthropic", "block": {}}

    shown, answer = played(
        [
            ReasoningDelta("I "),
            ReasoningDelta("see"),
            KeepForLater(kept),
            TextDelta("Let "),
            TextDelta("me"),
            ToolCalled("a", "read", '{"p": 1}'),
            TextDelta("!"),
            Usage(10, 5),
            Finished("tools", "tool_use"),
        ]
    )

    assert shown == [
        ReasoningDelta("I "),
        ReasoningDelta("see"),
        TextDelta("Let "),
        TextDelta("me"),
        TextDelta("!"),
    ]
    assert answer == Answer(
        parts=(
            Reasoning("I see"),
            Kept(kept),
            Text("Let me"),
            ToolUse("a", "read", '{"p": 1}'),
            Text("!"),
        ),
        finish="tools",
        detail="tool_use",
        usage=Usage(10, 5),
        ttft_ms=0,
    )
    assert answer.text == "Let me!"
    assert answer.payload == (kept,)


@pytest.mark.parametrize("arguments", ["", '{"p": ', "[]", "3", '{"a": 1} {"b": 2}'])
def test_a_call_whose_arguments_are_no_object_is_dropped(arguments: str) -> None:
    _, answer = played([ToolCalled("a", "read", arguments), Finished("length")])

    assert answer.calls == ()
    assert answer.dropped == (ToolUse("a", "read", arguments),)


def test_times_leave_the_waits_between_attempts_out() -> None:
    _, answer = played(
        [TextDelta("a"), BUSY],
        [TextDelta("b"), TextDelta("c"), Finished("stop")],
        event_s=0.25,
    )

    assert (answer.model_ms, answer.ttft_ms, answer.retries) == (1250, 250, 1)
    assert answer.parts == (Text("bc"),)


def test_an_answer_without_a_piece_has_no_time_of_the_first_one() -> None:
    _, answer = played([Finished("stop")])

    assert answer.ttft_ms is None


def test_an_error_leaves_text_but_no_call() -> None:
    failed = CallFailed("no", 400)

    _, answer = played([TextDelta("a"), ToolCalled("a", "read", "{}"), failed])

    assert answer.parts == (Text("a"),)
    assert answer.error == CallError("no", http_status=400)
    assert answer.finish == "broken"


def test_remarks_are_said_once() -> None:
    _, answer = played([Noted("x"), BUSY], [Noted("x"), Finished("stop")])

    assert answer.notes == ("x",)


def test_a_stream_that_just_ends_is_a_fault_and_tried_again() -> None:
    shown, answer = played([TextDelta("a")], [Finished("stop")])

    assert isinstance(shown[-1], Retrying)
    assert (answer.retries, answer.error) == (1, None)


def test_once_means_once() -> None:
    naps = Naps()
    shown, answer = full_call(Playing([[BUSY]], naps), naps=naps, policy=ONCE)

    assert shown == []
    assert answer.error == CallError("busy", retryable=True, http_status=503)


def test_what_a_provider_raises_passes_through() -> None:
    class Wrong:
        def stream(self, request: ModelRequest, cancel: Cancel) -> Iterator[ModelEvent]:
            del request, cancel
            message = "a bug"
            raise ZeroDivisionError(message)
            yield Finished("stop")

    with pytest.raises(ZeroDivisionError):
        full_call(Wrong())


def test_a_call_that_fails_because_of_a_cancel_is_cancelled() -> None:
    cancel = signal()

    class Cut:
        def stream(self, request: ModelRequest, cancel: Cancel) -> Iterator[ModelEvent]:
            del request, cancel
            yield TextDelta("half")
            yield BUSY

    events = call_model(Cut(), REQUEST, cancel)
    assert next(events) == TextDelta("half")
    cancel.set()

    (answer,) = events
    assert isinstance(answer, Answer)
    assert (answer.finish, answer.parts, answer.error) == ("cancelled", (Text("half"),), None)


def test_a_cancel_wakes_who_waits_for_the_next_attempt() -> None:
    cancel = signal()
    waiting = threading.Event()
    got: list[object] = []

    def run() -> None:
        for event in call_model(Playing([[BUSY]], Naps()), REQUEST, cancel):
            got.append(event)
            waiting.set()

    running = Running(run)
    assert waiting.wait(10)
    cancel.set()
    running.result()

    assert isinstance(got[0], Retrying)
    assert isinstance(got[1], Answer)
    assert got[1].finish == "cancelled"


@pytest.mark.parametrize(
    ("failure", "attempt", "elapsed_s", "wait_s"),
    [
        (BUSY, 1, 0.0, 0.5),
        (BUSY, 4, 0.0, 4.0),
        (BUSY, 5, 0.0, None),
        (BUSY, 2, 179.5, None),
        (CallFailed("x", 429, retry=True, retry_after_s=7.0), 1, 0.0, 7.0),
        (CallFailed("x", 429, retry=True, retry_after_s=0.0), 1, 0.0, 0.0),
        (CallFailed("x", 429, retry=True, retry_after_s=121.0), 1, 0.0, None),
        (CallFailed("x", 429, retry=True, retry_after_s=100.0), 2, 100.0, None),
        (CallFailed("x", 400), 1, 0.0, None),
    ],
)
def test_waits_follow_the_policy(
    failure: CallFailed, attempt: int, elapsed_s: float, wait_s: float | None
) -> None:
    assert RetryPolicy().wait_s(failure, attempt, elapsed_s, 1.0) == wait_s


def test_chance_shortens_a_wait_and_never_a_hint() -> None:
    hinted = CallFailed("x", 429, retry=True, retry_after_s=7.0)

    assert RetryPolicy().wait_s(BUSY, 2, 0.0, 0.25) == 0.25
    assert RetryPolicy().wait_s(hinted, 2, 0.0, 0.25) == 7.0
