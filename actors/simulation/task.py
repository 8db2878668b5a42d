"""One task of a simulated world: what a thread is on the real platform."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from actors.simulation.scheduler import Scheduler

TaskState: TypeAlias = Literal["ready", "waiting", "ended"]

_HERE = os.path.dirname(os.path.abspath(__file__))
_OURS = os.path.dirname(os.path.dirname(_HERE))
_MACHINERY = {
    os.path.join(_HERE, f"{name}.py")
    for name in ("task", "scheduler", "condition", "platform", "baton_backend", "greenlet_backend")
}


class Killed(BaseException):
    """Unwinds a task of a world that is over.  Code under test must not see it as an error."""


class SimTask:
    """A started task.  Only the scheduler changes its state."""

    __slots__ = (
        "_scheduler",
        "carrier",
        "daemon",
        "group",
        "joiners",
        "killed",
        "name",
        "number",
        "priority",
        "state",
        "target",
        "ticket",
        "woken",
    )

    def __init__(
        self, scheduler: Scheduler, number: int, name: str, target: Callable[[], None], group: int
    ) -> None:
        """Make the ``number``-th task of a world, in the simulated process ``group``."""
        self._scheduler = scheduler
        self.number = number
        self.name = name
        self.target = target
        self.group = group
        self.killed = False
        """Its process was killed: it is unwound as soon as it comes to a point."""
        self.state: TaskState = "ready"
        self.woken = False
        """Whether the last wait ended by a wake, and not by its time."""
        self.ticket = 0
        """Counts waits, so that a timeout of an earlier one means nothing."""
        self.priority = 0.0
        self.daemon = False
        """Whether the world may end while it waits: its process has exited around it."""
        self.joiners: list[SimTask] = []
        self.carrier: object = None
        """What runs it: the backend's own."""

    def join(self, timeout: float | None = None) -> None:
        """Wait for its end, at most ``timeout`` seconds of the world's clock."""
        if self.state != "ended":
            self.joiners.append(self._scheduler.current)
            self._scheduler.wait(timeout)

    def is_alive(self) -> bool:
        """Tell whether it still runs."""
        return self.state != "ended"


def place(frame: FrameType | None) -> str:
    """Name the innermost function on a stack that is not the scheduler's, and its line."""
    while frame is not None and frame.f_code.co_filename in _MACHINERY:
        frame = frame.f_back
    if frame is None:
        return "its start"
    code = frame.f_code
    return f"{code.co_qualname} ({os.path.relpath(code.co_filename, _OURS)}:{frame.f_lineno})"
