"""The handshake: rows I01 to I12 of the conformance list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.talk import HELLO

if TYPE_CHECKING:
    from tests.e2e.talk import Talk


@pytest.mark.parametrize("asked", [1, 2, 99, 65535, 0])
def test_i01_i02_every_version_is_answered_with_1(shared: Talk, asked: int) -> None:
    # The second half of the members is v2's.
    extra = {"info": {"name": "x", "version": "1"}, "capabilities": {"a": {}}}

    answer = shared.call("initialize", {**HELLO, **extra, "protocolVersion": asked})

    version = answer["result"]["protocolVersion"]
    assert (type(version), version) == (int, 1)


@pytest.mark.parametrize("asked", ["1", 1.5, -1, 65536, None, [], {}, True, ...], ids=repr)
def test_i03_a_version_that_is_none_is_named_and_a_right_one_then_works(
    talk: Talk, asked: object
) -> None:
    params = {} if asked is ... else {"protocolVersion": asked}

    answer = talk.call("initialize", params)

    assert answer["error"]["code"] == -32602
    assert "protocolVersion" in answer["error"]["message"]
    early = talk.call("session/new", {"cwd": str(talk.folder), "mcpServers": []})
    assert early["error"]["code"] == -32600
    assert talk.initialize()["protocolVersion"] == 1


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"clientCapabilities": None},
        {"clientCapabilities": 7},
        {"clientCapabilities": []},
        {"clientCapabilities": {"fs": 7, "terminal": "yes", "auth": [], "elicitation": {}}},
        {"clientCapabilities": {"_meta": {"x": 1}, "later": {"deep": [1]}}},
        {"clientInfo": None},
        {"clientInfo": "editor"},
        {"clientInfo": {"name": 7}},
        {"_meta": {"trace": "x"}},
        {"_meta": None},
    ],
    ids=repr,
)
def test_i04_i05_only_the_version_is_strict(shared: Talk, members: dict[str, Any]) -> None:
    answer = shared.call("initialize", {"protocolVersion": 1, **members})

    assert answer["result"]["protocolVersion"] == 1


def test_i06_i09_i12_what_the_agent_says_about_itself(talk: Talk) -> None:
    result = talk.initialize()

    assert result["agentInfo"]["name"] == talk.kind.name
    assert result["agentInfo"]["version"]
    assert result["authMethods"] == []
    offered = result["agentCapabilities"]
    assert offered["loadSession"] is (talk.kind.reopen == "session/load")
    markers = offered.get("sessionCapabilities", {})
    assert ("resume" in markers) == (talk.kind.reopen == "session/resume")
    assert all(isinstance(marker, dict) for marker in markers.values())
    taken = {name for name, offer in offered["promptCapabilities"].items() if offer}
    named = {"image": "image", "audio": "audio", "embeddedContext": "resource"}
    assert {named[name] for name in taken} == talk.kind.blocks


@pytest.mark.parametrize("method", ["session/new", "session/resume", "session/prompt", "no/such"])
def test_i07_nothing_is_served_before_initialize(talk: Talk, method: str) -> None:
    params = {"cwd": str(talk.folder), "mcpServers": [], "sessionId": "x", "prompt": []}

    assert talk.call(method, params)["error"]["code"] == -32600
    assert talk.call("session/cancel", params)["error"]["code"] == -32600

    talk.open()
    assert talk.turn(talk.kind.quick).stop_reason == "end_turn"


def test_i08_initialize_may_come_again_and_sessions_stay(talk: Talk) -> None:
    talk.open()
    first = talk.initialize()

    assert talk.initialize() == first
    assert talk.turn(talk.kind.quick).stop_reason == "end_turn"


def test_i10_nothing_comes_before_the_answer_to_initialize(talk: Talk) -> None:
    request_id = talk.request("initialize", HELLO)

    assert talk.next()["id"] == request_id
    assert talk.exchange(b"") == []
