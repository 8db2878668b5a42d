"""The referee whistles: a fair turn passes, and each rule is broken once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.referee import LONGEST_CALL, Referee
from tests.e2e.wire import line

PLACE = {"path": "/a", "line": 1}
DIFF = {"type": "diff", "path": "/a", "newText": "x"}
OPTION = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}


def said(**members: Any) -> bytes:
    return line(**members).removesuffix(b"\n")


def update(kind: str, session: str = "s", **members: Any) -> bytes:
    params = {"sessionId": session, "update": {"sessionUpdate": kind, **members}}
    return said(method="session/update", params=params)


def chunk(session: str = "s", text: str = "hi", **members: Any) -> bytes:
    content = {"type": "text", "text": text}
    return update("agent_message_chunk", session, content=content, **members)


def opened(**members: Any) -> bytes:
    return update("tool_call", toolCallId="c", title="look", **members)


def question(*options: dict[str, Any], call: str = "c", **members: Any) -> bytes:
    params = {"sessionId": "s", "toolCall": {"toolCallId": call, **members}, "options": options}
    return said(id=1, method="session/request_permission", params=params)


def ended(reason: str = "end_turn") -> bytes:
    return said(id=2, result={"stopReason": reason})


def asked(method: str, request_id: int = 2, **params: Any) -> bytes:
    return line(id=request_id, method=method, params=params)


@pytest.fixture
def referee() -> Referee:
    """One that has seen a session opened and a turn begin."""
    referee = Referee()
    referee.sent(asked("session/new", 1, cwd="/", mcpServers=[]))
    referee.received(said(id=1, result={"sessionId": "s"}))
    referee.sent(asked("session/prompt", sessionId="s", prompt=[{"type": "text", "text": "go"}]))
    return referee


def test_a_fair_turn_passes(referee: Referee) -> None:
    for each in (
        update("available_commands_update", availableCommands=[]),
        chunk(messageId="m"),
        opened(locations=[PLACE], content=[DIFF]),
        question(OPTION, locations=[PLACE]),
        update("tool_call_update", toolCallId="c", status="completed"),
        update("usage_update", used=1, size=2),
        ended(),
    ):
        referee.received(each)


@pytest.mark.parametrize(
    "foul",
    [
        pytest.param([b"[]"], id="F02 no object"),
        pytest.param([chunk(messageId="m") + b"\r"], id="F02 a carriage return"),
        pytest.param([said(id=2, result={}, error={})], id="J04 both"),
        pytest.param([said(id=2)], id="J04 neither"),
        pytest.param([said(id=3, result={})], id="J17 nobody asked"),
        pytest.param([said(id="2", result={"stopReason": "end_turn"})], id="J02 another type"),
        pytest.param([ended(), ended()], id="two answers"),
        pytest.param([ended("done")], id="P01 no stop reason"),
        pytest.param([chunk("t", messageId="m")], id="P01 another session"),
        pytest.param([ended(), chunk(messageId="m")], id="P06 after the answer"),
        pytest.param([update("available_commands_update", "t", availableCommands=[])],
                     id="S17 not named yet"),
        pytest.param([chunk()], id="no message id"),
        pytest.param([said(id=1, method="fs/read_text_file",
                           params={"sessionId": "s", "path": "/a"})], id="P12 a file"),
        pytest.param([said(method="session/notify", params={"sessionId": "s"})], id="P12 news"),
        pytest.param([update("tool_call_update", toolCallId="c")], id="P13 not opened"),
        pytest.param([opened(), opened()], id="P13 opened twice"),
        pytest.param([opened(), ended()], id="P13 left open"),
        pytest.param([opened(), ended("cancelled")], id="P13 left open by a cancel"),
        pytest.param([opened(status="completed"), update("tool_call_update", toolCallId="c")],
                     id="P13 closed before"),
        pytest.param([update("usage_update", used=1.5, size=2)], id="P16 a fraction"),
        pytest.param([update("usage_update", used=1, size=None)], id="P16 no size"),
        pytest.param([opened(locations=[{"path": "a"}])], id="P17 a place"),
        pytest.param([opened(locations=[{"path": "/a", "line": 0}])], id="P17 line 0"),
        pytest.param([opened(content=[{**DIFF, "path": "a"}])], id="P17 a change"),
        pytest.param([opened(), question(OPTION, locations=[{"path": "a"}])], id="P17 asked about"),
        pytest.param([chunk(messageId="m", cost=1)], id="P18 a stray member"),
        pytest.param([chunk(messageId="m", text="x" * LONGEST_CALL)], id="P19 a long line"),
        pytest.param([question(OPTION)], id="R08 of no call"),
        pytest.param([opened(), question(OPTION, OPTION)], id="R08 one id twice"),
        pytest.param([opened(), question()], id="R08 nothing to choose"),
        pytest.param([opened(), question(OPTION), question(OPTION)], id="J22 an id again"),
    ],
)  # fmt: skip
def test_a_foul_is_whistled_at_its_last_line(referee: Referee, foul: list[bytes]) -> None:
    *before, last = foul
    for each in before:
        referee.received(each)

    with pytest.raises(Exception):  # noqa: B017, PT011 - the schema's own, ours, or JSON's
        referee.received(last)


def test_a_replay_comes_before_the_answer_that_opens_the_session() -> None:
    referee = Referee()
    referee.sent(asked("session/load", sessionId="s", cwd="/", mcpServers=[]))
    referee.received(chunk(messageId="m"))
    referee.received(said(id=2, result={}))

    with pytest.raises(AssertionError, match="outside any turn"):
        referee.received(chunk(messageId="m"))


def test_a_session_that_could_not_be_loaded_is_not_named() -> None:
    referee = Referee()
    referee.sent(asked("session/load", sessionId="s", cwd="/", mcpServers=[]))
    referee.received(said(id=2, error={"code": -32002, "message": "no such session"}))

    with pytest.raises(AssertionError, match="no answer has named"):
        referee.received(update("available_commands_update", availableCommands=[]))
