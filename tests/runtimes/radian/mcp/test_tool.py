"""A tool of a server, as the engine prepares its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from runtimes.radian.mcp.listing import Listed
from runtimes.radian.mcp.tool import McpTool
from runtimes.radian.permissions import Allow, Ask, Deny, GrantKey, decide
from runtimes.radian.rules import parse_rules
from runtimes.radian.tools.base import Prepared, ToolOutcome, prepare
from tests.runtimes.radian.mcp.serving import Running, stub

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runtimes.radian.profiles import ProfileName

CONTEXT: Any = None
"""No call looks at it before it runs."""
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    with Running(tmp_path, stub("my/db")) as servers:
        servers.ready()
        yield servers


def tool(running: Running, *, reads_only: bool = False) -> McpTool:
    server = next(iter(running.servers.tools().values())).server
    listed = Listed("mcp__my_db__q", "q", "Query\x1b[0m", "Asks.", SCHEMA, reads_only)
    return McpTool(server, listed, str)


def call(made: McpTool, arguments: str) -> Prepared | ToolOutcome:
    return prepare({made.name: made}, made.name, arguments, CONTEXT)


def test_a_call_is_shown_under_its_server_and_asked_for_by_server_and_tool(
    running: Running,
) -> None:
    made = tool(running)

    ready = call(made, '{"text": "hi", "more": null}')

    assert isinstance(ready, Prepared)
    assert ready.input == {"text": "hi", "more": None}
    assert ready.view.title == "my/db: Query\ufffd[0m"
    assert (ready.request.tool, ready.request.target) == ("mcp", "my_db/q")
    assert ready.request.grant == GrantKey("mcp", "my_db/q", "my_db/q (MCP)")
    assert made.offered.schema is SCHEMA


@pytest.mark.parametrize("arguments", ["[1]", '"text"', "null", "", "{"])
def test_arguments_must_be_an_object_and_the_server_judges_the_rest(
    running: Running, arguments: str
) -> None:
    refused = call(tool(running), arguments)

    assert isinstance(refused, ToolOutcome)
    assert refused.reason == "invalid arguments"
    assert isinstance(call(tool(running), "{}"), Prepared)


@pytest.mark.parametrize(
    ("profile", "reads_only", "rules", "decided"),
    [
        ("workspace", False, (), Ask),
        ("workspace", True, (), Ask),
        ("read-only", True, (), Ask),
        ("read-only", False, (), Deny),
        ("full", False, (), Allow),
        ("workspace", False, ("mcp(my_db/*)",), Allow),
        ("workspace", False, ("mcp(my_db/q)",), Allow),
        ("workspace", False, ("mcp(my/*)",), Ask),
        ("workspace", False, ("mcp",), Allow),
    ],
)
def test_profiles_and_rules_decide(
    running: Running,
    profile: ProfileName,
    *,
    reads_only: bool,
    rules: tuple[str, ...],
    decided: type,
) -> None:
    ready = call(tool(running, reads_only=reads_only), "{}")
    assert isinstance(ready, Prepared)
    allowed = parse_rules(rules, (), "flag", workspace="/w", home="/h")

    assert type(decide(ready.request, allowed, frozenset(), profile)) is decided


def test_a_grant_is_for_one_tool_of_one_server(running: Running) -> None:
    ready = call(tool(running), "{}")
    assert isinstance(ready, Prepared)
    nothing = parse_rules((), (), "flag", workspace="/w", home="/h")
    other = frozenset({GrantKey("mcp", "my_db/r")})

    assert isinstance(decide(ready.request, nothing, other, "workspace"), Ask)
    granted = frozenset({GrantKey("mcp", "my_db/q")})
    assert isinstance(decide(ready.request, nothing, granted, "workspace"), Allow)
