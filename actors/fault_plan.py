"""Fault plans as values: what goes wrong where, when and how often.  Pure.

`runtimes.fault_file` reads them from TOML; tests and simulations make them in Python.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from actors.faults import FaultKind, Point

Behind: TypeAlias = int | Literal["answer"]
Place: TypeAlias = Literal["before", "after", "instead"]

KINDS: dict[str, str] = {
    "crash": "raises, as a bug at this place would",
    "error": "raises the OSError that `errno` names",
    "delay": "waits for `seconds`",
    "stall": "waits for `seconds`; without them until the end, or until the faults are healed",
    "drop": "loses the message or line",
    "duplicate": "hands the message or line on twice",
    "exit": "ends the process with `code`, and no word",
    "late": "holds a line back until it is `behind` that many others, or behind an answer",
    "garbage": "puts the line `text` before, after or instead of a line (`place`)",
    "cut": "sends the first half of a line only",
}
"""What each fault does, in one line."""

INVARIANTS: dict[str, str] = {
    "answers": "each request is answered exactly once while the connection is open",
    "order": "no update of a turn comes after its answer",
    "output": "what the client reads is a prefix of what was said, in whole lines",
    "capacity": "no more than 64 messages are pending",
    "cancel": "a cancel hits what was read before it, and nothing else",
    "ends": "nothing waits for ever",
    "children": "no process of ours is alive at the end",
    "restarts": "no actor is restarted more often than its supervisor allows",
    "clean-up": "on_failure ran if and only if the run failed or was cancelled, each phase once",
    "ledger": "each run is in the ledger once, with its true status",
}
"""Names for a plan's ``suspends``: what can't hold, by nature, while its faults fire."""

FIELDS: dict[str, tuple[FaultKind, ...]] = {
    "seconds": ("delay", "stall"),
    "errno": ("error",),
    "code": ("exit",),
    "behind": ("late",),
    "text": ("garbage",),
    "place": ("garbage",),
}
"""Fields that only some faults have."""

GARBAGE = '{"jsonrpc":"2.0","method":'
"""What a garbage line says when the plan does not: JSON that stops in the middle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFault:
    """One entry of a plan.

    Without ``hit`` and ``probability`` it fires each time.  Hits are counted from 1, and only
    those that match ``who``.
    """

    point: str
    fault: FaultKind
    who: str = "*"
    """A pattern (``*``, ``?``) for the actor, step, thread or line that comes to the point."""
    hit: int | None = None
    """Fires from this hit on: once, unless ``times`` says more."""
    probability: float | None = None
    times: int | None = None
    """How often at most; None: once where there is a ``hit``, else without a limit."""
    seconds: float | None = None
    errno: str = "EIO"
    code: int = 1
    behind: Behind = 1
    text: str = GARBAGE
    place: Place = "before"

    @property
    def limit(self) -> int | None:
        """How often it may fire."""
        return 1 if self.times is None and self.hit is not None else self.times


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultPlan:
    """A named set of faults; equal plans with equal seeds decide alike."""

    faults: tuple[PlannedFault, ...]
    name: str = "plan"
    about: str = ""
    seed: int = 0
    suspends: tuple[str, ...] = ()
    """Names of `INVARIANTS` that can't hold while its faults fire."""


class PlanInvalid(ValueError):  # noqa: N818 - the plan is, as in OpInvalid
    """A plan names what does not exist, or asks a point for what it does not support."""


def checked(plan: FaultPlan, points: Mapping[str, Point]) -> FaultPlan:
    """Return ``plan`` if every entry can work.

    Raises:
        PlanInvalid: Some can't; the message has one line for each mistake.

    """
    mistakes = [
        f"fault {number}: {reason}"
        for number, fault in enumerate(plan.faults, start=1)
        for _, reason in mistakes_of(fault, points)
    ]
    mistakes += [
        f"suspends: {unknown(name, INVARIANTS)}" for name in plan.suspends if name not in INVARIANTS
    ]
    if mistakes:
        message = "\n".join(f"plan {plan.name}: {mistake}" for mistake in mistakes)
        raise PlanInvalid(message)
    return plan


def mistakes_of(fault: PlannedFault, points: Mapping[str, Point]) -> Iterator[tuple[str, str]]:
    """Yield each mistake of an entry as (field, reason)."""
    known = points.get(fault.point)
    if known is None:
        yield "point", f"unknown point {unknown(fault.point, points)}"
    elif fault.fault in KINDS and fault.fault not in known.can:
        yield "fault", f"{fault.point} can't {fault.fault}; it can {', '.join(known.can)}"
    if fault.fault not in KINDS:
        yield "fault", f"unknown fault {unknown(fault.fault, KINDS)}"
    if fault.hit is not None and fault.hit < 1:
        yield "hit", f"hits are counted from 1, not {fault.hit}"
    if fault.probability is not None and not 0 < fault.probability <= 1:
        yield "probability", f"a probability is over 0 and up to 1, not {fault.probability:g}"
    if fault.hit is not None and fault.probability is not None:
        yield "probability", "give hit or probability, not both"
    if fault.times is not None and fault.times < 1:
        yield "times", f"times must be at least 1, not {fault.times}"
    yield from _special_mistakes(fault)


def _special_mistakes(fault: PlannedFault) -> Iterator[tuple[str, str]]:
    if fault.fault == "delay" and fault.seconds is None:
        yield "fault", "a delay needs seconds"
    if fault.seconds is not None and not 0 < fault.seconds < float("inf"):
        yield "seconds", f"seconds must be over 0, not {fault.seconds:g}"
    if not isinstance(getattr(errno, fault.errno, None), int):
        yield "errno", f"unknown errno {fault.errno!r}; ENOSPC, EIO and EPIPE are some"
    if not 0 <= fault.code <= 255:  # noqa: PLR2004 - what an exit code can be
        yield "code", f"an exit code is 0 to 255, not {fault.code}"
    if fault.behind != "answer" and fault.behind < 1:
        yield "behind", f'behind is a number of lines or "answer", not {fault.behind!r}'
    if fault.place not in get_args(Place):
        yield "place", f"unknown place {unknown(fault.place, get_args(Place))}"


def unknown(name: str, known: Mapping[str, object] | tuple[str, ...]) -> str:
    """Say that ``name`` is none of ``known``, what was probably meant, and what there is."""
    import difflib

    close = difflib.get_close_matches(name, sorted(known), n=1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    return f"{name!r}{hint}; known: {', '.join(sorted(known))}"
