"""What events cost without an agent: parse a model's stream, write a line for each piece.

Called with the model's address and a prompt.  One loop, no thread, no journal, no check; lines
leave joined, as many as one read brought.
"""

import os
import socket
import sys
from urllib.parse import urlsplit

import orjson

PREFIX = b"data: "
LAST = b"data: [DONE]"


def main() -> None:
    """Ask once and write events until the answer is over."""
    address, words = urlsplit(sys.argv[1]), sys.argv[2]
    messages = [{"role": "user", "content": words}]
    body = orjson.dumps({"model": "bench", "stream": True, "messages": messages})
    connection = socket.create_connection((address.hostname or "", address.port or 80))
    head = f"POST {address.path}/chat/completions HTTP/1.1\r\nHost: {address.netloc}\r\n"
    connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    rest = b""
    while LAST not in rest and (data := connection.recv(1 << 16)):
        *lines, rest = (rest + data).split(b"\n")
        events: list[bytes] = []
        for line in lines:
            if line.startswith(LAST):
                rest = LAST
            elif line.startswith(PREFIX):
                for choice in orjson.loads(line[len(PREFIX) :])["choices"]:
                    text = choice["delta"].get("content")
                    if text:
                        event = {"type": "Text", "text": text}
                        events.append(orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE))
        os.write(1, b"".join(events))


if __name__ == "__main__":
    main()
