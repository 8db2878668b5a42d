"""The user's side: is there a terminal, what is typed on it, and the signals it sends."""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TextIO

from runtimes.chantry.live_screen import LiveScreen
from runtimes.chantry.marks import look
from runtimes.chantry.plain_screen import PlainScreen
from runtimes.chantry.screen import SilentScreen

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import FrameType

    from runtimes.chantry.screen import Screen

_CHUNK_BYTES: Final = 64 * 1024
_HEARD: Final = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGCHLD,
    signal.SIGWINCH,
)


def is_interactive() -> bool:
    """Tell whether there is someone to ask: what is typed and what is shown are a terminal's."""
    return _is_terminal(sys.stdin) and _is_terminal(sys.stdout)


def choose_screen(clock: Callable[[], float], *, wire: bool) -> Screen:
    """Make the screen that fits stdout; with ``wire``, stdout is for the messages themselves."""
    if wire:
        return SilentScreen(sys.stderr)
    terminal = _is_terminal(sys.stdout) and os.environ.get("TERM") != "dumb"
    unicode = sys.stdout.encoding.lower().startswith("utf")
    style = look(unicode=unicode, colour=terminal and not os.environ.get("NO_COLOR"))
    kind = LiveScreen if terminal else PlainScreen
    return kind(sys.stdout, sys.stderr, style, clock)


class Keyboard:
    """Lines typed on stdin, also when stdin is a pipe or a file.

    While a turn runs, a terminal does not echo: what is typed then would tear the screen.
    """

    def __init__(self, *, terminal: bool) -> None:
        """Read lines; ``terminal``: from one that we may set up."""
        self.descriptor = 0
        self.ended = False
        self._held = b""
        self._lines: deque[str] = deque()
        self._terminal = terminal

    def read(self) -> None:
        """Read what is there; call it when the descriptor is readable."""
        chunk = os.read(self.descriptor, _CHUNK_BYTES)
        *lines, self._held = (self._held + chunk).split(b"\n")
        if not chunk:
            self.ended = True
            if self._held:
                lines, self._held = [self._held], b""
        self._lines.extend(line.decode(errors="replace").rstrip("\r") for line in lines)

    def take(self) -> str | None:
        """Take the oldest line, if one has come."""
        return self._lines.popleft() if self._lines else None

    def forget(self) -> None:
        """Drop what was typed before a question was there to be answered."""
        if self._is_ours():
            import termios

            termios.tcflush(self.descriptor, termios.TCIFLUSH)
            self._lines.clear()
            self._held = b""

    def echo(self, *, on: bool) -> None:
        """Show what is typed, or not."""
        if self._is_ours():
            import termios

            mode = termios.tcgetattr(self.descriptor)
            mode[3] = mode[3] | termios.ECHO if on else mode[3] & ~termios.ECHO
            termios.tcsetattr(self.descriptor, termios.TCSANOW, mode)

    @contextmanager
    def kept(self) -> Generator[None]:
        """Leave the terminal in the end as it was, whatever `echo` did."""
        if not self._is_ours():
            yield
            return
        import termios

        before = termios.tcgetattr(self.descriptor)
        try:
            yield
        finally:
            if self._is_ours():
                termios.tcsetattr(self.descriptor, termios.TCSADRAIN, before)

    def _is_ours(self) -> bool:
        """Tell whether we may set the terminal up: in the background that would stop us."""
        if not self._terminal:
            return False
        try:
            return os.tcgetpgrp(self.descriptor) == os.getpgrp()
        except OSError:  # a terminal, but not the one that we were started from
            return False


@contextmanager
def signals() -> Generator[int]:
    """Turn signals into bytes on a pipe, whose reading end this yields.  Main thread only."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    wakeup_before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    before = {number: signal.signal(number, _heard) for number in _HEARD}
    try:
        yield reader
    finally:
        signal.set_wakeup_fd(wakeup_before)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(reader)
        os.close(writer)


def _heard(_number: int, _frame: FrameType | None) -> None:
    """Let the interpreter write its byte: without a handler of ours it would not."""


def _is_terminal(stream: TextIO | None) -> bool:
    """Ask a stream, which is None when its descriptor was closed at the start."""
    return stream is not None and stream.isatty()
