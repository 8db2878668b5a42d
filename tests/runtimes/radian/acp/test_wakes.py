"""Background jobs of `radian acp` that end later: a turn of their own, which answers nothing."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

from tests.e2e.talk import chunk_text
from tests.runtimes.radian.acp.client import Client, call

if TYPE_CHECKING:
    from tests.e2e.referee import Message
    from tests.runtimes.radian.box import Box

SLOWLY: dict[str, Any] = {"text": "slowly, letter by letter ", "chunk": 1, "delay_ms": 50}
FULL = ("--profile", "full")


class Woken(Client):
    """A client that expects turns which it did not ask for."""

    def __init__(self, box: Box, *flags: str) -> None:
        super().__init__(box, *flags)
        self.referee.own_turns = True


def until_file(name: str, code: int = 0) -> dict[str, Any]:
    """Make a job that ends once there is a file."""
    command = f"while ! test -e {name}; do sleep 0.01; done; exit {code}"
    return call("shell", command=command, background=True)


def make(box: Box, name: str) -> None:
    (box.workspace / name).touch()


def turns(box: Box, session: str) -> list[tuple[int, str, str]]:
    """Return number, origin and end of each turn."""
    records = box.journal(session)
    origins = {each["turn"]: each["origin"] for each in records if each["type"] == "TurnStarted"}
    ends = {each["turn"]: each["end"] for each in records if each["type"] == "TurnEnded"}
    return [(turn, origin, ends.get(turn, "")) for turn, origin in origins.items()]


def said(messages: list[Message]) -> str:
    return "".join(chunk_text(message) for message in messages)


def test_limits_a_job_that_ends_later_wakes_a_turn_that_streams_and_answers_nothing(
    box: Box,
) -> None:
    box.play(
        {"tool_calls": [until_file("go", 3)]},
        {"text": "Started."},
        {"when": "exit code 3", "text": "The job failed."},
        {"text": "Next."},
    )
    with Woken(box, *FULL) as client:
        session = client.open()
        assert client.turn("build").text == "Started."

        make(box, "go")
        client.until_text("The job failed.")
        # All that comes then: the wake turn's end answers nothing.
        assert client.turn("next").text == "Next."

        assert turns(box, session)[:2] == [(1, "prompt", "Completed"), (2, "wake", "Completed")]
        records = [each for each in box.journal(session) if each.get("turn") == 2]
        kinds = [each["type"] for each in records]
        told = [each["source"] for each in records if each["type"] == "UserMessage"]
    assert kinds == ["TurnStarted", "JobFinished", "UserMessage", "AssistantMessage", "TurnEnded"]
    assert told == ["job"]


def test_methods_a_prompt_in_a_wake_turn_waits_and_is_answered_by_its_own_turn(
    box: Box,
) -> None:
    usage = {"input_tokens": 10, "output_tokens": 5}
    box.play(
        {"tool_calls": [until_file("go")]},
        {"text": "Started."},
        {**SLOWLY, "usage": usage},
        {"when": "well?", "text": "Mine.", "usage": usage},
    )
    with Woken(box, *FULL) as client:
        session = client.open()
        client.turn("build")
        make(box, "go")
        client.until_text("s")

        prompt = client.prompt("well?")
        refused = client.answer(client.prompt("and?"))
        turn = client.finish(prompt)

        assert "still running a turn" in refused[-1]["error"]["message"]
        assert (said(refused) + turn.text).endswith("ly, letter by letter Mine.")
        meta = turn.answer["result"]["_meta"]["radian"]
        assert (meta["text"], meta["metrics"]["model_calls"]) == ("Mine.", 1)
        assert meta["metrics"]["input_tokens"] == 10
        assert [origin for _, origin, _ in turns(box, session)] == ["prompt", "wake", "prompt"]


def test_a_job_that_ends_while_a_turn_runs_is_told_in_it_and_wakes_nobody(box: Box) -> None:
    box.play(
        {"tool_calls": [until_file("go")]},
        {"tool_calls": [call("shell", command="touch go; sleep 0.3")]},
        {"when": "exit code 0", "text": "Done already."},
        {"text": "Again."},
    )
    with Woken(box, *FULL) as client:
        session = client.open()
        assert client.turn("build").text == "Done already."
        assert client.turn("again").text == "Again."

        assert [origin for _, origin, _ in turns(box, session)] == ["prompt", "prompt"]


def test_jobs_that_end_together_share_one_turn(box: Box) -> None:
    box.play(
        {"tool_calls": [until_file("go"), until_file("go"), until_file("go")]},
        {"text": "Started."},
        # Those that end a little later are told in the turn that the first of them woke.
        {"tool_calls": [call("shell", command="sleep 0.5")]},
        {"text": "All done."},
        {"text": "Next."},
    )
    with Woken(box, *FULL) as client:
        session = client.open()
        client.turn("build")
        make(box, "go")
        client.until_text("All done.")
        client.turn("next")

        records = box.journal(session)
    ended = [each["turn"] for each in records if each["type"] == "JobFinished"]
    assert ended == [2, 2, 2]
    assert [each["turn"] for each in records if each["type"] == "TurnStarted"] == [1, 2, 3]


def test_a_cancel_ends_a_wake_turn_and_the_next_prompt_is_served(box: Box) -> None:
    box.play({"tool_calls": [until_file("go")]}, {"text": "Started."}, SLOWLY, {"text": "Fine."})
    with Woken(box, *FULL) as client:
        session = client.open()
        client.turn("build")
        make(box, "go")
        client.until_text("s")

        client.cancel()
        turn = client.turn("next")

        assert (turn.stop_reason, turn.text.endswith("Fine.")) == ("end_turn", True)
        assert turns(box, session)[1:] == [(2, "wake", "Interrupted"), (3, "prompt", "Completed")]


def test_a_cancel_behind_a_waiting_prompt_answers_it_and_ends_the_wake_turn(box: Box) -> None:
    box.play({"tool_calls": [until_file("go")]}, {"text": "Started."}, SLOWLY, {"text": "Fine."})
    with Woken(box, *FULL) as client:
        session = client.open()
        client.turn("build")
        make(box, "go")
        client.until_text("s")

        prompt = client.prompt("next")
        client.cancel()

        assert client.finish(prompt).stop_reason == "cancelled"
        assert client.turn("another").text.endswith("Fine.")
        assert turns(box, session)[1:] == [(2, "wake", "Interrupted"), (3, "prompt", "Completed")]


def test_the_end_of_input_in_a_wake_turn_ends_it_in_order(box: Box) -> None:
    box.play({"tool_calls": [until_file("go")]}, {"text": "Started."}, SLOWLY)
    with Woken(box, *FULL) as client:
        session = client.open()
        client.turn("build")
        make(box, "go")
        client.until_text("s")

        client.end_input()

        assert client.exit_code() == 0
    assert turns(box, session)[1:] == [(2, "wake", "Interrupted")]


def test_a_signal_in_a_wake_turn_ends_it_in_order(box: Box) -> None:
    job = call("shell", command="echo $$ > pid; sleep 1000", background=True)
    box.play({"tool_calls": [until_file("go"), job]}, {"text": "Started."}, SLOWLY)
    with Woken(box, *FULL) as client:
        session = client.open()
        client.turn("build")
        make(box, "go")
        client.until_text("s")

        os.kill(client.pid, signal.SIGTERM)

        assert client.exit_code() == 128 + signal.SIGTERM
    assert turns(box, session)[1:] == [(2, "wake", "Interrupted")]
    last = box.journal(session)[-1]
    assert (last["type"], last["killed"]) == ("JobFinished", True)


def test_a_model_that_fails_in_a_wake_turn_is_not_called_again_before_the_next_prompt(
    box: Box,
) -> None:
    broken = {"error": {"status": 400, "message": "out of order"}}
    box.play({"tool_calls": [until_file("go")]}, {"text": "Started."}, broken, {"text": "Fine."})
    with Woken(box, *FULL) as client:
        session = client.open()
        client.turn("build")
        make(box, "go")
        client.until(lambda message: "out of order" in str(message))

        assert client.turn("next").text == "Fine."
        ends = [(origin, end) for _, origin, end in turns(box, session)]
    assert ends == [("prompt", "Completed"), ("wake", "Failed"), ("prompt", "Completed")]


def test_a_permission_is_asked_for_in_a_wake_turn_too(box: Box) -> None:
    outside = call("shell", command="echo out > out", unsandboxed=True, reason="to see")
    box.play(
        {"tool_calls": [until_file("go")]},
        {"text": "Started."},
        {"tool_calls": [outside]},
        {"text": "Allowed."},
    )
    with Woken(box) as client:
        client.open()
        client.turn("build")
        make(box, "go")
        client.choose(client.question(), "allow_once")
        client.until_text("Allowed.")
    assert (box.workspace / "out").exists()


def test_a_job_that_a_wake_turn_starts_wakes_the_session_again(box: Box) -> None:
    box.play(
        {"tool_calls": [until_file("one")]},
        {"text": "Started."},
        {"tool_calls": [until_file("two")]},
        {"text": "Again."},
        {"text": "The end."},
        {"text": "Next."},
    )
    with Woken(box, *FULL) as client:
        session = client.open()
        client.turn("build")
        make(box, "one")
        client.until_text("Again.")
        make(box, "two")
        client.until_text("The end.")
        client.turn("next")

        origins = [origin for _, origin, _ in turns(box, session)]
    assert origins == ["prompt", "wake", "wake", "prompt"]
