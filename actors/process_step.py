"""A program as a step: its pump, which may wait for the client, and what the reaper tells it.

The pump thread opens the pipes, asks the guardian for the program, reads and offers output, and
says at last how the step ended.  The reaper's thread decides *that* it ended; from then on the
pump waits for nobody.
"""

from __future__ import annotations

import os
import select
from errno import E2BIG, EACCES, ENOENT
from typing import TYPE_CHECKING, TypeVar

from actors.bell import Bell
from actors.faults import WITH_ERROR, point
from actors.work import StepEnd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from actors.capture import StepOutput
    from actors.faults import Faults
    from actors.guardian import Guardian
    from actors.guardian_link import GuardianLink, Report
    from actors.platform import Platform
    from actors.work import AbortReason, EndKind, OutputSource, ProcessWork, Stream

AT_SPAWN = point("step.spawn", "a program is about to be started", WITH_ERROR)
AT_WAIT = point("step.wait", "the pump is about to wait for output or the end of a program")
AT_READ = point("step.read", "the pump is about to read what a program printed", WITH_ERROR)
AT_END = point("step.end", "a step is over and about to be reported")

Named = TypeVar("Named")
"""How a pipe's owner names what comes out of it."""

READ_BYTES = 65536
LAST_READ_BYTES = 1024 * 1024
"""Taken from each pipe after the program's end.  A background child may go on printing."""
MAX_REPORT_BYTES = 2 * 1024 * 1024
"""Kept of what a program reports; one that is cut is no report."""
KILL_WAIT_S = 10.0
"""After a kill, the guardian reports within 5 s; without a word for longer it is broken."""
MAX_NAME_CHARS = 200
"""Of a program, in messages."""
MAX_PROGRAM_BYTES = 16 * 1024 * 1024
"""Of arguments and environment; kernels refuse less, and the guardian must not hold more."""
MAX_STDIN_BYTES = 16 * 1024 * 1024
"""They lie in memory until the program has ended."""


