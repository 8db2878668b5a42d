"""Getting to know a server: the handshake, and the list of its tools.  Waits for its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from runtimes.radian.mcp.connection import RequestFailed
from runtimes.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from actors.platform import Platform
    from runtimes.radian.mcp.connection import Connection

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Of the protocol, newest first: for what we use of it they are alike."""
START_LIMIT_S = 60.0
"""For all of it.  Some servers are installed by the command that starts them."""
MAX_PAGES = 50
MAX_ENTRIES = 2000
"""Of a list that is read; far fewer are offered."""


class HandshakeFailed(RequestFailed):
    """The server is none that we can use, and would be none the next time."""


def shake_hands(connection: Connection, platform: Platform) -> list[Any]:
    """Introduce ourselves and return what the server lists as its tools.

    Raises:
        RequestFailed: There is no use of it.

    """
    until = platform.monotonic() + START_LIMIT_S
    hello: dict[str, Any] = {
        "protocolVersion": VERSIONS[0],
        "capabilities": {"roots": {}},
        "clientInfo": {"name": "radian", "version": VERSION},
    }
    answer = connection.request("initialize", hello, START_LIMIT_S)
    capabilities = _capabilities(answer)
    connection.notify("notifications/initialized")
    return _pages(connection, platform, until) if "tools" in capabilities else []


def list_tools(connection: Connection, platform: Platform) -> list[Any]:
    """Read the list anew.

    Raises:
        RequestFailed: It can't be read.

    """
    return _pages(connection, platform, platform.monotonic() + START_LIMIT_S)


def _pages(connection: Connection, platform: Platform, until: float) -> list[Any]:
    found: list[Any] = []
    cursors: set[str] = set()
    params: dict[str, Any] = {}
    for _ in range(MAX_PAGES):
        answer = connection.request("tools/list", params, until - platform.monotonic())
        page = _table(answer)
        tools = page.get("tools")
        found += cast("Sequence[Any]", tools) if isinstance(tools, list) else ()
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or cursor in cursors or len(found) > MAX_ENTRIES:
            break
        cursors.add(cursor)
        params = {"cursor": cursor}
    return found[:MAX_ENTRIES]


def _capabilities(answer: Any) -> dict[str, Any]:
    table = _table(answer)
    version = table.get("protocolVersion")
    if version not in VERSIONS:
        message = f"it speaks MCP {version!r}; known are {', '.join(VERSIONS)}"
        raise HandshakeFailed(message)
    return _table(table.get("capabilities"))


def _table(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
