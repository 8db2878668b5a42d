"""Each shape that travels: a golden file, written by us exactly so, judged, and read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from protocol.acp import client_side as client
from protocol.acp.permissions import (
    CancelledOutcome,
    PermissionOption,
    Selected,
    parse_permission_outcome,
    permission_request,
)
from protocol.acp.prompts import (
    Audio,
    EmbeddedResource,
    Image,
    Prompt,
    ResourceLink,
    Text,
    parse_prompt,
    prompt_result,
)
from protocol.acp.seen import SessionUpdate, parse_session_update
from protocol.acp.sessions import (
    CancelSession,
    LoadSession,
    NewSession,
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
from protocol.acp.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    AvailableCommand,
    AvailableCommands,
    Cost,
    Location,
    PlanEntry,
    PlanUpdate,
    ToolCall,
    ToolCallUpdate,
    ToolDiff,
    ToolText,
    Update,
    UsageUpdate,
    UserMessageChunk,
    encode_update,
)
from protocol.errors import (
    InternalError,
    InvalidParams,
    InvalidRequest,
    MethodNotFound,
    ProtocolError,
    SessionNotFound,
    line_too_long,
)
from protocol.framing import MAX_LINE_BYTES
from protocol.handshake import (
    AgentCapabilities,
    AgentInfo,
    ClientCapabilities,
    InitializeParams,
    initialize_result,
    parse_initialize,
)
from protocol.jsonrpc import (
    Failure,
    Notification,
    Request,
    RequestId,
    Result,
    decode,
    encode_error,
    encode_notification,
    encode_request,
    encode_result,
)
from tests.protocol.judge import judge_call, judge_error, judge_result

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDEN = Path(__file__).parent / "golden"


class Shape(NamedTuple):
    """A line of ours, how the receiver reads its body, and what it must find there."""

    line: bytes
    read: Callable[[Any], object]
    found: object
    answers: str | None = None
    """The method of the request that a result belongs to."""


def asked(
    method: str, params: dict[str, Any], read: Callable[[Any], object], found: object
) -> Shape:
    return Shape(encode_request(1, method, params), read, found)


def told(
    method: str, params: dict[str, Any], read: Callable[[Any], object], found: object
) -> Shape:
    return Shape(encode_notification(method, params), read, found)


def answered(method: str, value: Any, read: Callable[[Any], object], found: object) -> Shape:
    return Shape(encode_result(1, value), read, found, method)


def refused(request_id: RequestId, error: ProtocolError) -> Shape:
    failure = Failure(request_id, error.code, error.message, error.data)
    return Shape(encode_error(request_id, error), lambda body: body, failure)


def shown(update: Update) -> Shape:
    return Shape(encode_update("s-1", update), parse_session_update, SessionUpdate("s-1", update))


def read_prompt(params: Any) -> Prompt:
    return parse_prompt(params, AgentCapabilities())


def read_rich_prompt(params: Any) -> Prompt:
    return parse_prompt(params, AgentCapabilities(image=True, audio=True, embedded_context=True))


BLOCKS = (
    ({"type": "text", "text": "look at"}, Text("look at")),
    (
        {
            "type": "resource_link", "uri": "file:///box/a", "name": "a", "title": "A",
            "description": "the first", "mimeType": "text/plain", "size": 3,
        },
        ResourceLink("file:///box/a", "a", "A", "the first", "text/plain", 3),
    ),
    (
        {"type": "image", "data": "AA==", "mimeType": "image/png", "uri": "file:///box/b"},
        Image("AA==", "image/png", "file:///box/b"),
    ),
    ({"type": "audio", "data": "AA==", "mimeType": "audio/wav"}, Audio("AA==", "audio/wav")),
    (
        {"type": "resource", "resource": {"uri": "file:///c", "text": "t", "mimeType": "text/x"}},
        EmbeddedResource("file:///c", text="t", mime_type="text/x"),
    ),
    (
        {"type": "resource", "resource": {"uri": "file:///d", "blob": "AA=="}},
        EmbeddedResource("file:///d", blob="AA=="),
    ),
)  # fmt: skip
"""What a client may put into a prompt, as it travels and as it is read."""
SERVERS = (
    (
        {
            "name": "db", "command": "/bin/db", "args": ["--ro"],
            "env": [{"name": "DB", "value": "box"}],
        },
        StdioServer("db", "/bin/db", ("--ro",), (("DB", "box"),)),
    ),
    (
        {
            "type": "http", "name": "far", "url": "http://127.0.0.1:1/mcp",
            "headers": [{"name": "X-Box", "value": "1"}],
        },
        RemoteServer("http", "far", "http://127.0.0.1:1/mcp", (("X-Box", "1"),)),
    ),
    (
        {"type": "sse", "name": "old", "url": "http://127.0.0.1:1/sse", "headers": []},
        RemoteServer("sse", "old", "http://127.0.0.1:1/sse"),
    ),
)  # fmt: skip
CHANT = AgentCapabilities(resume=True, meta={"chant": {"durableRequests": True}})
RADIAN = AgentCapabilities(load_session=True, image=True, embedded_context=True)
CALL = ToolCallUpdate(
    tool_call_id="call-1", title="Approve deploy", kind="execute", status="pending"
)
OPTIONS = (
    PermissionOption("allow", "Allow once", "allow_once"),
    PermissionOption("always", "Allow in this process", "allow_always"),
    PermissionOption("reject", "Reject", "reject_once"),
)

SHAPES: dict[str, Shape] = {
    "initialize.request": asked(
        "initialize",
        client.initialize_params("drive", "0.1"),
        parse_initialize,
        InitializeParams(1, ClientCapabilities(), "drive", "0.1"),
    ),
    "initialize.request.capable": asked(
        "initialize",
        {
            "protocolVersion": 2,
            "clientCapabilities": {
                "fs": {"readTextFile": True, "writeTextFile": True},
                "terminal": True,
            },
        },
        parse_initialize,
        InitializeParams(
            2, ClientCapabilities(read_text_file=True, write_text_file=True, terminal=True)
        ),
    ),
    "initialize.result.chant": answered(
        "initialize",
        initialize_result(AgentInfo("chant", "0.1", "chant operations"), CHANT),
        client.parse_initialize_result,
        client.AgentSaid(1, CHANT, AgentInfo("chant", "0.1", "chant operations")),
    ),
    "initialize.result.radian": answered(
        "initialize",
        initialize_result(AgentInfo("radian", "0.1"), RADIAN),
        client.parse_initialize_result,
        client.AgentSaid(1, RADIAN, AgentInfo("radian", "0.1")),
    ),
    "session-new.request": asked(
        "session/new", client.new_session_params("/box"), parse_new_session, NewSession("/box")
    ),
    "session-new.request.servers": asked(
        "session/new",
        {"cwd": "/box", "mcpServers": [written for written, _ in SERVERS]},
        parse_new_session,
        NewSession("/box", tuple(read for _, read in SERVERS)),
    ),
    "session-new.result": answered(
        "session/new", new_session_result("s-1"), client.parse_new_session_result, "s-1"
    ),
    "session-load.request": asked(
        "session/load",
        client.load_session_params("s-1", "/box"),
        parse_load_session,
        LoadSession("s-1", "/box"),
    ),
    "session-load.result": answered("session/load", {}, dict, {}),
    "session-resume.request": asked(
        "session/resume",
        client.resume_session_params("s-1", "/box"),
        parse_resume_session,
        ResumeSession("s-1", "/box"),
    ),
    "session-resume.result": answered("session/resume", {}, dict, {}),
    "session-prompt.request": asked(
        "session/prompt",
        client.prompt_params("s-1", "chant build"),
        read_prompt,
        Prompt("s-1", (Text("chant build"),)),
    ),
    "session-prompt.request.permission": asked(
        "session/prompt",
        client.prompt_params(
            "s-1", "chant run a", {"chant": {"permission": {"optionId": "allow"}}}
        ),
        read_prompt,
        Prompt("s-1", (Text("chant run a"),), {"chant": {"permission": {"optionId": "allow"}}}),
    ),
    "session-prompt.request.blocks": asked(
        "session/prompt",
        {"sessionId": "s-1", "prompt": [written for written, _ in BLOCKS]},
        read_rich_prompt,
        Prompt("s-1", tuple(read for _, read in BLOCKS)),
    ),
    "session-prompt.result": answered(
        "session/prompt",
        prompt_result("end_turn"),
        client.parse_prompt_result,
        client.PromptAnswer("end_turn"),
    ),
    "session-prompt.result.meta": answered(
        "session/prompt",
        prompt_result("end_turn", {"chant": {"state": "waiting"}}),
        client.parse_prompt_result,
        client.PromptAnswer("end_turn", {"chant": {"state": "waiting"}}),
    ),
    "session-cancel": told(
        "session/cancel", client.cancel_params("s-1"), parse_cancel, CancelSession("s-1")
    ),
    "cancel-request": told(
        "$/cancel_request", client.cancel_request_params(7), parse_cancel_request, 7
    ),
    "permission.request": asked(
        "session/request_permission",
        permission_request("s-1", CALL, OPTIONS, {"chant": {"gate": "window"}}),
        client.parse_permission_request,
        client.PermissionQuestion("s-1", CALL, OPTIONS, {"chant": {"gate": "window"}}),
    ),
    "permission.result.selected": answered(
        "session/request_permission",
        client.selected_outcome("allow"),
        parse_permission_outcome,
        Selected("allow"),
    ),
    "permission.result.cancelled": answered(
        "session/request_permission",
        client.cancelled_outcome(),
        parse_permission_outcome,
        CancelledOutcome(),
    ),
    "update.agent-message-chunk": shown(
        AgentMessageChunk("line one\nline two \u2028 \U0001f600", "m-1")
    ),
    "update.agent-thought-chunk": shown(AgentThoughtChunk("hm", "m-2")),
    "update.user-message-chunk": shown(UserMessageChunk("chant build", "m-3")),
    "update.tool-call": shown(
        ToolCall(
            tool_call_id="call-1",
            title="Deploy / copy",
            kind="execute",
            status="pending",
            raw_input={"from": "/box/a", "to": "/box/b"},
        )
    ),
    "update.tool-call.full": shown(
        ToolCall(
            tool_call_id="call-2",
            title="Edit a file",
            kind="edit",
            status="completed",
            raw_input=["any", 1, None],
            raw_output="done",
            content=(
                ToolText("changed"),
                ToolDiff("/box/a", "old", "new"),
                ToolDiff("/b", None, ""),
            ),
            locations=(Location("/box/a", 3), Location("/box/b")),
            meta={"radian": {"cached": True}},
        )
    ),
    "update.tool-call-update": shown(ToolCallUpdate(tool_call_id="call-1", status="in_progress")),
    "update.tool-call-update.settled": shown(
        ToolCallUpdate(
            tool_call_id="call-1",
            status="failed",
            raw_output={"status": "failed", "exitCode": 2},
            content=(ToolText("exit code 2"),),
        )
    ),
    "update.plan": shown(
        PlanUpdate((PlanEntry("Build", "high", "completed"), PlanEntry("Deploy")))
    ),
    "update.available-commands": shown(
        AvailableCommands(
            (
                AvailableCommand("run", "Run an Op", "NAME [--env ENV]"),
                AvailableCommand("list", "List"),
            )
        )
    ),
    "update.usage": shown(UsageUpdate(1200, 200_000)),
    "update.usage.cost": shown(UsageUpdate(1200, 200_000, Cost(0.0125, "USD"))),
    "error.parse": refused(None, line_too_long(MAX_LINE_BYTES)),
    "error.invalid-request": refused("a", InvalidRequest("initialize comes first")),
    "error.method-not-found": refused(0, MethodNotFound("session/fork")),
    "error.invalid-params": refused(2**53 + 1, InvalidParams("cwd must be an absolute path")),
    "error.session-not-found": refused(4, SessionNotFound("no-such")),
    "error.internal": refused(5, InternalError()),
}


def golden(name: str) -> dict[str, Any]:
    message: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))
    return message


def test_every_golden_file_has_its_shape_and_every_shape_its_file() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(SHAPES)


@pytest.mark.parametrize("name", SHAPES)
def test_we_write_the_golden_message(name: str) -> None:
    assert json.loads(SHAPES[name].line) == golden(name)


@pytest.mark.parametrize("name", SHAPES)
def test_the_golden_message_passes_the_schema_without_a_stray_member(name: str) -> None:
    message, answers = golden(name), SHAPES[name].answers

    if "method" in message:
        judge_call(message)
    elif "error" in message:
        judge_error(message)
    else:
        assert answers is not None
        judge_result(answers, message)


@pytest.mark.parametrize("name", SHAPES)
def test_the_golden_message_is_read_back_as_the_values_it_was_made_of(name: str) -> None:
    message, shape = decode(json.dumps(golden(name)).encode()), SHAPES[name]

    match message:
        case Request() | Notification():
            assert shape.read(message.params) == shape.found
        case Result():
            assert shape.read(message.value) == shape.found
        case _:
            assert shape.read(message) == shape.found