class ProcessStep:
    """One program, from its start to its one `StepEnd`."""

    def __init__(
        self,
        step_id: str,
        work: ProcessWork,
        output: StepOutput,
        source: OutputSource,
        on_end: Callable[[StepEnd], None],
        *,
        guardian: Guardian,
        platform: Platform,
        faults: Faults,
    ) -> None:
        """Make the step; `start` runs it."""
        self.step_id = step_id
        self._work = work
        self._output = output
        self._source = source
        self._on_end = on_end
        self._guardian = guardian
        self._platform = platform
        self._faults = faults
        self._lock = platform.condition()
        self._bell = Bell(platform)
        self._pipes: dict[int, Stream | None] = {}
        """The reading ends; None: of the report."""
        self._report = bytearray()
        self._link: GuardianLink | None = None
        self._token = 0
        self._aborted: AbortReason | None = None
        self._killed_at: float | None = None
        self._exit_code: int | None = None
        self._verdict: tuple[EndKind, str | None] | None = None

    def start(self) -> None:
        """Run it on a thread of its own.  Where there is none, it has failed."""
        try:
            self._platform.spawn(f"step-pump-{self.step_id}", self._run)
        except RuntimeError as error:
            self._decide("failed", f"can't start {self._name()}: {error}")
            self._end()

    def abort(self, reason: AbortReason) -> None:
        """TERM to the whole tree; the step ends when all of it is gone."""
        with self._lock:
            if self._aborted is not None or self._verdict is not None:
                return
            self._aborted = reason
            self._signal(b"term")

    def kill(self) -> None:
        """KILL to the whole tree; output no longer waits for the client."""
        with self._lock:
            if self._verdict is not None:
                return
            self._aborted = self._aborted or "cancelled"
            self._killed_at = self._platform.monotonic()
            self._signal(b"kill")
        self._source.end()
        self._bell.ring()

    def _signal(self, verb: bytes) -> None:
        if self._link is not None:
            self._link.signal(self._token, verb)

    # The pump's thread.

    def _run(self) -> None:
        try:
            self._start_program()
            self._pump()
        except Exception as error:  # noqa: BLE001 - a step must end, whatever broke
            self._break_off(error)
        self._close_pipes()
        self._end()

    def _start_program(self) -> None:
        """Ask the guardian for the program, unless the step was aborted before."""
        fields = program_fields(self._work)
        self._faults.at(AT_SPAWN, self.step_id)
        if self._aborted is not None:
            self._decide(self._aborted)
            return
        link = self._guardian.ensure()
        written, talks = self._open_pipes(), self._work.stdin is not None
        try:
            with self._lock:  # an abort comes before this and is seen, or after it and is sent
                if self._aborted is None:
                    self._token = link.spawn(fields, written, self._hear, talks=talks)
                    self._link = link
        finally:
            if self._link is None:
                for fd in written:
                    os.close(fd)
        if self._aborted is not None and self._link is None:
            self._decide(self._aborted)

    def _open_pipes(self) -> tuple[int, ...]:
        """Keep the reading ends; return the others, after what becomes stdin."""
        stdin = [] if self._work.stdin is None else [_file_with(self._work.stdin)]
        report = (None,) if self._work.reports else ()
        return open_pipes(("stdout", "stderr", *report), self._pipes, stdin)

    def _pump(self) -> None:
        """Read and offer until the step is decided, then take what is there already."""
        poll = select.poll()
        for fd in (self._bell.fd, *self._pipes):
            poll.register(fd, select.POLLIN)
        while self._verdict is None:
            self._faults.at(AT_WAIT, self.step_id)
            for fd, _ in poll.poll(self._patience_ms()):
                if fd == self._bell.fd:
                    self._bell.silence()
                elif self._read(fd) == 0:
                    poll.unregister(fd)
                    self._close_pipe(fd)
            self._check_patience()
        for fd in tuple(self._pipes):
            self._read_rest(fd)
        self._output.finish()

    def _read(self, fd: int) -> int | None:
        """Read once and offer it; 0 at the end of the stream, None when there is nothing now."""
        self._faults.at(AT_READ, self.step_id)
        try:
            data = os.read(fd, READ_BYTES)
        except BlockingIOError:
            return None
        stream = self._pipes[fd]
        if stream is None:
            self._report += data[: MAX_REPORT_BYTES - len(self._report)]
        elif data:
            self._output.feed(stream, data)
        return len(data)

    def _read_rest(self, fd: int) -> None:
        taken = 0
        while taken < LAST_READ_BYTES and (size := self._read(fd)):
            taken += size

    def _patience_ms(self) -> float | None:
        with self._lock:
            if self._killed_at is None:
                return None
            left_s = self._killed_at + KILL_WAIT_S - self._platform.monotonic()
            return max(0.0, left_s * 1000)

    def _check_patience(self) -> None:
        if self._patience_ms() == 0:
            self._decide("lost", "killed, but the guardian does not answer")

    def _break_off(self, error: Exception) -> None:
        """Kill what was started, wait until it is gone, and report the error."""
        if self._link is None:
            self._decide("failed", f"can't start {self._name()}: {_reason(error)}")
            return
        with self._lock:
            broken = self._verdict is None
        self._close_pipes()
        self.kill()
        self._wait_for_verdict()
        if broken:
            self._verdict = ("lost", f"reading the output of {self._name()} failed: {error}")

    def _wait_for_verdict(self) -> None:
        poll = select.poll()
        poll.register(self._bell.fd, select.POLLIN)
        while self._verdict is None:
            if poll.poll(self._patience_ms()):
                self._bell.silence()
            self._check_patience()

    def _close_pipes(self) -> None:
        for fd in tuple(self._pipes):
            self._close_pipe(fd)

    def _close_pipe(self, fd: int) -> None:
        del self._pipes[fd]
        os.close(fd)

    def _end(self) -> None:
        """Report, once."""
        kind, error = self._verdict or ("lost", "ended without a verdict")
        try:
            self._faults.at(AT_END, self.step_id)
        except Exception as fault:  # noqa: BLE001 - an injected fault must not cost the report
            kind, error = "lost", f"reporting the end failed: {fault}"
        self._bell.close()
        self._on_end(
            StepEnd(
                self.step_id,
                kind,
                exit_code=self._exit_code,
                value=bytes(self._report) if self._work.reports else None,
                error=error,
                stdout=self._output.captured("stdout"),
                stderr=self._output.captured("stderr"),
            )
        )

    # The reaper's thread.

    def _hear(self, report: Report) -> bool:
        """Take what the guardian says; False when the rest doesn't matter."""
        match report.what:
            case "exited":
                with self._lock:
                    self._exit_code = shell_exit_code(report.number)
                    over = self._aborted is None
                # An aborted step is over when its whole tree is gone.
                if over:
                    self._decide("exited")
            case "gone":
                self._decide(self._aborted or "cancelled")
            case "stuck":
                self._decide(self._aborted or "cancelled", "killed, but still there")
            case "lost":
                self._decide("lost", f"{self._name()} was lost: {_whose_death(report.number)}")
            case stage:
                self._decide("failed", self._start_failure(stage, report.number))
        return self._verdict is None

    def _decide(self, kind: EndKind, error: str | None = None) -> None:
        """Settle how the step ended: the first word counts.  Then nobody waits any more."""
        with self._lock:
            if self._verdict is None:
                self._verdict = (kind, error)
        self._source.end()
        self._bell.ring()

    def _start_failure(self, stage: str, number: int) -> str:
        if stage == "chdir":
            return f"can't start {self._name()} in {self._work.cwd!r}: {os.strerror(number)}"
        if stage == "exec" and number == ENOENT:
            return f"can't start {self._name()}: program not found"
        if stage == "exec" and number == EACCES:
            return (
                f"can't start {self._name()}: {os.strerror(number)}; is it executable (chmod +x)?"
            )
        return f"can't start {self._name()}: {os.strerror(number)}"

    def _name(self) -> str:
        if not self._work.argv:
            return "an empty command"
        return repr(self._work.argv[0][:MAX_NAME_CHARS])


