"""Approvals and ask_user: questions that the client answers."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.wire import line
from tests.runtimes.radian.acp.client import ASK, Client, call

if TYPE_CHECKING:
    from tests.runtimes.radian.box import Box

GUARDED = ".radian/note"
"""Writing there needs a person's consent in the profile `workspace`."""


ALLOWED = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}


def guarded(*, times: int = 1) -> list[dict[str, Any]]:
    write = {"tool_calls": [call("write", path=GUARDED, content="x")]}
    return [*(write for _ in range(times)), {"text": "Done."}]


def outcome_of(box: Box, session: str) -> dict[str, Any]:
    results = [each for each in box.journal(session) if each["type"] == "ToolResult"]
    return results[-1]


def test_approvals_and_ask_user_a_question_offers_once_always_and_reject(box: Box) -> None:
    box.play(*guarded())
    with Client(box) as client:
        session = client.open()
        running = client.prompt("go")
        question = client.question()
        params = question["params"]

        assert params["sessionId"] == session
        assert [each["kind"] for each in params["options"]] == [
            "allow_once",
            "allow_always",
            "reject_once",
        ]
        assert params["toolCall"]["title"]
        assert params["toolCall"]["content"][-1]["type"] == "diff"
        client.choose(question, "allow_once")

        assert client.finish(running).stop_reason == "end_turn"
    assert box.workspace.joinpath(GUARDED).exists()


def test_approvals_and_ask_user_what_was_allowed_once_is_asked_again(box: Box) -> None:
    box.play(*guarded(times=2))
    with Client(box) as client:
        client.open()
        running = client.prompt("go")
        client.choose(client.question(), "allow_once")
        client.choose(client.question(), "reject_once")

        turn = client.finish(running)
    assert turn.stop_reason == "end_turn"
    assert turn.updates("tool_call_update")[-1]["status"] == "failed"


def test_approvals_and_ask_user_always_holds_for_this_process_and_not_after_a_load(
    box: Box,
) -> None:
    box.play(*guarded(times=2))
    before = box.home.joinpath("config.toml").read_text()
    with Client(box) as client:
        session = client.open()
        running = client.prompt("go")
        client.choose(client.question(), "allow_always")

        # The second call is not asked for.
        assert client.finish(running).stop_reason == "end_turn"
    assert box.home.joinpath("config.toml").read_text() == before
    box.play(*guarded())
    with Client(box) as client:
        client.load(session)
        running = client.prompt("again")
        client.choose(client.question(), "reject_once")

        assert client.finish(running).stop_reason == "end_turn"


@pytest.mark.parametrize(
    "answer",
    [
        {"result": {"outcome": {"outcome": "selected", "optionId": "reject_once"}}},
        {"result": {"outcome": {"outcome": "selected", "optionId": "allow_everything"}}},
        {"result": {"outcome": {"outcome": "allowed", "optionId": "allow_once"}}},
        {"result": {"outcome": {"outcome": "selected"}}},
        {"result": {"outcome": {"outcome": "selected", "optionId": "ALLOW_ONCE"}}},
        {"result": {"outcome": {"outcome": "selected", "optionId": ["allow_once"]}}},
        {"result": {"outcome": {"outcome": "selected", "optionId": 1}}},
        {"result": {"outcome": {"optionId": "allow_once"}}},
        {"result": {"outcome": ["selected", "allow_once"]}},
        {"result": {"outcome": "selected", "optionId": "allow_once"}},
        {"result": [ALLOWED]},
        {"result": ALLOWED, "error": {"code": 1, "message": "both"}},
        {"result": ALLOWED, "error": None},
        {"result": "allow_once"},
        {"result": None},
        {"result": True},
        {"result": []},
        {"error": None},
        {"error": "no"},
        {"error": {"code": -32601, "message": "what?"}},
    ],
    ids=str,
)
def test_approvals_and_ask_user_a_rejection_or_nonsense_is_a_result_with_its_reason(
    box: Box, answer: dict[str, Any]
) -> None:
    box.play(*guarded())
    with Client(box) as client:
        session = client.open()
        running = client.prompt("go")
        client.send(line(id=client.question()["id"], **answer))
        turn = client.finish(running)

    assert turn.stop_reason == "end_turn"
    assert turn.updates("tool_call_update")[-1]["status"] == "failed"
    assert not box.workspace.joinpath(GUARDED).exists()
    assert outcome_of(box, session)["output"].startswith("not allowed: ")
    assert turn.answer["result"]["_meta"]["radian"]["metrics"]["tool_denials"] == 1


