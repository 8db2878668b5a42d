"""What tests of real steps share: a recording source, started steps, and a look for survivors."""

from __future__ import annotations

import os
import select
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

from actors.work import CallableWork, ProcessWork

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from actors.steps import RealSteps
    from actors.work import StepEnd, StepHandle, Stream, Work, WorkContext

MARK = "CHANTRY_TEST_MARK"
"""Every process below a test's step carries this variable, unless it drops it."""
WAIT_S = 20.0


def show(stream: Stream, text: str) -> list[tuple[Stream, str]]:
    return [(stream, text)]


class Recorder:
    """A source that keeps what it was offered, and an ear for the step's ends."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.items: list[tuple[str, str]] = []
        self.ends: list[StepEnd] = []

    def offer(self, items: Iterable[tuple[str, str]]) -> None:
        with self._changed:
            self.items += items
            self._changed.notify_all()

    def end(self) -> None:
        pass

    def on_end(self, end: StepEnd) -> None:
        with self._changed:
            self.ends.append(end)
            self._changed.notify_all()

    def text(self, stream: str = "stdout") -> str:
        with self._changed:
            return "".join(text for where, text in self.items if where == stream)

    def wait_text(self, wanted: str) -> None:
        self._wait(lambda: wanted in self.text(), wanted)

    def wait_end(self) -> StepEnd:
        self._wait(lambda: bool(self.ends), "the end")
        return self.ends[0]

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        with self._changed:
            if not self._changed.wait_for(condition, WAIT_S):
                message = f"no {what!r} within {WAIT_S} s; {self.ends}"
                raise TimeoutError(message)


class StalledSource(Recorder):
    """A client that stopped reading: `offer` waits until the source is ended."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = threading.Event()
        self._ended = threading.Event()

    def offer(self, items: Iterable[tuple[str, str]]) -> None:
        self.waiting.set()
        if not self._ended.wait(WAIT_S):
            message = "nobody ended the source"
            raise TimeoutError(message)
        super().offer(items)

    def end(self) -> None:
        self._ended.set()


class Started:
    """A step that was started, and what is heard of it."""

    def __init__(self, steps: RealSteps, work: Work, recorder: Recorder | None = None) -> None:
        self.heard = recorder or Recorder()
        self.handle: StepHandle = steps.start("s1", work, self.heard, show, self.heard.on_end)

    def wait_text(self, wanted: str) -> Started:
        self.heard.wait_text(wanted)
        return self

    def wait_end(self) -> StepEnd:
        return self.heard.wait_end()


def program(
    *argv: str, mark: str = "", cwd: str = "/", env: Mapping[str, str] | None = None
) -> ProcessWork:
    base = {"PATH": os.environ["PATH"], MARK: mark}
    return ProcessWork(argv, cwd, {**base, **(env or {})})


def shell(script: str, mark: str = "") -> ProcessWork:
    return program("sh", "-c", script, mark=mark)


def call(function: Callable[[WorkContext], object]) -> CallableWork:
    return CallableWork("test", function)


def survivors(mark: str) -> list[int]:
    """Find the living processes that carry ``mark`` (a zombie has no environment any more)."""
    wanted = f"{MARK}={mark}".encode()
    return [pid for pid in _pids() if wanted in _read(pid, "environ").split(b"\0")]


def wait_runs(mark: str, name: str) -> None:
    """Wait until a process that carries ``mark`` has replaced itself by the program ``name``."""
    deadline_s = time.monotonic() + WAIT_S
    while not any(_read(pid, "comm").strip() == name.encode() for pid in survivors(mark)):
        if time.monotonic() > deadline_s:
            message = f"nobody runs {name}: {survivors(mark)}"
            raise AssertionError(message)


def wait_gone(mark: str) -> None:
    """Wait until nobody carries ``mark``: for each one's end, not for a duration."""
    deadline_s = time.monotonic() + WAIT_S
    while left := survivors(mark):
        for pid in left:
            wait_dead(pid)
        if time.monotonic() > deadline_s:
            message = f"new ones again and again: {left}"
            raise AssertionError(message)


def wait_dead(pid: int) -> None:
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if not select.select([fd], [], [], WAIT_S)[0]:
            message = f"process {pid} is still alive after {WAIT_S} s"
            raise AssertionError(message)
    finally:
        os.close(fd)


def open_descriptors() -> Counter[str]:
    """Count this process's descriptors by what they lead to (pipes and sockets by kind).

    Compare by ``<=``: a thread of an earlier test may close its own at any time.
    """
    kinds: Counter[str] = Counter()
    for fd in os.listdir("/proc/self/fd"):
        try:
            kinds[os.readlink(f"/proc/self/fd/{fd}").split(":")[0]] += 1
        except FileNotFoundError:
            continue  # the one that listed the folder
    return kinds


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _read(pid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return b""
