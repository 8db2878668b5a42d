"""A line that a person types at this process's terminal, and what may come before it.

While nothing has been typed the prompt can be taken away for something else; from the first key on
the line belongs to the person, and whatever wants the terminal waits until it is sent.
"""

from __future__ import annotations

import select
import signal
import sys
import termios
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from actors.signals import note, ring
from protocol.named_tuple import NamedTuple
from runtimes.radian.exit_codes import INTERRUPTED, TERMINATED

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from actors.stdio import WakePipe

STDIN = 0
LOCAL = 3
"""Where the local modes stand among a terminal's."""


class Interrupted(NamedTuple):
    """The bell rang before anything was typed; the prompt is gone from the screen."""


class SignalHeard(BaseException):
    """The process is told to end while a person is waited for: no turn runs."""

    def __init__(self, number: int) -> None:
        """``number``: the signal."""
        super().__init__(number)
        self.number = number


_heard: list[int] = []
"""The first signal that ends this process, once there was one; handlers have no better place."""


def hear_signals() -> None:
    """From now on let the first signal raise `SignalHeard`, wherever the main thread is.

    Later ones change nothing: what is left to do takes a bounded time, and must not be left half
    done.

    Raises:
        SignalHeard: There was one before.

    """
    note(_leave)
    if _heard:
        raise SignalHeard(_heard[0])


def finish_in_order() -> None:
    """From now on let signals change nothing: the process ends already."""
    note(_nothing_more)


def _leave(number: int) -> None:
    if not _heard:
        _heard.append(number)
        raise SignalHeard(number)


def _nothing_more(number: int) -> None:
    del number


def until_signal(run: Callable[[], int]) -> int:
    """Return what ``run`` does, or the exit code of a process that a signal ended at a prompt."""
    try:
        return run()
    except SignalHeard as heard:
        number = heard.number
    except (KeyboardInterrupt, SystemError):
        # `input` runs handlers also while it has an error at hand; the second of two signals then
        # turns what the first one raised into one of these.
        if not _heard:
            raise
        number = _heard[0]
    return INTERRUPTED if number == signal.SIGINT else TERMINATED


def ask_line(prompt: str, bell: WakePipe | None = None) -> str | Interrupted | None:
    """Read a line; None at the end of input.

    ``bell`` interrupts it as long as nothing is typed; it stays rung where it could not.

    Raises:
        SignalHeard: It is over.  Signals raise it also from here on, until a turn runs.

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
    """Leave the terminal as it is now, also where a signal ends it.

    Gives its modes; None: `input` does not show by itself what was typed before it is called.
    """
    hear_signals()
    try:
        modes: list[Any] = termios.tcgetattr(STDIN)
    except termios.error:  # no terminal
        yield None
        return
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