def test_approvals_and_ask_user_a_cancelled_outcome_denies_and_cancels_the_turn(box: Box) -> None:
    box.play(*guarded())
    with Client(box) as client:
        session = client.open()
        running = client.prompt("go")
        outcome = {"outcome": {"outcome": "cancelled"}}
        client.send(line(id=client.question()["id"], result=outcome))

        assert client.finish(running).stop_reason == "cancelled"
    assert not box.workspace.joinpath(GUARDED).exists()
    assert outcome_of(box, session)["status"] == "failed"
    assert "the question was cancelled" in outcome_of(box, session)["output"]
    assert box.journal(session)[-1]["end"] == "Interrupted"


@pytest.mark.parametrize("method", ["session/cancel", "$/cancel_request"])
def test_approvals_and_ask_user_a_cancel_waits_for_no_answer_and_a_late_one_is_passed(
    box: Box, method: str
) -> None:
    box.play(*guarded())
    with Client(box) as client:
        session = client.open()
        running = client.prompt("go")
        question = client.question()
        client.notify(method, {"sessionId": session, "requestId": running})

        assert client.finish(running).stop_reason == "cancelled"
        client.choose(question, "allow_once")
        assert client.exchange(b"") == []
    assert not box.workspace.joinpath(GUARDED).exists()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130), (0, 0)]
)
def test_approvals_and_ask_user_whatever_ends_the_process_ends_the_question(
    box: Box, number: int, code: int
) -> None:
    box.play(*guarded())
    with Client(box) as client:
        session = client.open()
        client.prompt("go")
        client.question()
        if number:
            client.process.send_signal(number)
        else:
            client.end_input()

        assert client.exit_code() == code
        assert client.alive() == set()
        assert client.stderr() == ""
    assert not (box.workspace / GUARDED).exists()
    ended = box.journal(session)[-1]
    assert (ended["type"], ended["end"]) == ("TurnEnded", "Interrupted")


def test_approvals_and_ask_user_an_answer_counts_for_the_question_that_it_names_and_once(
    box: Box,
) -> None:
    box.play(*guarded(times=2))
    with Client(box) as client:
        client.open()
        running = client.prompt("go")
        first = client.question()
        for other in (str(first["id"]), first["id"] + 1, -first["id"], None):
            assert client.exchange(line(id=other, result=ALLOWED)) == []
        client.choose(first, "reject_once")
        client.choose(first, "allow_once")
        second = client.question()
        client.choose(first, "allow_once")
        assert client.exchange(b"") == []
        client.choose(second, "reject_once")

        assert client.finish(running).stop_reason == "end_turn"
        client.choose(second, "allow_once")
        assert client.exchange(b"") == []
    assert not box.workspace.joinpath(GUARDED).exists()


def ask(**question: Any) -> dict[str, Any]:
    return {"tool_calls": [call("ask_user", questions=[question])]}


OPTIONS = [{"label": "Red"}, {"label": "Blue", "description": "like the sky"}]


def test_approvals_and_ask_user_the_options_are_the_permission_options(box: Box) -> None:
    box.play(ask(question="Which colour?", options=OPTIONS, free_text=True), {"text": "Done."})
    with Client(box) as client:
        session = client.open()
        running = client.prompt("go")
        question = client.question()

        assert question["params"]["toolCall"]["title"] == "Which colour?"
        names = [each["name"] for each in question["params"]["options"]]
        assert names == ["Red", "Blue: like the sky"]
        client.choose(question, question["params"]["options"][1]["optionId"])

        assert client.finish(running).stop_reason == "end_turn"
    assert "Blue" in outcome_of(box, session)["output"]


