"""One `chant acp` under load: what it is told, what it says, and what it costs."""

from __future__ import annotations

import json
import os
import select
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.scripts import script

if TYPE_CHECKING:
    from collections.abc import Iterator

END_S = 30.0
TOKEN = "CHANTRY_SOAK"
"""A variable that every process of a soak has; its value names the soak."""


class Cost(NamedTuple):
    """What a server takes up."""

    memory_kib: int
    descriptors: int
    threads: int


class Agent:
    """A server and its one session."""

    def __init__(self, folder: Path, token: str) -> None:
        """Start it and shake hands."""
        self.process = subprocess.Popen(
            [script("chant"), "acp"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, TOKEN: token},
        )
        self._ids = 0
        self._request("initialize", protocolVersion=1, clientCapabilities={})
        opened = self._request("session/new", cwd=str(folder), mcpServers=[])
        self._session = opened["result"]["sessionId"]

    def prompt(self, text: str) -> Iterator[dict[str, Any]]:
        """Send a prompt and yield what comes, its answer last; ends early when the server does."""
        block = {"type": "text", "text": text}
        sent = self._send("session/prompt", sessionId=self._session, prompt=[block])
        while message := self._read():
            yield message
            if message.get("id") == sent:
                return

    def end(self) -> int:
        """End the input and wait for the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self._gone()

    def kill(self) -> None:
        """End it as the kernel's out-of-memory killer would."""
        self.process.kill()
        self._gone()

    def guardian(self) -> int | None:
        """Return the process that looks after the steps, None before the first step."""
        for pid in _children(self.process.pid):
            if b"guardian_main" in _bytes(pid, "cmdline"):
                return pid
        return None

    def cost(self) -> Cost:
        """Measure it."""
        folder = Path("/proc", str(self.process.pid))
        fields = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
        memory = int(fields["VmRSS"].split()[0])
        return Cost(memory, len(os.listdir(folder / "fd")), int(fields["Threads"]))

    def _gone(self) -> int:
        code = self.process.wait(END_S)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        return code

    def _request(self, method: str, **params: Any) -> dict[str, Any]:
        sent = self._send(method, **params)
        while (message := self._read()).get("id") != sent:
            pass
        return message

    def _send(self, method: str, **params: Any) -> int:
        assert self.process.stdin is not None
        self._ids += 1
        message = {"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return self._ids

    def _read(self) -> dict[str, Any]:
        """Return the next message; empty when the server has gone, perhaps in mid-line."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        message: dict[str, Any] = json.loads(line) if line.endswith(b"\n") else {}
        return message


def left_alive(token: str) -> list[int]:
    """Return the processes of a soak that are still there."""
    mark = f"{TOKEN}={token}".encode()
    numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in numbers if mark in _bytes(pid, "environ").split(b"\0")]


def ends(pid: int, patience_s: float) -> bool:
    """Wait for the end of a process, at most so long; False if it took longer."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], patience_s)[0])
    finally:
        os.close(handle)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path("/proc", str(pid), "task").iterdir():
        found += map(int, (task / "children").read_text().split())
    return found


def _bytes(pid: int, name: str) -> bytes:
    """Return a file of /proc, empty where the process has gone or is not ours."""
    try:
        return Path("/proc", str(pid), name).read_bytes()
    except OSError:
        return b""