def program_fields(work: ProcessWork) -> list[bytes]:
    """Encode a program for the guardian.

    Raises:
        ValueError: It can't be a program's arguments, folder or environment.
        OSError: It is larger than any kernel takes.

    """
    argv = [os.fsencode(arg) for arg in work.argv]
    env = [os.fsencode(f"{name}={value}") for name, value in work.env.items()]
    fields = [os.fsencode(work.cwd), b"%d" % len(argv), *argv, *env]
    if not argv or not argv[0]:
        message = "no program given"
        raise ValueError(message)
    if any(b"\0" in field for field in fields):
        message = "a NUL byte in its arguments, folder or environment"
        raise ValueError(message)
    if len(work.stdin or b"") > MAX_STDIN_BYTES:
        message = f"more than {MAX_STDIN_BYTES} bytes for its stdin"
        raise ValueError(message)
    if any(not name or "=" in name for name in work.env):
        message = "an environment variable without a name, or with '=' in it"
        raise ValueError(message)
    if sum(map(len, fields)) > MAX_PROGRAM_BYTES:
        raise OSError(E2BIG, os.strerror(E2BIG))
    return fields


def open_pipes(
    streams: Iterable[Named], kept: dict[int, Named], stdin: list[int]
) -> tuple[int, ...]:
    """Open a pipe for each stream; return what the program gets, beginning with ``stdin``.

    Our ends, which never wait, go to ``kept`` one by one and are closed by whoever owns that.

    Raises:
        OSError: No descriptor is left; those for the program, ``stdin`` too, are closed.

    """
    theirs = list(stdin)
    try:
        for stream in streams:
            ours, other = os.pipe()
            theirs.append(other)
            kept[ours] = stream
            os.set_blocking(ours, False)
    except OSError:
        for fd in theirs:
            os.close(fd)
        raise
    return tuple(theirs)


def _file_with(data: bytes) -> int:
    """Return a descriptor to read ``data`` from: a file without a name.

    A pipe would hold 64 KiB only, and somebody would have to wait until the program reads.
    """
    fd = _nameless_file()
    try:
        with open(fd, "wb", closefd=False) as stream:
            stream.write(data)
        os.lseek(fd, 0, os.SEEK_SET)
    except OSError:
        os.close(fd)
        raise
    return fd


def _nameless_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("stdin")
    from tempfile import TemporaryFile

    with TemporaryFile() as file:
        return os.dup(file.fileno())


def shell_exit_code(status: int) -> int:
    """Return the exit code of a wait status as a shell tells it: 128+n for signal n."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _whose_death(status: int) -> str:
    return f"its warden died (wait status {status})" if status else "the guardian died"
