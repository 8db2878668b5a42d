from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from protocol.acp.sessions import (
    CancelSession,
    LoadSession,
    NewSession,
    OtherServer,
    RemoteServer,
    ResumeSession,
    StdioServer,
    new_session_result,
    parse_cancel,
    parse_cancel_request,
    parse_load_session,
    parse_new_session,
    parse_resume_session,
)
from protocol.errors import InvalidParams
from tests.protocol.json_values import VALUES

if TYPE_CHECKING:
    from collections.abc import Callable

    from protocol.jsonrpc import RequestId

OPENERS = (parse_new_session, parse_load_session, parse_resume_session)


def test_sessions_are_read() -> None:
    params = {"sessionId": "s", "cwd": "/box", "mcpServers": [], "_meta": {"a": 1}}

    assert parse_new_session(params) == NewSession("/box", (), {"a": 1})
    assert parse_load_session(params) == LoadSession("s", "/box", (), {"a": 1})
    assert parse_resume_session(params) == ResumeSession("s", "/box", (), {"a": 1})


@pytest.mark.parametrize("parse", OPENERS)
@pytest.mark.parametrize(
    "cwd", ["", ".", "box", "./box", "~", "C:\\box", 1, None, [], "/box\0/x", "\0"]
)
def test_a_cwd_that_is_no_absolute_path_is_refused_by_name(
    parse: Callable[[dict[str, Any]], object], cwd: object
) -> None:
    with pytest.raises(InvalidParams, match="cwd"):
        parse({"sessionId": "s", "cwd": cwd, "mcpServers": []})


@pytest.mark.parametrize("parse", OPENERS)
def test_an_absent_cwd_is_refused_by_name(parse: Callable[[dict[str, Any]], object]) -> None:
    with pytest.raises(InvalidParams, match="cwd is missing"):
        parse({"sessionId": "s", "mcpServers": []})


@pytest.mark.parametrize("parse", [parse_load_session, parse_resume_session, parse_cancel])
@pytest.mark.parametrize("members", [{}, {"sessionId": None}, {"sessionId": 1}, {"sessionId": []}])
def test_a_session_id_that_is_no_text_is_refused_by_name(
    parse: Callable[[dict[str, Any]], object], members: dict[str, Any]
) -> None:
    with pytest.raises(InvalidParams, match="sessionId"):
        parse({"cwd": "/box", **members})


def test_an_id_that_looks_like_a_path_is_only_text() -> None:
    params = {"sessionId": "../../etc/passwd", "cwd": "/box"}

    assert parse_resume_session(params).session_id == "../../etc/passwd"


def test_each_kind_of_mcp_server_is_read() -> None:
    pair = {"name": "N", "value": "V", "_meta": None}
    servers = [
        {"name": "a", "command": "/bin/a", "args": ["-x"], "env": [pair]},
        {"name": "b", "command": "b"},
        {"type": "stdio", "name": "c", "command": "c", "args": [], "env": []},
        {"type": "http", "name": "d", "url": "http://d", "headers": [pair]},
        {"type": "sse", "name": "e", "url": "http://e", "headers": []},
        {"type": "acp", "name": "f", "id": "1"},
    ]

    assert parse_new_session({"cwd": "/", "mcpServers": servers}).mcp_servers == (
        StdioServer("a", "/bin/a", ("-x",), (("N", "V"),)),
        StdioServer("b", "b"),
        StdioServer("c", "c"),
        RemoteServer("http", "d", "http://d", (("N", "V"),)),
        RemoteServer("sse", "e", "http://e"),
        OtherServer("acp", "f"),
    )


@pytest.mark.parametrize(
    "server",
    [
        None,
        "server",
        [],
        {},
        {"name": 1, "command": "x"},
        {"name": "a"},
        {"name": "a", "command": 1},
        {"name": "a", "command": "x", "args": "y"},
        {"name": "a", "command": "x", "args": [1]},
        {"name": "a", "command": "x", "args": None},
        {"name": "a", "command": "x", "env": {"A": "B"}},
        {"name": "a", "command": "x", "env": [["A", "B"]]},
        {"name": "a", "command": "x", "env": [{"name": "A"}]},
        {"type": 1, "name": "a", "command": "x"},
        {"type": "http", "name": "a"},
        {"type": "sse", "name": "a", "url": "u", "headers": [{"name": "A", "value": 1}]},
    ],
)
def test_a_malformed_mcp_server_is_skipped_and_the_next_is_read(server: object) -> None:
    servers = [server, {"name": "b", "command": "b"}]

    assert parse_new_session({"cwd": "/", "mcpServers": servers}).mcp_servers == (
        StdioServer("b", "b"),
    )


@pytest.mark.parametrize(
    "members", [{}, {"mcpServers": None}, {"mcpServers": {}}, {"mcpServers": "x"}]
)
def test_absent_and_malformed_server_lists_are_empty(members: dict[str, Any]) -> None:
    assert parse_new_session({"cwd": "/", **members}) == NewSession("/")


@settings(deadline=None)
@given(servers=VALUES, meta=VALUES, extra=VALUES)
def test_only_id_and_cwd_are_strict(servers: Any, meta: Any, extra: Any) -> None:
    params = {"sessionId": "s", "cwd": "/", "mcpServers": servers, "_meta": meta, "extra": extra}

    for parse in OPENERS:
        assert parse(params).cwd == "/"


def test_cancelling_names_the_session() -> None:
    assert parse_cancel({"sessionId": "s", "extra": 1}) == CancelSession("s")


@pytest.mark.parametrize("request_id", [0, "a", 1.5, None])
def test_cancelling_a_request_takes_any_id(request_id: RequestId) -> None:
    assert parse_cancel_request({"requestId": request_id}) == request_id


@pytest.mark.parametrize("params", [{}, {"id": "nope"}, {"requestId": []}, {"requestId": True}])
def test_cancelling_a_request_without_an_id_is_refused_by_name(params: dict[str, Any]) -> None:
    with pytest.raises(InvalidParams, match="requestId"):
        parse_cancel_request(params)


def test_a_new_session_is_answered_with_its_id() -> None:
    assert new_session_result("s") == {"sessionId": "s"}
