"""A fault plan at work: counts hits, decides by seed, and waits only through its platform."""

from __future__ import annotations

import errno
import os
import random
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, TypeAlias

from actors.fault_plan import PlanInvalid
from actors.faults import point
from protocol.acp.line_kinds import line_kind
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from actors.fault_plan import FaultPlan, PlannedFault
    from actors.faults import FaultKind, Verdict
    from actors.platform import Platform

_OF_A_LINE: tuple[FaultKind, ...] = (
    "drop", "duplicate", "delay", "stall", "late", "garbage", "cut", "exit",
)  # fmt: skip
UPDATE_LINE = point("line.update", "an update is about to go to the client", _OF_A_LINE)
ANSWER_LINE = point("line.answer", "an answer is about to go to the client", _OF_A_LINE)
QUESTION_LINE = point("line.question", "a question of ours is about to go out", _OF_A_LINE)
LINE_POINTS = {"update": UPDATE_LINE, "answer": ANSWER_LINE, "question": QUESTION_LINE}

Leave: TypeAlias = "Callable[[int, bool], None]"
"""Ends the process with a code; True: once everything that was said has been written."""


class InjectedCrash(Exception):  # noqa: N818 - it stands for any bug
    """A bug that the fault plan asked for."""


class InjectedError(OSError):
    """A failure of the system that the fault plan asked for."""


class Fired(NamedTuple):
    """A fault that was injected: the ``hit``-th time that ``who`` came to the point."""

    point: str
    who: str
    hit: int
    fault: FaultKind
    entry: int = 1
    """Which of the plan's faults it was, from 1."""

    def __str__(self) -> str:
        return f"{self.fault} at {self.point}{f' ({self.who})' if self.who else ''}, hit {self.hit}"


class _Entry:
    """One entry of the plan, and how often it was hit and has fired."""

    __slots__ = ("chance", "fault", "fired", "hits", "number")

    def __init__(self, fault: PlannedFault, number: int, seed: int) -> None:
        self.fault = fault
        self.number = number
        # From text, not from hash(): the same for each run of the interpreter.
        self.chance = random.Random(f"{seed}/{number}")  # noqa: S311 - repeatable is the point
        self.hits = 0
        self.fired = 0

    def take(self, who: str) -> bool:
        """Count a hit if it is one of ours, and decide whether it fires."""
        fault = self.fault
        if not fnmatchcase(who, fault.who):
            return False
        self.hits += 1
        if fault.limit is not None and self.fired >= fault.limit:
            return False
        if fault.hit is not None and self.hits < fault.hit:
            return False
        if fault.probability is not None and self.chance.random() >= fault.probability:
            return False
        self.fired += 1
        return True


class _Held:
    """A line that comes late: after ``left`` more lines, or behind an answer."""

    __slots__ = ("frame", "left")

    def __init__(self, frame: bytes, left: int | None) -> None:
        self.frame = frame
        self.left = left


