"""Two small ACP clients: one that trusts its agent, and one that does not.

Each runs one prompt and says how it ended.  They use the standard library only.
"""

from __future__ import annotations

import json
import queue
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess


@dataclass
class Turn:
    """What a client shows of one turn."""

    how: str = ""
    """The stop reason, or why there is none."""
    steps: dict[str, str] = field(default_factory=dict)
    """Tool calls and their last status."""
    strange: int = 0
    """Lines that were no message."""


class NaiveClient:
    """Believes that every line is a message and that every answer comes."""

    def __init__(self, agent: subprocess.Popen[bytes]) -> None:
        self.agent = agent
        self.turn = Turn()
        self.last_id = 0

    def run(self, folder: str, prompt: str) -> Turn:
        self.call("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        new = self.call("session/new", {"cwd": folder, "mcpServers": []})
        words = [{"type": "text", "text": prompt}]
        done = self.call("session/prompt", {"sessionId": new["sessionId"], "prompt": words})
        self.turn.how = done["stopReason"]
        return self.turn

    def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.last_id += 1
        request = {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}
        self.agent.stdin.write(json.dumps(request).encode() + b"\n")
        self.agent.stdin.flush()
        while True:
            message = json.loads(self.next_line())
            if message.get("id") == self.last_id:
                return message["result"]
            self.show(message)

    def next_line(self) -> bytes:
        return self.agent.stdout.readline()

    def show(self, message: dict[str, Any]) -> None:
        update = message["params"]["update"]
        if update["sessionUpdate"] in {"tool_call", "tool_call_update"}:
            self.turn.steps[update["toolCallId"]] = update.get("status", "pending")


class Gone(Exception):
    """There will be no answer."""


class CarefulClient(NaiveClient):
    """Gives up on silence, passes over lines that are no message, and notes an agent's death."""

    patience_s = 30.0
    """What an agent gets from one line to the next."""

    def __init__(self, agent: subprocess.Popen[bytes]) -> None:
        super().__init__(agent)
        self.lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> None:
        for line in self.agent.stdout:
            self.lines.put(line)
        self.lines.put(b"")

    def run(self, folder: str, prompt: str) -> Turn:
        try:
            return super().run(folder, prompt)
        except Gone as gone:
            self.turn.how = str(gone)
            return self.turn

    def next_line(self) -> bytes:
        while True:
            try:
                line = self.lines.get(timeout=self.patience_s)
            except queue.Empty:
                raise Gone("silent") from None
            if not line:
                raise Gone(f"dead, exit code {self.agent.wait()}")
            if is_message(line):
                return line
            self.turn.strange += 1


def is_message(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
