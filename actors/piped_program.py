"""A program that is talked to for as long as it lives: its stdin stays open, its words are heard.

Like a step it is the guardian's child, so nothing of it outlives us.  One pump thread writes what
was handed over and tells the listener what came; nobody else waits for the program.
"""

from __future__ import annotations

import os
import select
from typing import TYPE_CHECKING, Protocol

from actors.bell import Bell
from actors.faults import WITH_ERROR, point
from actors.guardian_link import LinkClosed
from actors.process_step import open_pipes, program_fields, shell_exit_code
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from actors.faults import Faults
    from actors.guardian import Guardian
    from actors.guardian_link import GuardianLink, Report
    from actors.platform import Platform
    from actors.work import ProcessWork, Stream

AT_START = point("piped.start", "a program that is talked to is about to be started", WITH_ERROR)
AT_WAIT = point("piped.wait", "the pump is about to wait for a program that is talked to")
AT_READ = point("piped.read", "the pump is about to read what such a program said", WITH_ERROR)
AT_WRITE = point("piped.write", "the pump is about to write to such a program", WITH_ERROR)

READ_BYTES = 65536
LAST_READ_BYTES = 1024 * 1024
"""Taken from each pipe after the program's end."""
LAST_WORD_S = 0.5
"""What a program that closed its output gets to exit by itself, so that its code is known."""
MAX_UNREAD_BYTES = 16 * 1024 * 1024
"""Handed over and not read by the program; one that is so far behind does not listen."""


class ProgramEnd(NamedTuple):
    """A program is over; ``why`` is a few words for people.  ``started``: it ever ran."""

    why: str
    started: bool


class ProgramListener(Protocol):
    """Who is told.  Called on the pump's thread; may take a while, but must not wait."""

    def heard(self, stream: Stream, data: bytes) -> None:
        """Take what the program wrote."""
        ...

    def ended(self, end: ProgramEnd) -> None:
        """Take its end: the last call, exactly once."""
        ...