class PlannedFaults:
    """See `actors.faults.Faults`.  Called from any thread."""

    def __init__(
        self,
        plan: FaultPlan,
        platform: Platform,
        told: Callable[[Fired], None] | None = None,
        leave: Leave | None = None,
    ) -> None:
        """Inject the faults of ``plan``, which must have been checked.

        Args:
            plan: What goes wrong.
            platform: Delays and stalls wait here.
            told: Called for each fault before it takes effect; must not wait.
            leave: Ends the process; without it the plan must not have ``exit``.

        Raises:
            PlanInvalid: It has.

        """
        if leave is None and any(fault.fault == "exit" for fault in plan.faults):
            message = f"plan {plan.name}: only a real server can exit"
            raise PlanInvalid(message)
        self.plan = plan
        self._platform = platform
        self._told = told
        self._leave = leave
        self._changed = platform.condition()
        self._entries: dict[str, list[_Entry]] = {}
        for number, fault in enumerate(plan.faults, start=1):
            entry = _Entry(fault, number, plan.seed)
            self._entries.setdefault(fault.point, []).append(entry)
        self._lines_too = not self._entries.keys().isdisjoint(LINE_POINTS.values())
        self._held: list[_Held] = []
        self._healed = False
        self._released = False
        self.fired: list[Fired] = []
        """Every fault so far, oldest first."""

    def at(self, name: str, who: str = "") -> Verdict:
        """See `actors.faults.Faults.at`.

        Raises:
            InjectedCrash: The plan says ``crash``.
            InjectedError: The plan says ``error``.

        """
        if name not in self._entries:
            return "pass"
        verdict: Verdict = "pass"
        for fault in self._due(name, who):
            match fault.fault:
                case "crash":
                    message = f"injected at {name} ({who})"
                    raise InjectedCrash(message)
                case "error":
                    number = getattr(errno, fault.errno)
                    raise InjectedError(number, f"{os.strerror(number)} (injected at {name})")
                case "drop" | "duplicate":
                    verdict = fault.fault
                case _:
                    self._wait_or_leave(fault, flushed=False)
        return verdict

    def lines(self, frames: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
        """See `actors.faults.Faults.lines`."""
        if not self._lines_too:
            yield frames
            return
        for frame in frames:
            kind = line_kind(frame)
            due = self._due(LINE_POINTS[kind.sort], kind.who) if kind.sort in LINE_POINTS else []
            for piece in self._changed_line(frame, due):
                yield (piece, *self._overtaken_by(kind.sort))

    def release(self) -> None:
        """End every delay and stall, now and from now on: the connection is ending."""
        with self._changed:
            self._released = True
            self._changed.notify_all()

    def heal(self) -> None:
        """Let nothing go wrong from now on, and end every delay and stall."""
        self._healed = True
        self.release()

    def _due(self, name: str, who: str) -> list[PlannedFault]:
        due: list[PlannedFault] = []
        fired: list[Fired] = []
        with self._changed:
            for entry in self._entries.get(name, ()):
                if not self._healed and entry.take(who):
                    due.append(entry.fault)
                    fired.append(Fired(name, who, entry.hits, entry.fault.fault, entry.number))
            self.fired += fired
        if self._told is not None:
            for each in fired:
                self._told(each)
        return due

    def _wait_or_leave(self, fault: PlannedFault, *, flushed: bool) -> None:
        if fault.fault == "exit":
            assert self._leave is not None  # noqa: S101 - checked when the plan was taken
            self._leave(fault.code, flushed)
            return
        due = None if fault.seconds is None else self._platform.monotonic() + fault.seconds
        with self._changed:
            while not self._released:
                left_s = None if due is None else due - self._platform.monotonic()
                if left_s is not None and left_s <= 0:
                    return
                self._changed.wait(left_s)

    # --- lines

    def _changed_line(self, frame: bytes, due: list[PlannedFault]) -> Iterator[bytes]:
        """Yield what goes out in place of a line, waiting where the plan says so."""
        before: list[bytes] = []
        after: list[bytes] = []
        line: bytes | None = frame
        for fault in due:
            match fault.fault:
                case "drop":
                    line = None
                case "duplicate":
                    after.append(frame)
                case "late":
                    line = None
                    self._hold(frame, None if fault.behind == "answer" else fault.behind)
                case "cut":
                    line = frame[: len(frame) // 2] + b"\n"
                case "garbage":
                    line = None if fault.place == "instead" else line
                    (before if fault.place == "before" else after).append(_line(fault.text))
                case _:
                    # What an earlier fault put before the line is out by then.
                    yield from before
                    before.clear()
                    self._wait_or_leave(fault, flushed=True)
        yield from before
        if line is not None:
            yield line
        yield from after

    def _hold(self, frame: bytes, left: int | None) -> None:
        with self._changed:
            self._held.append(_Held(frame, left))

    def _overtaken_by(self, sort: str) -> list[bytes]:
        """Count a line that goes out, and return what was held back until then."""
        if not self._held:
            return []
        with self._changed:
            for held in self._held:
                if held.left is not None:
                    held.left -= 1
                elif sort == "answer":
                    held.left = 0
            free = [held.frame for held in self._held if held.left is not None and held.left <= 0]
            self._held = [held for held in self._held if held.left is None or held.left > 0]
        return free


def _line(text: str) -> bytes:
    return text.encode("utf-8", "replace") + b"\n"


def pinned(plan: FaultPlan, fired: Iterable[Fired]) -> FaultPlan:
    """Return a plan that leaves nothing to chance: only what ``fired``, at the same hits."""
    faults = tuple(
        replace(plan.faults[each.entry - 1], hit=each.hit, probability=None, times=1)
        for each in fired
    )
    return replace(plan, faults=faults)
