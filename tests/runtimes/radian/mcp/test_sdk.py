"""Servers of the official SDK, which nobody here wrote, judge our side of the protocol."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from runtimes.radian.mcp.connection import RequestCancelled
from runtimes.radian.mcp.content import Said, read_content
from runtimes.radian.mcp.specs import ServerSpec
from tests.runtimes.radian.mcp.serving import WAIT_S, Running
from tests.shared import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PYTHON = ROOT / ".venv" / "mcp" / "bin" / "python"
SERVER = ROOT / "tests" / "runtimes" / "radian" / "mcp" / "sdk_server.py"

pytestmark = pytest.mark.skipif(
    not PYTHON.exists(), reason="the official MCP SDK is not installed: make judges"
)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    spec = ServerSpec("db", str(PYTHON), (str(SERVER), str(tmp_path)))
    with Running(tmp_path, spec) as servers:
        assert servers.ready()
        yield servers
    assert servers.told == []


def said(running: Running, name: str, **values: Any) -> Said:
    return read_content(running.call(name, **values))


def test_tools_are_listed_with_their_schemas_and_hints(running: Running) -> None:
    tools = {tool.name: tool for tool in running.servers.offered()}

    assert tools["mcp__db__add"].description == "Add two numbers."
    assert tools["mcp__db__add"].schema["required"] == ["a", "b"]
    assert running.tool("mcp__db__add").reads_only
    assert not running.tool("mcp__db__fail").reads_only


def test_calls_are_answered_in_every_way_that_it_has(running: Running) -> None:
    assert said(running, "add", a=1, b=2) == Said("3")
    assert said(running, "fail").failed
    assert said(running, "add", a="x").failed
    assert said(running, "picture") == Said("see\n[image: image/png, 12 bytes]")
    assert said(running, "talk") == Said("done")


def test_a_tool_that_is_not_there_is_an_error_in_words(running: Running) -> None:
    server = running.tool("mcp__db__add").server

    try:
        answer = read_content(server.call("nothing", {}, running.cancel())).text
    except Exception as error:  # noqa: BLE001 - which of both it is has changed between versions
        answer = str(error)

    assert "nothing" in answer


def test_it_is_told_where_we_work(running: Running, tmp_path: Path) -> None:
    assert said(running, "ask").text == f"file://{tmp_path}"


def test_a_cancel_reaches_the_tool_itself(running: Running, tmp_path: Path) -> None:
    cancel = running.cancel()
    ended: list[Exception] = []

    def call() -> None:
        try:
            running.call("sleep", cancel)
        except RequestCancelled as error:
            ended.append(error)

    calling = threading.Thread(target=call)
    calling.start()
    while not (tmp_path / "sleeping").exists():
        said(running, "add", a=1, b=1)

    cancel.set()

    calling.join(WAIT_S)
    assert len(ended) == 1
    while not (tmp_path / "cancelled").exists():
        said(running, "add", a=1, b=1)


def test_a_tool_that_it_adds_is_offered(running: Running) -> None:
    said(running, "grow")
    while "mcp__db__later" not in [tool.name for tool in running.servers.offered()]:
        said(running, "add", a=1, b=1)

    assert said(running, "later", a=2, b=3) == Said("5")
