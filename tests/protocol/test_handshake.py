from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.errors import InvalidParams
from protocol.handshake import (
    AgentCapabilities,
    AgentInfo,
    ClientCapabilities,
    InitializeParams,
    initialize_result,
    parse_initialize,
)
from tests.protocol.json_values import VALUES

FLAGS = ("resume", "close", "list_sessions", "delete", "load_session", "image")
CAPABILITIES = st.builds(
    lambda flags: AgentCapabilities(**dict(zip(FLAGS, flags, strict=True))),
    st.tuples(*[st.booleans()] * len(FLAGS)),
)


@pytest.mark.parametrize("asked", [0, 1, 2, 99, 65535])
def test_every_version_is_answered_with_one(asked: int) -> None:
    parse_initialize({"protocolVersion": asked})

    version = initialize_result(AgentInfo("a", "1"), AgentCapabilities())["protocolVersion"]
    assert version == 1
    assert type(version) is int


@pytest.mark.parametrize(
    "asked", ["1", "2024-11-05", 1.5, 1.0, -1, 65536, 2**64, None, [], {}, True]
)
def test_a_version_that_is_no_integer_of_16_bits_is_refused_by_name(asked: object) -> None:
    with pytest.raises(InvalidParams, match="protocolVersion"):
        parse_initialize({"protocolVersion": asked})


def test_an_absent_version_is_refused_by_name() -> None:
    with pytest.raises(InvalidParams, match="protocolVersion"):
        parse_initialize({})


def test_capabilities_and_info_may_be_absent() -> None:
    assert parse_initialize({"protocolVersion": 1}) == InitializeParams(1, ClientCapabilities())


def test_all_capabilities_are_read() -> None:
    params = {
        "protocolVersion": 1,
        "clientInfo": {"name": "editor", "title": "Editor", "version": "2"},
        "clientCapabilities": {
            "fs": {"readTextFile": True, "writeTextFile": True},
            "terminal": True,
            "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
            "auth": {"terminal": True},
            "elicitation": {"form": {}, "url": {}},
            "_meta": {"x": 1},
        },
    }
    everything = ClientCapabilities(
        read_text_file=True,
        write_text_file=True,
        terminal=True,
        boolean_options=True,
        notices=True,
        compaction=True,
        terminal_auth=True,
        form_elicitation=True,
        url_elicitation=True,
        meta={"x": 1},
    )

    assert parse_initialize(params) == InitializeParams(1, everything, "editor", "2")


@pytest.mark.parametrize(
    "capabilities",
    [
        None,
        [],
        "all",
        {"fs": True},
        {"fs": {"readTextFile": "yes", "writeTextFile": 1}},
        {"terminal": {}},
        {"session": {"notices": True, "compaction": None, "configOptions": {"boolean": True}}},
        {"elicitation": {}},
        {"elicitation": {"form": True, "url": None}},
        {"auth": {"terminal": {}}},
        {"_meta": []},
        {"unknown": {"x": 1}},
    ],
)
def test_unknown_and_malformed_capabilities_count_as_absent(capabilities: object) -> None:
    params = {"protocolVersion": 1, "clientCapabilities": capabilities}

    assert parse_initialize(params).client == ClientCapabilities()


@settings(deadline=None)
@given(capabilities=VALUES, info=VALUES, extra=VALUES)
def test_only_the_version_is_strict(capabilities: Any, info: Any, extra: Any) -> None:
    params = {"clientCapabilities": capabilities, "clientInfo": info, "capabilities": extra}

    assert parse_initialize({"protocolVersion": 65535, **params}).protocol_version == 65535


@settings(deadline=None)
@given(ours=CAPABILITIES)
def test_markers_are_objects_and_never_booleans(ours: AgentCapabilities) -> None:
    result = initialize_result(AgentInfo("a", "1"), ours)

    markers = result["agentCapabilities"]["sessionCapabilities"]
    assert all(marker == {} for marker in markers.values())


def test_what_is_not_advertised_is_absent_or_false() -> None:
    assert initialize_result(AgentInfo("chant", "0.1"), AgentCapabilities(resume=True)) == {
        "protocolVersion": 1,
        "agentCapabilities": {
            "loadSession": False,
            "promptCapabilities": {"image": False, "audio": False, "embeddedContext": False},
            "mcpCapabilities": {"http": False, "sse": False},
            "sessionCapabilities": {"resume": {}},
        },
        "authMethods": [],
        "agentInfo": {"name": "chant", "version": "0.1"},
    }
