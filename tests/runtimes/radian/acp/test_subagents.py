"""Subagents before a client: progress, questions, cancels, and what a load shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.e2e.wire import line
from tests.runtimes.radian.acp.client import ASK, Client, call, told

if TYPE_CHECKING:
    from tests.e2e.talk import Turn
    from tests.runtimes.radian.box import Box

GUARDED = ".radian/note"
"""Writing there needs a person's consent in the profile `workspace`."""


def delegate(task: str) -> dict[str, Any]:
    return {"tool_calls": [call("subagent", prompt=task, description=f"Task {task}")]}


def guarded() -> dict[str, Any]:
    return {"tool_calls": [call("write", path=GUARDED, content="x")]}


def texts(turn: Turn, call_id: str) -> list[str]:
    """Return what was shown as content of a call, one after the other."""
    updates = [each for each in turn.updates("tool_call_update") if each["toolCallId"] == call_id]
    return [each["content"][0]["content"]["text"] for each in updates if each.get("content")]


def test_progress_is_the_content_of_the_call_and_the_report_its_output(box: Box) -> None:
    look = {"tool_calls": [call("glob", pattern="*")]}
    box.play(delegate("look"), look, {"text": "nothing there"}, {"text": "Done."})
    with Client(box) as client:
        session = client.open()
        turn = client.turn("go")
    with Client(box) as client:
        replayed = client.load(session)

    (shown,) = turn.updates("tool_call")
    assert shown["title"] == "Task look"
    told_by_it = texts(turn, shown["toolCallId"])
    assert any(each.startswith("> glob: ") for each in told_by_it)
    assert told_by_it[-1] == "nothing there"
    assert turn.text == "Done."
    assert told(replayed) == [
        ("user_message_chunk", "go"),
        ("tool_call", "call-1", "pending"),
        ("tool_call_update", "call-1", "completed"),
        ("agent_message_chunk", "Done."),
    ]


def test_a_question_of_a_subagent_is_about_a_call_that_names_it(box: Box) -> None:
    box.play(delegate("note"), guarded(), {"text": "written"}, {"text": "Done."})
    with Client(box) as client:
        client.open()
        running = client.prompt("go")
        *before, question = client.until(lambda message: message.get("method") == ASK)
        client.choose(question, "allow_once")
        turn = client.finish(running)

    asked = question["params"]["toolCall"]
    assert asked["title"].startswith("subagent (Task note): ")
    updates = [each["params"]["update"] for each in before]
    shown = [each["toolCallId"] for each in updates if each["sessionUpdate"] == "tool_call"]
    assert shown == ["call-1", asked["toolCallId"]]
    ends = {
        each["toolCallId"]: each["status"]
        for each in turn.updates("tool_call_update")
        if "status" in each
    }
    assert ends == dict.fromkeys(shown, "completed")
    assert box.workspace.joinpath(GUARDED).exists()


def test_what_was_always_allowed_to_one_is_allowed_to_all(box: Box) -> None:
    box.play(delegate("note"), guarded(), {"text": "written"}, guarded(), {"text": "Done."})
    with Client(box) as client:
        client.open()
        running = client.prompt("go")
        client.choose(client.question(), "allow_always")

        assert client.finish(running).stop_reason == "end_turn"


def test_a_cancelled_question_of_a_subagent_cancels_the_turn(box: Box) -> None:
    box.play(delegate("note"), guarded())
    with Client(box) as client:
        session = client.open()
        running = client.prompt("go")
        question = client.question()
        client.send(line(id=question["id"], result={"outcome": {"outcome": "cancelled"}}))

        assert client.finish(running).stop_reason == "cancelled"
    assert not box.workspace.joinpath(GUARDED).exists()
    ends = [each for each in box.journal(session) if each["type"] == "TurnEnded"]
    assert [(each.get("agent"), each["end"]) for each in ends] == [
        ("call-1", "Interrupted"),
        (None, "Interrupted"),
    ]


def test_a_cancel_while_a_subagent_asks_ends_all_calls(box: Box) -> None:
    box.play(delegate("note"), guarded())
    with Client(box) as client:
        client.open()
        running = client.prompt("go")
        question = client.question()
        client.cancel()
        turn = client.finish(running)

    assert turn.stop_reason == "cancelled"
    ends = [
        (each["toolCallId"], each["status"])
        for each in turn.updates("tool_call_update")
        if each.get("status") == "failed"
    ]
    assert ends == [(question["params"]["toolCall"]["toolCallId"], "failed"), ("call-1", "failed")]


def test_a_cancel_ends_the_model_of_a_subagent(box: Box) -> None:
    slow: dict[str, Any] = {"text": "letter by letter", "chunk": 1, "delay_ms": 60_000}
    # The cancel may come before the slow call is made; the next turn must not get it then.
    after = {"when": "and now?", "text": "Yes."}
    box.play(after, delegate("wait"), {"tool_calls": [call("glob", pattern="*")]}, slow)
    with Client(box) as client:
        client.open()
        running = client.prompt("go")
        client.until(lambda message: "> glob" in str(message))
        client.cancel()

        assert client.finish(running).stop_reason == "cancelled"
        assert client.turn("and now?").stop_reason == "end_turn"
