"""An MCP server that behaves, or misbehaves as its first argument says.  Standard library only.

``STUB_LOG`` names a file that gets each line it receives.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any

MODE = sys.argv[1] if len(sys.argv) > 1 else "good"
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}


def tool(name: str, **more: Any) -> dict[str, Any]:
    """Describe a tool."""
    return {"name": name, "description": f"Does {name}.", "inputSchema": TEXT, **more}


TOOLS = [
    tool("echo", annotations={"readOnlyHint": True}, title="Say it again"),
    *map(tool, ("fail", "structured", "big", "hang", "die", "env", "more", "long", "ask", "leave")),
]
SEND = threading.Lock()


def send(message: Any) -> None:
    """Write one line."""
    with SEND:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def answer(request: dict[str, Any], result: Any) -> None:
    """Answer a request."""
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})


def say(request: dict[str, Any], text: str, **more: Any) -> None:
    """Answer a call with text."""
    answer(request, {"content": [{"type": "text", "text": text}], **more})


def receive() -> dict[str, Any]:
    """Read one message; the end of input is the end."""
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    if log := os.environ.get("STUB_LOG"):
        with open(log, "a", encoding="utf-8") as stream:
            stream.write(line)
    message: dict[str, Any] = json.loads(line)
    return message


def initialize(request: dict[str, Any]) -> None:
    """Answer the handshake, or not."""
    if MODE == "exit":
        sys.stderr.write("no database here\n")
        sys.exit(3)
    if MODE == "mute":
        return
    version = "1999-01-01" if MODE == "old" else request["params"]["protocolVersion"]
    capabilities = {} if MODE == "toolless" else {"tools": {"listChanged": True}}
    info = {"name": "stub", "version": "1"}
    answer(request, {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info})


def list_tools(request: dict[str, Any]) -> None:
    """List the tools; some modes in pages, or with tools that no provider takes."""
    cursor = request.get("params", {}).get("cursor")
    if MODE == "pages":
        at = int(cursor or 0)
        page = TOOLS[at : at + 2]
        more = {"nextCursor": str(at + 2)} if at + 2 < len(TOOLS) else {}
        answer(request, {"tools": page, **more})
    elif MODE == "endless":
        answer(request, {"tools": [tool(f"t{cursor}")], "nextCursor": f"{cursor}x"})
    elif MODE == "bad-schemas":
        bad = [
            {"name": "nothing", "inputSchema": None},
            {"name": "text", "inputSchema": {"type": "string"}},
            {
                "name": "list",
                "inputSchema": {"type": "object", "properties": {"a": {"type": "array"}}},
            },
            {"inputSchema": TEXT},
            "no tool at all",
        ]
        answer(request, {"tools": [*bad, *TOOLS]})
    else:
        answer(request, {"tools": TOOLS})


def question(method: str, number: int) -> Any:
    """Ask the client something and return its answer."""
    send({"jsonrpc": "2.0", "id": f"q{number}", "method": method, "params": {}})
    return receive()


def call(request: dict[str, Any]) -> None:
    """Run a tool."""
    name, given = request["params"]["name"], request["params"].get("arguments", {})
    text = given.get("text", "")
    match name:
        case "echo":
            say(request, text)
        case "fail":
            say(request, "it did not work", isError=True)
        case "structured":
            answer(request, {"content": [], "structuredContent": {"rows": [1, 2]}})
        case "big":
            say(request, "x" * 100_000)
        case "die":
            os._exit(7)
        case "leave":
            if os.fork() == 0:
                threading.Event().wait(300)
            os._exit(0)
        case "env":
            say(request, json.dumps({**os.environ, "cwd": os.getcwd()}))
        case "more":
            TOOLS.append(tool("extra"))
            send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
            list_tools(receive())
            say(request, "there is more")
        case "long":
            say(request, "x" * (17 * 1024 * 1024))
        case "ask":
            asked = ("ping", "roots/list", "sampling/createMessage")
            say(request, json.dumps([question(each, at) for at, each in enumerate(asked)]))
        case "hang":
            pass
        case _:
            error = {"code": -32602, "message": f"no tool {name}"}
            send({"jsonrpc": "2.0", "id": request["id"], "error": error})


def flood() -> None:
    """Write progress without end."""
    while True:
        send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"x": "y" * 1000}})


def grumble() -> None:
    """Write to stderr without end."""
    while True:
        sys.stderr.write("not well at all " * 1000)


def main() -> None:
    """Serve."""
    if MODE == "garbage":
        sys.stdout.write('starting...\n\n{"status":200}\n\x1b[0m{{{\n')
        sys.stdout.write('{"jsonrpc":"2.0","id":4711,"result":{}}\n[1, 2]\n')
        sys.stdout.flush()
    if MODE == "flood":
        threading.Thread(target=flood, daemon=True).start()
    if MODE == "noisy":
        threading.Thread(target=grumble, daemon=True).start()
    if MODE == "long-line":
        sys.stdout.write("x" * (40 * 1024 * 1024) + "\n")
    if MODE == "child" and os.fork() == 0:
        threading.Event().wait(300)
    while True:
        message = receive()
        match message.get("method"):
            case "initialize":
                initialize(message)
            case "tools/list":
                list_tools(message)
            case "tools/call":
                call(message)
            case _:
                pass


if __name__ == "__main__":
    main()
