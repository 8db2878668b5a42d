"""Stand-ins that tests share.  They wait for events, never for a duration."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from actors.faults import NoFaults
from actors.work import StepEnd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from actors.faults import Verdict
    from actors.work import AbortReason, EndKind, OutputSource, Render, Work

T = TypeVar("T")


class Running(Generic[T]):
    """A function on a thread of its own, and what came of it."""

    def __init__(self, function: Callable[[], T]) -> None:
        self._function = function
        self._result: list[T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def result(self, timeout_s: float = 10) -> T:
        """Wait for the end and return what the function returned, or raise what it raised."""
        error = self.error(timeout_s)
        if error is not None:
            raise error
        return self._result[0]

    def error(self, timeout_s: float = 10) -> BaseException | None:
        """Wait for the end and return what the function raised, if anything."""
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            message = f"still running after {timeout_s} s"
            raise TimeoutError(message)
        return self._error

    def is_running(self) -> bool:
        """Tell whether it has not ended yet."""
        return self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._result.append(self._function())
        except BaseException as error:  # noqa: BLE001 - kept for the test, which asks for it
            self._error = error


class Telemetry:
    """Keeps what it hears, and lets a test wait for it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.events: list[tuple[str, str, dict[str, Any]]] = []

    def event(self, kind: str, actor: str, **facts: Any) -> None:
        """Take one event."""
        with self._changed:
            self.events.append((kind, actor, facts))
            self._changed.notify_all()

    def count(self, kind: str, actor: str | None = None) -> int:
        """Tell how often ``kind`` was heard, of ``actor`` or of anybody."""
        return sum(1 for k, a, _ in tuple(self.events) if k == kind and actor in {None, a})

    def wait_for(self, kind: str, actor: str, times: int = 1, timeout_s: float = 20) -> None:
        """Wait until ``kind`` of ``actor`` was heard ``times`` times."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.count(kind, actor) >= times, timeout_s):
                message = f"{actor} {kind} not heard {times} times: {self.events}"
                raise TimeoutError(message)


class FakePlatform:
    """Real threads on a clock that only moves when the test says so."""

    def __init__(self) -> None:
        self._now_s = 1000.0
        self._conditions: list[threading.Condition] = []

    def condition(self) -> threading.Condition:
        """Make a condition whose timed waits end by `advance`."""
        condition = _UntimedCondition()
        self._conditions.append(condition)
        return condition

    def spawn(self, name: str, target: Callable[[], None]) -> threading.Thread:
        """Start a daemon thread."""
        thread = threading.Thread(name=name, target=target, daemon=True)
        thread.start()
        return thread

    def monotonic(self) -> float:
        """Tell the time of the test."""
        return self._now_s

    def wall(self) -> float:
        """Tell the time of the test."""
        return self._now_s

    def entropy(self, size: int) -> bytes:
        """Return the same bytes each time."""
        return b"\x07" * size

    def advance(self, seconds: float) -> None:
        """Let time pass: everyone who waits looks at the clock."""
        self._now_s += seconds
        for condition in tuple(self._conditions):
            with condition:
                condition.notify_all()


class _UntimedCondition(threading.Condition):
    def wait(self, timeout: float | None = None) -> bool:
        del timeout
        return super().wait()


class InjectedError(Exception):
    """What a fault plan of a test raises."""


class CrashAt(NoFaults):
    """Raises on the given hits of one fault point, whoever comes there, or only for one actor."""

    def __init__(self, point: str, hits: Iterable[int] = (1,), actor: str | None = None) -> None:
        self._point = point
        self._hits = frozenset(hits)
        self._actor = actor
        self._lock = threading.Lock()
        self._count = 0
        self.fired = 0
        self.armed = True

    def at(self, name: str, who: str = "") -> Verdict:
        """Count and raise when it is time."""
        del who
        if name != self._point or not self.armed:
            return "pass"
        if self._actor is not None and threading.current_thread().name != self._actor:
            return "pass"
        with self._lock:
            self._count += 1
            if self._count not in self._hits:
                return "pass"
            self.fired += 1
            message = f"hit {self._count} of {name}"
        raise InjectedError(message)

    def lines(self, frames: Sequence[bytes]) -> Iterable[Sequence[bytes]]:
        """Change nothing."""
        return (frames,)


class Faulty:
    """Several fault plans at once."""

    def __init__(self, *plans: CrashAt) -> None:
        self._plans = plans

    def at(self, name: str, who: str = "") -> Verdict:
        """Ask each."""
        for plan in self._plans:
            plan.at(name, who)
        return "pass"

    def lines(self, frames: Sequence[bytes]) -> Iterable[Sequence[bytes]]:
        """Change nothing."""
        return (frames,)


class FakeHandle:
    """A step that ends when the test says so, or as its script says on abort and kill."""

    def __init__(
        self, step_id: str, work: Work, source: OutputSource, on_end: Callable[[StepEnd], None]
    ) -> None:
        self.step_id = step_id
        self.work = work
        self.source = source
        self.heard: list[str] = []
        self._on_end = on_end
        self._lock = threading.Lock()
        self._over = False

    def abort(self, reason: AbortReason) -> None:
        """Note it; a step that is not stubborn ends."""
        self.heard.append(f"abort {reason}")
        if not self.stubborn:
            self.end(reason)

    def kill(self) -> None:
        """Note it and end."""
        self.heard.append("kill")
        self.end("cancelled")

    @property
    def stubborn(self) -> bool:
        """Whether only a kill ends it: its work is named so."""
        return getattr(self.work, "name", "") == "stubborn"

    def end(self, kind: EndKind = "returned", value: Any = None) -> None:
        """End it, once."""
        with self._lock:
            if self._over:
                return
            self._over = True
        self.source.end()
        self._on_end(StepEnd(self.step_id, kind, value=value))


class FakeSteps:
    """Starts steps that do nothing by themselves."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.started: list[FakeHandle] = []

    def start(
        self,
        step_id: str,
        work: Work,
        source: OutputSource,
        render: Render,
        on_end: Callable[[StepEnd], None],
    ) -> FakeHandle:
        """Start a step; see `actors.work.StepService`."""
        del render
        handle = FakeHandle(step_id, work, source, on_end)
        with self._changed:
            self.started.append(handle)
            self._changed.notify_all()
        return handle

    def close(self) -> None:
        """Nothing is left behind."""

    def wait_started(self, count: int = 1, timeout_s: float = 20) -> FakeHandle:
        """Wait until ``count`` steps were started in all and return the last of these."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.started) >= count, timeout_s):
                message = f"{len(self.started)} steps started, not {count}"
                raise TimeoutError(message)
            return self.started[count - 1]
