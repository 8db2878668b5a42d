"""A client that gets out of the way: raw pipes, one thread, answers with the time they arrived."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from types import TracebackType

    from bench.peers import Agent

CHUNK = 1 << 16


class AgentError(Exception):
    """The agent ended, or did not answer in time; the text has its last words."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A response and when its last byte was read (perf_counter seconds)."""

    at: float
    message: dict[str, Any]

    @property
    def result(self) -> dict[str, Any]:
        """What was answered.

        Raises:
            AgentError: It is an error.

        """
        if "result" not in self.message:
            message = f"answered with {str(self.message)[:300]}"
            raise AgentError(message)
        result: dict[str, Any] = self.message["result"]
        return result


class Client:
    """One spawned agent.  ``started`` is the time just before it was."""

    def __init__(self, agent: Agent, cwd: Path) -> None:
        self._agent = agent
        self._cwd = cwd
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `close`
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            agent.command,
            cwd=cwd,
            env=agent.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            bufsize=0,
            start_new_session=True,
        )
        assert self.process.stdin is not None  # for the type checkers: both were asked for
        assert self.process.stdout is not None
        self._in = self.process.stdin.fileno()
        self._out = self.process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._unsent = memoryview(b"")
        self._partial = b""
        self._answers: dict[int, Answer] = {}
        self._errors: list[Answer] = []
        self._next_id = 0
        self.updates = 0
        """Lines that are session updates, so far."""
        self.first_chunk: float | None = None
        """When the first piece of an answer came (perf_counter seconds) since this was None."""
        self.keep: list[bytes] | None = None
        """Where whole lines are kept, if somebody wants them."""

    def __enter__(self) -> Self:
        """Use as a context: the agent ends with it."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the agent."""
        self.close()

    @property
    def pid(self) -> int:
        """The agent's process."""
        return self.process.pid

    def request(self, method: str, params: dict[str, Any]) -> int:
        """Queue a request and return its id; `answer` sends it."""
        self._next_id += 1
        self.queue([{"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params}])
        return self._next_id

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Queue a notification."""
        self.queue([{"jsonrpc": "2.0", "method": method, "params": params}])

    def queue(self, messages: Sequence[dict[str, Any]]) -> None:
        """Queue messages behind what is not sent yet."""
        lines = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
        self.queue_raw(lines)

    def queue_raw(self, data: bytes) -> None:
        """Queue bytes as they are."""
        self._unsent = memoryview(bytes(self._unsent) + data) if self._unsent else memoryview(data)

    def flush(self) -> float:
        """Send all that is queued, reading meanwhile; return when the last byte was taken."""
        self._pump(lambda: not self._unsent)
        return time.perf_counter()

    def answer(self, request_id: int) -> Answer:
        """Send what is queued and wait for the answer to ``request_id``."""
        self._pump(lambda: request_id in self._answers)
        return self._answers.pop(request_id)

    def error(self) -> Answer:
        """Send what is queued and wait for an error that has no id."""
        self._pump(lambda: bool(self._errors))
        return self._errors.pop(0)

    def wait_for_updates(self, count: int) -> None:
        """Wait until at least ``count`` updates have arrived in all."""
        self._pump(lambda: self.updates >= count)

    def wait_for_text(self, text: str) -> None:
        """Wait until a line with ``text`` arrives; earlier lines do not count."""
        kept: list[bytes] = []
        self.keep = kept
        self._pump(lambda: any(text.encode() in whole for whole in kept))
        self.keep = None

    def initialize(self) -> Answer:
        """Shake hands."""
        params: dict[str, Any] = {"protocolVersion": 1, "clientCapabilities": {}}
        return self.answer(self.request("initialize", params))

    def new_session(self) -> tuple[str, float]:
        """Open a session; return its id and when it was answered."""
        params: dict[str, Any] = {"cwd": str(self._cwd), "mcpServers": []}
        answer = self.answer(self.request("session/new", params))
        return answer.result["sessionId"], answer.at

    def load_session(self, session_id: str) -> Answer:
        """Load a session; its replay counts as updates."""
        params: dict[str, Any] = {
            "sessionId": session_id,
            "cwd": str(self._cwd),
            "mcpServers": [],
        }
        return self.answer(self.request("session/load", params))

    def prompt(self, session_id: str, text: str) -> int:
        """Queue a prompt of one text block."""
        block = {"type": "text", "text": text}
        return self.request("session/prompt", {"sessionId": session_id, "prompt": [block]})

    def close(self) -> None:
        """Close the agent's input and make sure that it ends, with all that it started."""
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self._stderr.close()

    def _pump(self, done: Callable[[], bool]) -> None:
        """Write and read until ``done``."""
        deadline = time.perf_counter() + self._agent.patience_s
        poll = select.poll()
        poll.register(self._out, select.POLLIN)
        while not done():
            if self._unsent:
                poll.register(self._in, select.POLLOUT)
            ready = dict(poll.poll(max(0, deadline - time.perf_counter()) * 1000))
            if not ready:
                raise AgentError(self._last_words(f"no answer in {self._agent.patience_s} s"))
            if self._in in ready:
                self._write()
                if not self._unsent:
                    poll.unregister(self._in)
            if self._out in ready:
                self._read()

    def _write(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._in, self._unsent) :]
        except BrokenPipeError:
            raise AgentError(self._last_words("closed its input")) from None

    def _read(self) -> None:
        chunk = os.read(self._out, CHUNK)
        now = time.perf_counter()
        if not chunk:
            raise AgentError(self._last_words("ended"))
        whole, newline, self._partial = (self._partial + chunk).rpartition(b"\n")
        if not newline:
            return
        self.updates += whole.count(b'"session/update"')
        if self.first_chunk is None and b'"agent_message_chunk"' in whole:
            self.first_chunk = now
        if self.keep is not None:
            self.keep.append(whole)
        if b'"id":' in whole:
            self._look_for_answers(whole, now)

    def _look_for_answers(self, whole: bytes, now: float) -> None:
        for line in whole.split(b"\n"):
            if b'"id":' not in line:
                continue
            message = json.loads(line)
            if message.get("id") is not None:
                self._answers[message["id"]] = Answer(now, message)
            elif "error" in message:
                self._errors.append(Answer(now, message))

    def _last_words(self, what: str) -> str:
        self._stderr.seek(0)
        said = self._stderr.read()[-600:].decode("utf-8", "replace").strip()
        return f"{self._agent.name}: {what}; stderr: {said or 'empty'}"
