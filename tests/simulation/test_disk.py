"""The simulated disk keeps what was forced to it, and no more than that for sure."""

from __future__ import annotations

import os
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from actors.faults import NoFaults
from actors.simulation.backend import make_backend
from actors.simulation.disk import SimDisk
from actors.simulation.policies import make_policy
from actors.simulation.scheduler import Scheduler
from actors.simulation.seeds import stream
from actors.simulation.trace import Trace
from ops.whole_file import whole_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.simulation.backend import Backend

SEEDS = 60


def after_power_losses(play: Callable[[SimDisk], None]) -> set[bytes | None]:
    """Return what ``note`` may hold once the power was lost after ``play``."""
    return {_after_one(play, f"disk/{seed}") for seed in range(SEEDS)}


def _after_one(play: Callable[[SimDisk], None], seed: str) -> bytes | None:
    with closing(make_backend("threads")) as backend:
        return _written(play, seed, backend)


def _written(play: Callable[[SimDisk], None], seed: str, backend: Backend) -> bytes | None:
    scheduler = Scheduler(backend, make_policy("random", stream(seed, "policy")), Trace())
    backend.begin(scheduler.body)
    found: list[bytes | None] = []

    def main() -> None:
        disk = SimDisk(scheduler, NoFaults(), stream(seed, "disk"))
        write_whole(disk, b"old")
        play(disk)
        disk.lose_power()
        found.append(disk.read("folder/note"))

    scheduler.run(main)
    return found[0]


def write_whole(disk: SimDisk, content: bytes) -> None:
    with whole_file("folder/note", disk=disk) as file:
        file.write(content)
        disk.force(file)
    disk.force_names("folder")


def test_a_whole_file_is_the_new_one_once_it_was_forced() -> None:
    assert after_power_losses(lambda disk: write_whole(disk, b"new")) == {b"new"}


def test_a_whole_file_that_was_not_forced_is_the_old_one_or_any_part_of_the_new() -> None:
    def play(disk: SimDisk) -> None:
        with whole_file("folder/note", disk=disk) as file:
            file.write(b"new")

    assert after_power_losses(play) == {b"old", b"", b"n", b"ne", b"new"}


def test_a_file_that_is_changed_in_place_may_be_empty() -> None:
    def play(disk: SimDisk) -> None:
        disk.open("folder/note", os.O_TRUNC)

    assert after_power_losses(play) == {b"old", b""}


def test_a_file_that_fails_leaves_nothing_behind() -> None:
    left: list[str] = []

    def play(disk: SimDisk) -> None:
        with suppress(ZeroDivisionError), whole_file("folder/note", disk=disk) as file:
            file.write(bytes(1 // 0))
        left.extend(disk.names("folder"))

    after_power_losses(play)

    assert left == ["note"] * SEEDS