@pytest.mark.parametrize(
    "answer",
    [
        {"result": {"outcome": {"outcome": "selected", "optionId": "3"}}},
        {"result": {"outcome": {"outcome": "selected", "optionId": "0"}}},
        {"result": {"outcome": {"outcome": "selected", "optionId": "1,2"}}},
        {"result": {"outcome": {"outcome": "selected", "optionId": "Red"}}},
        {"result": {"outcome": {"outcome": "selected", "optionId": 1}}},
        {"result": None},
        {"error": {"code": -32601, "message": "what?"}},
    ],
    ids=str,
)
def test_approvals_and_ask_user_what_was_not_offered_is_no_answer_to_a_question(
    box: Box, answer: dict[str, Any]
) -> None:
    box.play(ask(question="Which colour?", options=OPTIONS), {"text": "Then not."})
    with Client(box) as client:
        session = client.open()
        running = client.prompt("go")
        client.send(line(id=client.question()["id"], **answer))

        assert client.finish(running).stop_reason == "end_turn"
    assert outcome_of(box, session)["status"] == "failed"
    assert "Red" not in outcome_of(box, session)["output"]


def test_approvals_and_ask_user_is_asked_one_question_at_a_time(box: Box) -> None:
    two = [{"question": f"{name}?", "options": OPTIONS} for name in ("First", "Second")]
    box.play({"tool_calls": [call("ask_user", questions=two)]}, {"text": "Done."})
    with Client(box) as client:
        client.open()
        running = client.prompt("go")
        asked = client.question()
        assert client.exchange(b"") == []
        client.choose(asked, "1")
        client.choose(client.question(), "2")

        assert client.finish(running).stop_reason == "end_turn"


@pytest.mark.parametrize(
    "question",
    [{"question": "Why?"}, {"question": "Which?", "options": OPTIONS, "multiple": True}],
    ids=["text", "several"],
)
def test_approvals_and_ask_user_what_one_choice_can_not_answer_fails_the_tool(
    box: Box, question: dict[str, Any]
) -> None:
    box.play(ask(**question), {"text": "Then not."})
    with Client(box) as client:
        session = client.open()
        turn = client.turn("go")

    assert turn.stop_reason == "end_turn"
    assert outcome_of(box, session)["status"] == "failed"


def test_approvals_and_ask_user_answers_in_any_order_find_their_question_r07(box: Box) -> None:
    names = ("one", "two", "three")
    calls = [call("write", path=f".radian/{name}", content=name) for name in names]
    box.play({"tool_calls": calls}, {"text": "Done."})
    with Client(box) as client:
        client.open()
        running = client.prompt("go")
        # Where it asks for all at once, the last is answered first.
        asked = [client.question(), *questions_so_far(client)]
        for question in reversed(asked):
            client.choose(question, choice_for(question, "two"))
        answered = len(asked)
        while answered < len(names):
            question = client.question()
            client.choose(question, choice_for(question, "two"))
            answered += 1

        assert client.finish(running).stop_reason == "end_turn"
    written = {path.name for path in box.workspace.joinpath(".radian").iterdir()}
    assert written == {"one", "three"}


def questions_so_far(client: Client) -> list[dict[str, Any]]:
    """Return the questions that have come already."""
    return [each for each in client.exchange(b"") if each.get("method") == ASK]


def choice_for(question: dict[str, Any], rejected: str) -> str:
    return "reject_once" if rejected in str(question["params"]["toolCall"]) else "allow_once"


def test_approvals_and_ask_user_a_request_names_an_opened_call_and_each_option_once_r08(
    box: Box,
) -> None:
    box.play(*guarded()[:1], ask(question="Which?", options=OPTIONS), {"text": "Done."})
    with Client(box) as client:
        client.open()
        running = client.prompt("go")
        opened: set[str] = set()
        for _ in range(2):
            *before, question = client.until(lambda message: message.get("method") == ASK)
            updates = [each["params"]["update"] for each in before]
            opened |= {each["toolCallId"] for each in updates
                       if each["sessionUpdate"] == "tool_call"}  # fmt: skip
            ids = [each["optionId"] for each in question["params"]["options"]]
            assert question["params"]["toolCall"]["toolCallId"] in opened
            assert len(set(ids)) == len(ids) > 1
            client.choose(question, ids[0])

        assert client.finish(running).stop_reason == "end_turn"
