"""One agent as a process, driven by bytes: nothing between a test and the pipe.

All waiting has a deadline, which only guards against hanging; no test passes or fails by a clock.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import struct
import subprocess
import tempfile
import termios
import time
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, Self

from tests.e2e.processes import cpu_ticks, is_quiet, marked, wait_until_gone
from tests.e2e.referee import OUTSIDE_TURNS, Referee

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from tests.e2e.referee import Message

DEADLINE_S = 20.0
CHUNK = 1 << 16
LOOK_AGAIN_MS = 10
"""There is no event for "the pipe is full and all threads sleep": look, and look again."""
MARK = "CHANTRY_TEST_MARK"


class Hung(AssertionError):  # noqa: N818 - reads as what happened
    """Nothing came before the deadline."""


class Ended(AssertionError):  # noqa: N818
    """The agent closed its stdout while something was expected of it."""


class Wire:
    """One agent process.  Use as a context: nothing of it survives the block."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str] | None = None,
        stdin: int = subprocess.PIPE,
        stdout: int = subprocess.PIPE,
        stderr: int | None = None,
    ) -> None:
        self.mark = f"mark-{os.urandom(8).hex()}"
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed in __exit__
        surroundings = {**(os.environ if env is None else env), MARK: self.mark}
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            env=surroundings,
            stdin=stdin,
            stdout=stdout,
            stderr=self._stderr if stderr is None else stderr,
            bufsize=0,
        )
        self.referee = Referee()
        self.crashes = False
        """Set by a test that makes something of the agent crash: its log then has tracebacks."""
        self.ended = False
        self.raw = 0
        """Bytes read from stdout so far."""
        self._unsent = memoryview(b"")
        self._partial = bytearray()
        self._lines: list[bytes] = []
        self._next_id = 0
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if self.process.poll() is None:
                self.end_input()
                self.exit_code()
            if kind is None and not self.crashes:
                self.check_no_traceback()
        finally:
            self.process.kill()
            self.process.wait()
            for pid in marked(self.mark):
                with suppress(ProcessLookupError):  # what the agent started may end with it
                    os.kill(pid, signal.SIGKILL)
            for pipe in (self.process.stdin, self.process.stdout, self._stderr):
                if pipe is not None:
                    pipe.close()

    @property
    def pid(self) -> int:
        return self.process.pid

    # --- sending

    def send(self, data: bytes) -> None:
        """Write bytes as they are, reading meanwhile what comes."""
        self.queue(data)
        self._pump(lambda: not self._unsent, "the agent stopped reading its input")

    def queue(self, data: bytes) -> None:
        """Have bytes written with the next pump, behind what waits already."""
        self.referee.sent(data)
        self._unsent = memoryview(bytes(self._unsent) + data) if self._unsent else memoryview(data)

    def send_without_reading(self, data: bytes) -> None:
        """Write bytes while the agent's output stays in its pipe; must fit into the other pipe."""
        self.referee.sent(data)
        assert self.process.stdin is not None
        assert os.write(self.process.stdin.fileno(), data) == len(data)

    def request(self, method: str, params: object = None) -> int:
        """Send a request and return its id."""
        self._next_id += 1
        self.send(line(id=self._next_id, method=method, params=params or {}))
        return self._next_id

    def notify(self, method: str, params: object = None) -> None:
        self.send(line(method=method, params=params or {}))

    def end_input(self) -> None:
        """Close the agent's stdin."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self._unsent = memoryview(b"")

    def stop_reading(self) -> None:
        """Close our end of the agent's stdout: from now on it writes into a broken pipe."""
        assert self.process.stdout is not None
        self.process.stdout.close()

    # --- receiving

    def next(self, deadline_s: float = DEADLINE_S) -> Message:
        """Return the next message, judged."""
        self._pump(lambda: bool(self._lines), "no message came", deadline_s)
        return self.referee.received(self._lines.pop(0))

    def until(self, wanted: Callable[[Message], bool]) -> list[Message]:
        """Collect messages up to and including the first wanted one."""
        taken = [self.next()]
        while not wanted(taken[-1]):
            taken.append(self.next())
        return taken

    def answer(self, request_id: object) -> list[Message]:
        """Collect messages up to the answer to ``request_id``."""
        return self.until(lambda message: "method" not in message and same(message, request_id))

    def call(self, method: str, params: object = None) -> Message:
        """Send a request and return its answer."""
        return self.answer(self.request(method, params))[-1]

    def exchange(self, data: bytes) -> list[Message]:
        """Send bytes and a probe; return what came before the probe's answer.

        The probe is a request of its own and shows that the agent is still usable.  News of a
        session's commands come when they come, and are left out.
        """
        self._next_id += 1
        probe = f"probe-{self._next_id}"
        self.send(data + line(id=probe, method="_test/probe", params={}))
        *before, answer = self.answer(probe)
        assert answer["error"]["code"] in {-32601, -32600}
        return [message for message in before if not is_news(message)]

    def drain(self) -> list[Message]:
        """Read to the end of stdout; a last line without an LF is dropped."""
        self._pump(lambda: self.ended, "stdout was not closed", may_end=True)
        lines, self._lines = self._lines, []
        return [self.referee.received(each) for each in lines]

    def unread(self) -> int:
        """Return how many bytes lie in the agent's stdout pipe."""
        return _in_pipe(self.process.stdout)

    def wait_until_taken(self) -> None:
        """Wait until the agent has read all that was sent."""
        until, nothing = time.monotonic() + DEADLINE_S, select.poll()
        while _in_pipe(self.process.stdin):
            assert time.monotonic() < until, "the agent stopped reading its input"
            nothing.poll(1)

    def wait_until_stalled(self) -> None:
        """Without reading, wait until the output pipe is full and all processes rest."""
        until, nothing = time.monotonic() + DEADLINE_S, select.poll()
        before = (-1, -1)
        while True:
            nothing.poll(LOOK_AGAIN_MS)
            now = (self.unread(), cpu_ticks(self.pid))
            if now[0] > CHUNK // 2 and now == before and all(map(is_quiet, self.alive())):
                return
            before = now
            if time.monotonic() > until:
                message = f"never came to rest: {now[0]} bytes unread"
                raise Hung(message)

    # --- the process

    def exit_code(self, deadline_s: float = DEADLINE_S) -> int:
        """Wait for the end of the process; what it still wrote stays unread in the pipe."""
        try:
            return self.process.wait(deadline_s)
        except subprocess.TimeoutExpired:
            message = f"still alive after {deadline_s} s; stderr: {self.stderr()[-2000:]}"
            raise Hung(message) from None

    def stderr(self) -> str:
        """Return what the agent has written to stderr so far."""
        self._stderr.seek(0)
        return self._stderr.read().decode("utf-8", "replace")

    def check_no_traceback(self) -> None:
        assert "Traceback" not in self.stderr(), self.stderr()[-4000:]

    def alive(self) -> set[int]:
        """Find every living process that the agent started, itself included."""
        return marked(self.mark)

    def wait_for_no_one(self) -> set[int]:
        """Wait until nobody is left; return who is at the deadline."""
        left: set[int] = set()
        while pids := marked(self.mark):
            left = wait_until_gone(pids, DEADLINE_S)
            if left:
                return left
        return left

    def _pump(
        self,
        done: Callable[[], bool],
        what: str,
        deadline_s: float = DEADLINE_S,
        *,
        may_end: bool = False,
    ) -> None:
        until = time.monotonic() + deadline_s
        while not done():
            if self.ended and not may_end:
                message = f"stdout ended: {what}; stderr: {self.stderr()[-2000:]}"
                raise Ended(message)
            left_s = until - time.monotonic()
            if left_s <= 0 or not self._pump_once(left_s):
                message = f"{what}; stderr: {self.stderr()[-2000:]}"
                raise Hung(message)

    def _pump_once(self, timeout_s: float) -> bool:
        assert self.process.stdout is not None
        poll = select.poll()
        poll.register(self.process.stdout, select.POLLIN)
        if self._unsent and self.process.stdin is not None:
            poll.register(self.process.stdin, select.POLLOUT)
        ready = [fd for fd, _ in poll.poll(timeout_s * 1000)]
        if self.process.stdout.fileno() in ready:
            self._read()
        elif ready:
            self._write()
        return bool(ready)

    def _read(self) -> None:
        assert self.process.stdout is not None
        data = os.read(self.process.stdout.fileno(), CHUNK)
        self.ended = not data
        self.raw += len(data)
        *ended, rest = data.split(b"\n")
        for piece in ended:
            self._lines.append(bytes(self._partial + piece))
            self._partial.clear()
        self._partial += rest

    def _write(self) -> None:
        assert self.process.stdin is not None
        try:
            size = os.write(self.process.stdin.fileno(), self._unsent)
        except BrokenPipeError:
            size = len(self._unsent)  # it ended: what it wrote before will say so
        self._unsent = self._unsent[size:]


def line(**members: Any) -> bytes:
    """Write one message as a client would."""
    return json.dumps({"jsonrpc": "2.0", **members}, separators=(",", ":")).encode() + b"\n"


def _in_pipe(pipe: IO[bytes] | None) -> int:
    """Return how many bytes lie in a pipe; either end tells."""
    assert pipe is not None
    return int(struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0\0\0\0"))[0])


def same(message: Message, request_id: object) -> bool:
    """Compare ids with their types."""
    return repr(message.get("id", ...)) == repr(request_id)


def is_news(message: Message) -> bool:
    """Tell whether a message is one that belongs to no request."""
    if message.get("method") != "session/update":
        return False
    return message["params"]["update"]["sessionUpdate"] in OUTSIDE_TURNS
