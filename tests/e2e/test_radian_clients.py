"""`radian acp` as official SDKs see it: a new and an old one in Python, and one in TypeScript."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.clients import CLIENTS, NEW, load, prompt, until
from tests.runtimes.radian.acp.client import call
from tests.runtimes.radian.box import Box, make_box

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.clients import ClientKind

PNG = b"\x89PNG\r\n\x1a\n" + bytes(16)
GUARDED = ".radian/note"
"""Writing there needs a person's consent."""
LONG = "".join(f"{number:06}\n" for number in range(30_000))
"""210,000 characters: more than an old reader takes in a line."""


@pytest.fixture(params=CLIENTS, ids=lambda kind: kind.name)
def client(request: pytest.FixtureRequest) -> ClientKind:
    """Each client in turn."""
    chosen: ClientKind = request.param
    return chosen


@pytest.fixture
def box(tmp_path: Path) -> Box:
    """A person's home with a model that says Yes, and a workspace that is trusted."""
    made = make_box(tmp_path)
    made.play({"text": "Yes."}, then="repeat-last")
    return made


def uses(*calls: dict[str, Any], text: str = "") -> dict[str, Any]:
    """Have the model make calls of tools."""
    return {"tool_calls": list(calls), "text": text}


def test_a_session_is_begun_shown_and_loaded_in_a_new_process(box: Box, client: ClientKind) -> None:
    box.play(uses(call("read", path="note")), {"reasoning": "hm", "text": "Yes."})
    (box.workspace / "note").write_text("remember\n")
    first = client.converse(box, NEW, prompt("go"), NEW)
    box.play({"text": "Again."})
    second = client.converse(box, load(first.session), prompt("and now?"), until("Again."))

    assert first.hello["protocolVersion"] == 1
    assert first.hello["agentInfo"]["name"] == "radian"
    assert first.hello["agentCapabilities"]["loadSession"] is True
    assert first.answers[1]["stopReason"] == "end_turn"
    assert first.answers[1]["_meta"]["radian"]["text"] == "Yes."
    assert first.answers[2]["error"]["code"] == -32600
    assert (first.text(), first.text("agent_thought_chunk")) == ("Yes.", "hm")
    for told in (first, second):
        (shown,) = told.calls().values()
        assert (shown["kind"], shown["status"]) == ("read", "completed")
        assert "remember" in shown["rawOutput"]["output"]
        assert shown["locations"][0]["path"] == str(box.workspace / "note")
    assert second.text("user_message_chunk") == "go"
    assert second.text() == "Yes.Again."


def test_questions_are_answered_once_always_no_or_not_at_all(box: Box, client: ClientKind) -> None:
    writes = uses(call("write", path=GUARDED, content="x"))
    box.play(writes, {"text": "Done."})
    once = client.converse(box, NEW, prompt("go"), choose=("allow_once",))
    box.play(writes, writes, {"text": "Done."})
    always = client.converse(box, NEW, prompt("go"), choose=("allow_always",))
    box.play(writes, {"text": "Then not."})
    rejected = client.converse(box, NEW, prompt("go"), choose=("reject_once",))
    box.play(writes, {"text": "never said"})
    dismissed = client.converse(box, NEW, prompt("go"), choose=("dismiss",))

    for told in (once, always):
        assert told.answers[1]["stopReason"] == "end_turn"
        assert len(told.asked) == 1
        assert {each["status"] for each in told.calls().values()} == {"completed"}
    assert [each["kind"] for each in once.asked[0]["options"]] == [
        "allow_once",
        "allow_always",
        "reject_once",
    ]
    assert once.asked[0]["toolCall"]["content"][-1]["type"] == "diff"
    assert (rejected.answers[1]["stopReason"], rejected.text()) == ("end_turn", "Then not.")
    assert (dismissed.answers[1]["stopReason"], dismissed.text()) == ("cancelled", "")
    for told in (rejected, dismissed):
        assert [each["status"] for each in told.calls().values()] == ["failed"]


def test_a_question_of_the_agent_is_answered_by_its_options(box: Box, client: ClientKind) -> None:
    question = {
        "question": "Which colour?",
        "options": [{"label": "Red"}, {"label": "Blue"}],
    }
    box.play(uses(call("ask_user", questions=[question])), {"text": "Blue it is."})

    told = client.converse(box, NEW, prompt("go"), choose=("Blue",))

    assert told.asked[0]["toolCall"]["title"] == "Which colour?"
    assert [each["name"] for each in told.asked[0]["options"]] == ["Red", "Blue"]
    assert told.text() == "Blue it is."


def test_a_cancel_stops_a_command_a_model_and_a_question(box: Box, client: ClientKind) -> None:
    box.play(
        {**uses(call("shell", command="echo ready; exec sleep 600")), "when": "one"},
        {"text": "slow" * 1000, "chunk": 4, "delay_ms": 1000, "when": "two"},
        {**uses(call("write", path=GUARDED, content="x")), "when": "three"},
        {"text": "Still here.", "when": "four"},
    )
    told = client.converse(
        box,
        NEW,
        prompt("one", cancelAt="ready\\n"),
        prompt("two", cancelAt="slow"),
        prompt("three", cancelAt="allow_once"),
        prompt("four"),
        until("Still here."),
        choose=("late",),
    )

    ends = [answer["stopReason"] for answer in told.answers[1:5]]
    assert ends == ["cancelled", "cancelled", "cancelled", "end_turn"]
    assert {each["status"] for each in told.calls().values()} == {"failed"}


def test_pictures_and_links_are_taken_with_a_prompt(box: Box, client: ClientKind) -> None:
    picture = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(PNG).decode()}
    link = {"type": "resource_link", "name": "note", "uri": "file:///note"}

    told = client.converse(box, NEW, prompt("see", picture, link))
    again = client.converse(box, load(told.session))

    assert told.hello["agentCapabilities"]["promptCapabilities"]["image"] is True
    assert told.answers[1]["stopReason"] == "end_turn"
    assert "[picture: image/png]" in again.text("user_message_chunk")
    assert "file:///note" in again.text("user_message_chunk")


def long_session(box: Box) -> None:
    """Have the model read, print, write and change much, and ask before some of it."""
    (box.workspace / "big").write_text(LONG)
    (box.workspace / ".radian").mkdir()
    (box.workspace / GUARDED).write_text(LONG)
    grown = LONG.replace("015000\n", "here\n")
    box.play(
        uses(call("read", path="big", limit=2000), call("shell", command="cat big")),
        uses(call("patch", path="big", old="015000", new="here"), text=LONG),
        uses(call("write", path="new", content=LONG), call("write", path=GUARDED, content=grown)),
        uses(call("write", path=GUARDED, content='"\\\n' * 60_000)),
        uses(call("shell", command="echo " + "x" * 100_000)),
        {"reasoning": LONG, "text": "Done."},
    )


def test_a_session_with_much_to_show_is_shown_whole(box: Box, client: ClientKind) -> None:
    long_session(box)
    told = client.converse(
        box, NEW, prompt(LONG), until("Done."), choose=("allow_once", "allow_once")
    )
    loaded = client.converse(box, load(told.session), until("Done."))

    assert told.answers[1]["stopReason"] == "end_turn"
    assert len(told.asked) == 2
    for each in (told, loaded):
        assert each.text() == LONG + "Done."
        assert each.text("agent_thought_chunk") == LONG
        assert len(each.calls()) == 7 - 1
    assert loaded.text("user_message_chunk") == LONG
    assert (box.workspace / GUARDED).read_text() == '"\\\n' * 60_000
    assert re.search("characters left out", str(told.updates))
