"""The ceiling: orjson and joined writes, in one loop, with no actor, gate, cancel or check.

Speaks just enough of the protocol to be measured: ``stream N SIZE`` sends N updates of SIZE
characters, 64 joined into one write; any other prompt is parsed and answered.
"""

import os

import orjson

JOINED = 64
LINE = orjson.OPT_APPEND_NEWLINE


def write(data: bytes) -> None:
    """Write all of ``data`` to standard output."""
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def stream(session_id: str, count: int, size: int) -> None:
    """Send the updates."""
    lines: list[bytes] = []
    for number in range(count):
        text = f"{number:08d} ".ljust(size, "x")
        update = {
            "sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": text},
            "messageId": "m1",
        }
        params = {"sessionId": session_id, "update": update}
        message = {"jsonrpc": "2.0", "method": "session/update", "params": params}
        lines.append(orjson.dumps(message, option=LINE))
        if len(lines) == JOINED:
            write(b"".join(lines))
            lines.clear()
    write(b"".join(lines))


def answer(line: bytes) -> None:
    """Parse one request and answer it."""
    request = orjson.loads(line)
    result: dict[str, object] = {"protocolVersion": 1, "sessionId": "ceiling"}
    if request["method"] == "session/prompt":
        words = request["params"]["prompt"][0]["text"][:100].split()
        if words and words[0] == "stream":
            stream(request["params"]["sessionId"], int(words[1]), int(words[2]))
        result = {"stopReason": "end_turn"}
    write(orjson.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}, option=LINE))


def main() -> None:
    """Read chunks, cut lines, answer each."""
    pieces: list[bytes] = []
    while chunk := os.read(0, 1 << 16):
        *ended, rest = chunk.split(b"\n")
        for end in ended:
            pieces.append(end)
            answer(b"".join(pieces))
            pieces.clear()
        if rest:
            pieces.append(rest)


if __name__ == "__main__":
    main()