class PipedProgram:
    """One program, from its start to its one `ProgramEnd`."""

    def __init__(
        self,
        work: ProcessWork,
        listener: ProgramListener,
        *,
        guardian: Guardian,
        platform: Platform,
        faults: Faults,
    ) -> None:
        """Make it; `start` runs it.

        Raises:
            OSError: There is no descriptor left.

        """
        self._work = work
        self._listener = listener
        self._guardian = guardian
        self._platform = platform
        self._faults = faults
        self._lock = platform.condition()
        self._bell = Bell(platform)
        self._outgoing = bytearray()
        self._no_more = False
        self._stdin: int | None = None
        self._pipes: dict[int, Stream] = {}
        self._silent_at: float | None = None
        """When it closed its output."""
        self._link: GuardianLink | None = None
        self._token = 0
        self._early: list[bytes] = []
        """What to signal as soon as it is there, in order: a TERM takes back no KILL."""
        self._verdict: ProgramEnd | None = None

    def start(self) -> None:
        """Run it on a thread of its own.  Where there is none, it has ended."""
        try:
            self._platform.spawn(f"pump-{self._work.argv[0]}", self._run)
        except RuntimeError as error:
            self._bell.close()
            self._listener.ended(ProgramEnd(str(error), started=False))

    def write(self, data: bytes) -> bool:
        """Hand over what it is to read; False: it takes no more.  Never waits."""
        with self._lock:
            unread = len(self._outgoing) + len(data)
            if self._no_more or self._verdict is not None or unread > MAX_UNREAD_BYTES:
                return False
            self._outgoing += data
        self._bell.ring()
        return True

    def hang_up(self) -> None:
        """Close its stdin once it has read everything: a polite program ends then."""
        with self._lock:
            self._no_more = True
        self._bell.ring()

    def terminate(self) -> None:
        """TERM to the whole tree."""
        self._signal(b"term")

    def kill(self) -> None:
        """KILL to the whole tree."""
        self._signal(b"kill")

    def _signal(self, verb: bytes) -> None:
        with self._lock:
            if self._link is None:
                self._early.append(verb)
            else:
                self._link.signal(self._token, verb)

    # The pump's thread.

    def _run(self) -> None:
        try:
            self._start_program()
            self._pump()
        except (OSError, ValueError, LinkClosed) as error:
            reason = getattr(error, "strerror", None) or str(error)
            self._decide(ProgramEnd(reason, started=self._link is not None))
        except Exception as error:  # noqa: BLE001 - whoever listens must hear of the end
            self._decide(ProgramEnd(f"{type(error).__name__}: {error}", started=True))
        self.kill()  # what it left behind
        for fd in (*self._pipes, *(() if self._stdin is None else (self._stdin,))):
            os.close(fd)
        self._bell.close()
        self._listener.ended(self._verdict or ProgramEnd("ended", started=True))

    def _start_program(self) -> None:
        fields = program_fields(self._work)
        self._faults.at(AT_START, self._work.argv[0])
        link = self._guardian.ensure()
        theirs = self._open_pipes()
        try:
            with self._lock:
                self._token = link.spawn(fields, theirs, self._report, talks=True)
                self._link = link
                for verb in self._early:
                    link.signal(self._token, verb)
        finally:
            if self._link is None:
                for fd in theirs:
                    os.close(fd)

    def _open_pipes(self) -> tuple[int, ...]:
        """Keep our ends; return stdin, stdout and stderr of the program."""
        stdin, self._stdin = os.pipe()
        os.set_blocking(self._stdin, False)
        return open_pipes(("stdout", "stderr"), self._pipes, [stdin])

    def _pump(self) -> None:
        """Write, read and tell until the program is over; then tell what is there already."""
        while self._verdict is None:
            for fd in self._ready():
                if fd == self._bell.fd:
                    self._bell.silence()
                elif fd == self._stdin:
                    self._write()
                elif self._read(fd) == 0 and self._close_pipe(fd) == "stdout":
                    self._silent_at = self._platform.monotonic()
            if self._patience_ms() == 0:
                self._decide(ProgramEnd("it closed its output", started=True))
            if self._no_more and not self._outgoing:
                self._close_stdin()
        for fd in tuple(self._pipes):
            taken = 0
            while taken < LAST_READ_BYTES and (size := self._read(fd)):
                taken += size

    def _ready(self) -> list[int]:
        self._faults.at(AT_WAIT, self._work.argv[0])
        poll = select.poll()
        for fd in (self._bell.fd, *self._pipes):
            poll.register(fd, select.POLLIN)
        with self._lock:
            if self._stdin is not None and self._outgoing:
                poll.register(self._stdin, select.POLLOUT)
        return [fd for fd, _ in poll.poll(self._patience_ms())]

    def _patience_ms(self) -> float | None:
        if self._silent_at is None:
            return None
        return max(0.0, (self._silent_at + LAST_WORD_S - self._platform.monotonic()) * 1000)

    def _write(self) -> None:
        """Write once; a program that reads no more is not written to any more."""
        self._faults.at(AT_WRITE, self._work.argv[0])
        assert self._stdin is not None  # noqa: S101 - it was ready
        with self._lock:
            try:
                written = os.write(self._stdin, bytes(self._outgoing[:READ_BYTES]))
                del self._outgoing[:written]
            except BlockingIOError:
                return
            except BrokenPipeError:
                self._no_more = True
                self._outgoing.clear()

    def _close_stdin(self) -> None:
        with self._lock:
            stdin, self._stdin = self._stdin, None
        if stdin is not None:
            os.close(stdin)

    def _read(self, fd: int) -> int | None:
        """Read once and tell it; 0 at the end of the stream, None when there is nothing now."""
        self._faults.at(AT_READ, self._work.argv[0])
        try:
            data = os.read(fd, READ_BYTES)
        except BlockingIOError:
            return None
        if data:
            self._listener.heard(self._pipes[fd], data)
        return len(data)

    def _close_pipe(self, fd: int) -> Stream:
        os.close(fd)
        return self._pipes.pop(fd)

    def _decide(self, end: ProgramEnd) -> None:
        with self._lock:
            self._verdict = self._verdict or end
        self._bell.ring()

    # The reaper's thread.

    def _report(self, report: Report) -> bool:
        """Take what the guardian says; False when the rest doesn't matter."""
        match report.what:
            case "exited":
                code = shell_exit_code(report.number)
                self._decide(ProgramEnd(f"it exited with code {code}", started=True))
            case "gone" | "stuck":
                self._decide(ProgramEnd("it was killed", started=True))
            case "lost":
                self._decide(ProgramEnd("its guardian died", started=True))
            case "chdir":
                why = f"can't start in {self._work.cwd!r}: {os.strerror(report.number)}"
                self._decide(ProgramEnd(why, started=False))
            case _:
                why = f"can't start {self._work.argv[0][:200]!r}: {os.strerror(report.number)}"
                self._decide(ProgramEnd(why, started=False))
        return False
