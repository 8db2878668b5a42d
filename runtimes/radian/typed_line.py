"""A line that a person types at this process's terminal, and what may come before it.

While nothing has been typed the prompt can be taken away for something else; from the first key on
the line belongs to the person, and whatever wants the terminal waits until it is sent.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from actors.signals import ENDING, end_at_once, ring
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import FrameType

    from actors.stdio import WakePipe

STDIN = 0
LOCAL = 3
"""Where the local modes stand among a terminal's."""


class Interrupted(NamedTuple):
    """The bell rang before anything was typed; the prompt is gone from the screen."""


def ask_line(prompt: str, bell: WakePipe | None = None) -> str | Interrupted | None:
    """Read a line; None at the end of input.  Ctrl-C ends the process: no turn runs.

    ``bell`` interrupts it as long as nothing is typed; it stays rung where it could not.
    """
    with _terminal() as modes:
        if modes is not None and bell is not None and not _typed_before(bell, prompt, modes):
            bell.silence()
            return Interrupted()
        try:
            return input(prompt)
        except EOFError:
            sys.stdout.write("\n")
            return None


def _typed_before(bell: WakePipe, prompt: str, modes: list[Any]) -> bool:
    """Show the prompt until a key is pressed, which is left to be read; False: the bell rang.

    Keys arrive as they are pressed from before the prompt is shown until the line is read: an end
    of input that is typed while the terminal still makes lines would be lost with its line.
    """
    _set_modes(modes, without=termios.ICANON | termios.ECHO)
    sys.stdout.write(prompt)
    sys.stdout.flush()
    ring(bell.ring_fd)  # a signal that lands in another thread has to end our wait, too
    poll = select.poll()
    poll.register(STDIN, select.POLLIN)
    poll.register(bell.fd, select.POLLIN)
    typed = bell.fd not in {fd for fd, _ in poll.poll()}
    # `input` shows the prompt again in the same place, and keys only where the terminal would.
    sys.stdout.write("\r" if typed else f"\r{' ' * len(prompt)}\r")
    sys.stdout.flush()
    _set_modes(modes, without=termios.ICANON)
    return typed


def _set_modes(modes: list[Any], *, without: int = 0) -> None:
    """Let the terminal be as ``modes`` say, but for some local ones."""
    wanted = [*modes]
    wanted[LOCAL] &= ~without
    with suppress(termios.error):  # it hung up, which the next read tells
        termios.tcsetattr(STDIN, termios.TCSANOW, wanted)


@contextmanager
def _terminal() -> Generator[list[Any] | None]:
    """Leave the terminal as it is now, also where a signal ends the process.

    Gives its modes; None: `input` does not show by itself what was typed before it is called.
    """
    try:
        modes: list[Any] = termios.tcgetattr(STDIN)
    except termios.error:  # no terminal
        end_at_once()
        yield None
        return

    def end(number: int, frame: FrameType | None) -> None:
        del frame
        _set_modes(modes)
        os._exit(128 + number)

    end_at_once()
    for number in ENDING:
        signal.signal(number, end)
    try:
        yield modes if _edits_lines() else None
    finally:
        _set_modes(modes)


def _edits_lines() -> bool:
    """Tell whether `input` is an editor of lines."""
    if not sys.stdout.isatty():
        return False
    with suppress(ImportError):
        import_module("readline")  # `input` uses it from then on
        return True
    return False
