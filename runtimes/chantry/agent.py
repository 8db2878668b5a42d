"""The agent as a child process: its three pipes, its last words, and the ways to end it.

Nothing here waits: the loop polls the pipes and calls what is due.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

CHUNK_BYTES: Final = 64 * 1024
LAST_LINES: Final = 12
"""Lines of the agent's stderr that are kept for the case that it dies."""
LINE_CHARACTERS: Final = 500
"""Kept of each of those lines."""


class AgentNotStartedError(Exception):
    """The command could not be run; the text says why."""

    def __init__(self, program: str, error: OSError) -> None:
        super().__init__(f"can't start {program}: {error.strerror or error}")


class Agent:
    """A running agent.  It gets a session of its own, so our terminal's Ctrl-C stays with us."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start ``command`` in the current folder.

        Raises:
            AgentNotStartedError: There is no such program, or it can't be executed.

        """
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise AgentNotStartedError(command[0], error) from error
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        if stdin is None or stdout is None or stderr is None:
            raise AssertionError
        self._pipes = (stdin, stdout, stderr)
        self.stdin_fd, self.stdout_fd, self.stderr_fd = (pipe.fileno() for pipe in self._pipes)
        for descriptor in (self.stdin_fd, self.stdout_fd, self.stderr_fd):
            os.set_blocking(descriptor, False)
        self._outgoing = bytearray()
        self._closing = False
        self._last_words: deque[str] = deque(maxlen=LAST_LINES)

    @property
    def wants_to_write(self) -> bool:
        """Whether bytes wait for room in the agent's stdin."""
        return bool(self._outgoing)

    def send(self, data: bytes) -> None:
        """Queue bytes for the agent's stdin and write what fits."""
        if not self._pipes[0].closed and not self._closing:
            self._outgoing += data
            self.write()

    def write(self) -> None:
        """Write what fits.  A broken pipe drops the rest: the agent's end is noticed elsewhere."""
        try:
            while self._outgoing:
                written = os.write(self.stdin_fd, self._outgoing[:CHUNK_BYTES])
                del self._outgoing[:written]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._outgoing.clear()
        if self._closing:
            self._pipes[0].close()

    def read(self) -> bytes | None:
        """Read what the agent's stdout holds: b"" at its end, None when it holds nothing now."""
        return _read(self.stdout_fd)

    def read_stderr(self) -> bytes | None:
        """Read what the agent's stderr holds; as `read`."""
        return _read(self.stderr_fd)

    def heard(self, line: str) -> None:
        """Keep a line of its stderr."""
        if line.strip():
            self._last_words.append(line[:LINE_CHARACTERS])

    @property
    def last_words(self) -> tuple[str, ...]:
        """The last lines of its stderr."""
        return tuple(self._last_words)

    def exit_status(self) -> int | None:
        """How it ended: its exit code, minus the signal's number, or None while it runs."""
        return self._process.poll()

    def close_input(self) -> None:
        """Close its stdin once all is written: the polite way to end an agent."""
        self._closing = True
        if not self._pipes[0].closed:
            self.write()

    def drop_input(self) -> None:
        """Close its stdin at once, also when it never read what we sent."""
        self._outgoing.clear()
        self.close_input()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the agent and to the processes of its group."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def release(self) -> None:
        """Close our ends of the pipes.  The agent must have ended."""
        for pipe in self._pipes:
            pipe.close()


def how_it_ended(status: int) -> str:
    """Put an exit status into words."""
    if status >= 0:
        return f"exit code {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"


def _read(descriptor: int) -> bytes | None:
    try:
        return os.read(descriptor, CHUNK_BYTES)
    except BlockingIOError:
        return None
