"""A server on the official SDK, run by a Python that has it; its first argument is a folder."""

# mypy: ignore-errors
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import sys
from pathlib import Path

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image

FOLDER = Path(sys.argv[1])
server = MCPServer("judge")


@server.tool(annotations={"readOnlyHint": True})
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def fail() -> str:
    """Fail."""
    message = "no such luck"
    raise ValueError(message)


@server.tool()
def picture() -> list:
    """Return text and a picture."""
    return ["see", Image(data=b"\x89PNG" + b"0" * 8, format="png")]


@server.tool()
async def talk(context: Context) -> str:
    """Report progress and log, then answer."""
    for at in range(20):
        await context.report_progress(at, 20)
        await context.info(f"step {at}")
    return "done"


@server.tool()
async def ask(context: Context) -> str:
    """Ask for the person's folders, which we can, and for a model, which we can't."""
    roots = await context.session.list_roots()
    return str(roots.roots[0].uri)


@server.tool()
async def sleep() -> str:
    """Sleep until somebody cancels, and leave word of both."""
    (FOLDER / "sleeping").touch()
    try:
        await anyio.sleep(300)
    except BaseException:
        (FOLDER / "cancelled").touch()
        raise
    return "slept"


@server.tool()
async def grow(context: Context) -> str:
    """Get another tool."""
    server.add_tool(add, name="later")
    await context.session.send_tool_list_changed()
    return "grown"


if __name__ == "__main__":
    server.run()
