"""A simulated program: it prints, takes its time, forks, heeds TERM or not, and ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.process_step import AT_END, AT_READ, AT_SPAWN, LAST_READ_BYTES, READ_BYTES
from actors.simulation.pipe import SimPipe
from actors.work import StepEnd
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.capture import StepOutput
    from actors.faults import Faults
    from actors.simulation.book import Book
    from actors.simulation.platform import SimPlatform
    from actors.work import AbortReason, EndKind, OutputSource

PIPE_BYTES = 4_096
GRACE_S = 2.0
"""Between TERM and KILL, in all that simulated products start."""
TERM_CODE, KILL_CODE = 143, 137
RAW = b"\xff\xfe caf\xc3"
"""No UTF-8, and it ends inside of a character."""


class Script(NamedTuple):
    """What a program does; read from the last word of its command line."""

    takes: float = 0.0
    """Seconds after the last line."""
    prints: int = 0
    """Lines."""
    size: int = 8
    """Bytes of each."""
    code: int = 0
    ignores_term: bool = False
    term_takes: float = 0.0
    child: float = 0.0
    """Seconds that a background child outlives the start by; it holds the pipe."""
    raw: bool = False
    """Prints what is no UTF-8 at the end."""
    missing: bool = False
    """There is no such program."""
    answer: bytes = b""
    """Printed before the end, where whoever reads it needs it whole."""


def read_script(text: str) -> Script:
    """Read words like ``takes=2 prints=3 ignores_term``; others mean nothing."""
    given: dict[str, Any] = {}
    for word in text.split():
        name, _, value = word.partition("=")
        default = Script._field_defaults.get(name)
        if isinstance(default, bool):
            given[name] = True
        elif isinstance(default, int | float):
            given[name] = type(default)(value)
    return Script(**given)


class SimProcess:
    """One program from its start to its one `StepEnd`, as `actors.process_step` promises it."""

    def __init__(
        self,
        step_id: str,
        script: Script,
        output: StepOutput,
        source: OutputSource,
        on_end: Callable[[StepEnd], None],
        *,
        platform: SimPlatform,
        faults: Faults,
        book: Book,
        tag: str,
    ) -> None:
        """Make it; `start` runs it."""
        self.step_id = step_id
        self._script = script
        self._output = output
        self._source = source
        self._on_end = on_end
        self._platform = platform
        self._faults = faults
        self._book = book
        self.tag = tag
        self._message_id = f"{tag}/{step_id}/stdout"
        self._pipe = SimPipe(platform, PIPE_BYTES)
        self._changed = self._pipe.changed
        self._aborted: AbortReason | None = None
        self._killed = False
        self._began_s = 0.0
        self.aborted_after_s: float | None = None
        """How long it had run when TERM came."""
        self.hasty = False
        """KILL came without TERM, or before the grace was over."""
        self._alive = 0
        """The program and its child."""
        self._exit_code: int | None = None
        self._verdict: tuple[EndKind, str | None] | None = None

    @property
    def alive(self) -> bool:
        """Tell whether the program or its child runs."""
        return self._alive > 0

    def is_attempt_of(self, tag: str, step_id: str) -> bool:
        """Tell whether it belongs to that step."""
        return (self.tag, self.step_id) == (tag, step_id)

    def start(self) -> None:
        """Run it."""
        self._began_s = self._platform.monotonic()
        self._platform.spawn(f"pump {self.step_id}", self._pump)

    def abort(self, reason: AbortReason) -> None:
        """TERM to the whole tree."""
        with self._changed:
            if self._aborted is None and self._verdict is None:
                self._aborted = reason
                self.aborted_after_s = self._platform.monotonic() - self._began_s
                self._changed.notify_all()

    def kill(self) -> None:
        """KILL to the whole tree."""
        with self._changed:
            aborted_s, now = self.aborted_after_s, self._platform.monotonic()
            early = aborted_s is None or now < self._began_s + aborted_s + GRACE_S
            self.hasty |= early and self._verdict is None
        self._kill()

    def _kill(self) -> None:
        with self._changed:
            if self._verdict is not None:
                return
            self._aborted = self._aborted or "cancelled"
        self.sweep()
        self._source.end()

    def sweep(self) -> None:
        """Leave nothing alive, as the guardian does when the server is gone."""
        with self._changed:
            self._killed = True
            self._changed.notify_all()

    # --- the pump

    def _pump(self) -> None:
        try:
            self._faults.at(AT_SPAWN, self.step_id)
            self._start_program()
            while data := self._read():
                self._output.feed("stdout", data)
            self._output.finish()
        except Exception as error:  # noqa: BLE001 - as the real pump
            self._break_off(error)
        kind, error_text = self._verdict or ("lost", "no verdict")
        try:
            self._faults.at(AT_END, self.step_id)
        except Exception as fault:  # noqa: BLE001 - an injected fault must not cost the report
            kind, error_text = "lost", f"reporting the end failed: {fault}"
        stdout = self._output.captured("stdout")
        self._on_end(
            StepEnd(self.step_id, kind, exit_code=self._exit_code, error=error_text, stdout=stdout)
        )

    def _start_program(self) -> None:
        with self._changed:
            aborted = self._aborted
        if aborted is not None:
            self._decide(aborted)
        elif self._script.missing:
            self._decide("failed", "program not found")
        else:
            self._alive = 1 + bool(self._script.child)
            self._book.step_began(self.tag)
            if self._script.child:
                self._platform.scheduler.spawn_process(f"child of {self.step_id}", self._child)
            self._platform.scheduler.spawn_process(f"program {self.step_id}", self._program)

    def _read(self) -> bytes:
        """Return what was printed; empty once the step is decided and nothing is left."""
        self._faults.at(AT_READ, self.step_id)
        with self._changed:
            while not self._pipe.data and self._verdict is None:
                self._changed.wait()
            return self._pipe.take(READ_BYTES if self._verdict is None else LAST_READ_BYTES)

    def _break_off(self, error: Exception) -> None:
        self._book.unread.add(self._message_id)  # what is left in the pipe is lost, as it must be
        if self._alive:
            with self._changed:
                broken = self._verdict is None
            self._kill()
            with self._changed:
                while self._verdict is None:
                    self._changed.wait()
                if broken:
                    self._verdict = ("lost", f"reading the output failed: {error}")
        else:
            self._decide("failed", f"can't start: {error}")

    def _decide(self, kind: EndKind, error: str | None = None) -> None:
        with self._changed:
            if self._verdict is None:
                self._verdict = (kind, error)
            self._changed.notify_all()
        self._source.end()

    # --- the program and its child

    def _program(self) -> None:
        script = self._script
        for number in range(script.prints):
            if self._dying or not self._print(f"{number:03d}".ljust(script.size - 1, ".") + "\n"):
                break
        if script.raw and not self._dying and self._put(RAW):
            self._book.say(self._message_id, RAW.decode("utf-8", "replace"))
        if script.answer and not self._dying:
            self._put(script.answer)
        code = script.code if self._live_for(script.takes) else self._die()
        with self._changed:
            self._exit_code = code
            over = self._aborted is None
            if over:  # the child lives on, but the step is over
                self._book.step_ended(self.tag)
                self._decide("exited")
            self._gone()

    def _child(self) -> None:
        if not self._live_for(self._script.child):
            self._die()
        with self._changed:
            self._gone()

    def _gone(self) -> None:
        """Count one of the tree as gone; the last one of an aborted tree ends the step."""
        self._alive -= 1
        if not self._alive and self._verdict is None and self._aborted is not None:
            self._book.step_ended(self.tag)
            self._verdict = (self._aborted, None)
            self._source.end()
            self._changed.notify_all()

    @property
    def _dying(self) -> bool:
        return self._killed or (self._aborted is not None and not self._script.ignores_term)

    def _print(self, text: str) -> bool:
        if not self._put(text.encode()):
            return False
        self._book.say(self._message_id, text)
        return True

    def _put(self, data: bytes) -> bool:
        """Write to the pipe, waiting for room; False when a signal came first."""
        with self._changed:
            while self._pipe.room < len(data) and not self._dying:
                self._changed.wait()
            if self._dying:
                return False
            self._pipe.put(data)
            return True

    def _live_for(self, seconds: float) -> bool:
        """Let time pass; False when a signal that is heeded comes first."""
        until = self._platform.monotonic() + seconds
        with self._changed:
            while not self._dying and (left_s := until - self._platform.monotonic()) > 0:
                self._changed.wait(left_s)
            return not self._dying

    def _die(self) -> int:
        """Take the time that dying takes, unless it is KILL."""
        until = self._platform.monotonic() + self._script.term_takes
        with self._changed:
            while not self._killed and (left_s := until - self._platform.monotonic()) > 0:
                self._changed.wait(left_s)
            return KILL_CODE if self._killed else TERM_CODE
