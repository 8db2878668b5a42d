"""Looks at mutants one after another: do their tests pass without them, and fail with them?"""

from __future__ import annotations

import time
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, NamedTuple

from tests.mutants.mutant import Mutant, Simulate
from tests.mutants.workshop import Workshop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.mutants.mutant import Catcher

TAIL_LINES = 15


class Look(NamedTuple):
    """What came of one look; ``finding`` is empty when all is well."""

    name: str
    seconds: float
    finding: str = ""


def hunt(
    mutants: Sequence[Mutant], folder: Path, jobs: int, told: Callable[[Look], None]
) -> list[Look]:
    """Look at ``mutants`` in ``jobs`` workshops below ``folder``; return the findings.

    ``told`` is called after each look, one call at a time.
    """
    catchers = dict.fromkeys(catcher for each in mutants for catcher in each.caught_by)
    work: SimpleQueue[Mutant | Catcher] = SimpleQueue()
    for each in (*catchers, *mutants):
        work.put(each)
    lock, findings = Lock(), list[Look]()

    def run(number: int) -> None:
        workshop = Workshop(folder / str(number))
        while (each := _next(work)) is not None:
            look = (
                _mutant(workshop, each) if isinstance(each, Mutant) else _baseline(workshop, each)
            )
            with lock:
                told(look)
                findings.extend([look] if look.finding else [])

    threads = [Thread(target=run, args=(number,)) for number in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return findings


def _next(work: SimpleQueue[Mutant | Catcher]) -> Mutant | Catcher | None:
    try:
        return work.get(block=False)
    except Empty:
        return None


def _baseline(workshop: Workshop, catcher: Catcher) -> Look:
    """See that tests which are to fail with a mutant pass without one."""
    name, began = f"no mutant: {catcher}", time.monotonic()
    outcome = workshop.ask(catcher)
    finding = "" if outcome == "passed" else f"{outcome} without a mutant\n{_tail(workshop)}"
    return Look(name, time.monotonic() - began, finding)


def _mutant(workshop: Workshop, mutant: Mutant) -> Look:
    began = time.monotonic()
    try:
        workshop.apply(mutant)
        finding = next(filter(None, (_missed(workshop, each) for each in mutant.caught_by)), "")
        workshop.undo(mutant)
    except ValueError as error:
        finding = str(error)
    return Look(mutant.name, time.monotonic() - began, finding)


def _missed(workshop: Workshop, catcher: Catcher) -> str:
    match workshop.ask(catcher):
        case "failed":
            return ""
        case "hung":
            return f"{catcher} never ended" if isinstance(catcher, Simulate) else ""
        case "passed":
            return f"SURVIVES {catcher}"
        case "broken":
            return f"{catcher} could not run\n{_tail(workshop)}"


def _tail(workshop: Workshop) -> str:
    return "\n".join(f"    {line}" for line in workshop.said.splitlines()[-TAIL_LINES:])
