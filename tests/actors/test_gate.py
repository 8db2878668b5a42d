"""The gate: never more than its capacity, first in first out, and nobody waits for ever."""

from __future__ import annotations

import os
import random
import threading
from typing import TYPE_CHECKING

import pytest

from actors.backpressure import STALL_NOTICE_S, BackpressureActor, GateStatus
from actors.faults import NoFaults
from actors.gate import CAPACITY, Gate, GateClosed
from actors.messages import Stop
from actors.stdio import ClientGone
from actors.writer import WriterActor
from tests.actors.stage import WAIT_S, Stage
from tests.fakes import CrashAt, FakePlatform, Running

if TYPE_CHECKING:
    from actors.faults import Faults


def _gate(capacity: int = CAPACITY, faults: Faults | None = None) -> Gate:
    return Gate(FakePlatform(), faults or NoFaults(), capacity)


def _line(producer: int, number: int) -> bytes:
    return b"%d:%d:%s\n" % (producer, number, b"x" * (number * 7 % 50))


def _wait_until_waiting(gate: Gate, count: int) -> None:
    """Wait for producers to wait; they tell nobody, so we look again and again."""
    for _ in range(1_000_000):
        if gate.waiting == count:
            return
        os.sched_yield()
    message = f"{gate.waiting} producers wait, not {count}"
    raise TimeoutError(message)


def test_a_batch_is_the_whole_queue_and_its_slots_stay_taken_until_its_last_byte_left() -> None:
    gate = _gate()
    gate.put([b"one\n", b"two\n"])

    batch = gate.take()
    gate.put([b"three\n"])
    gate.written(7)

    assert bytes(batch) == b"one\ntwo\n"
    assert bytes(gate.take()) == b"\n"
    assert gate.pending == 3
    gate.written(1)
    assert gate.pending == 1
    assert bytes(gate.take()) == b"three\n"


def test_more_than_fits_waits_for_room_in_order() -> None:
    gate = _gate(capacity=4)
    lines = [_line(0, number) for number in range(11)]
    producer = Running(lambda: gate.put(lines))
    got = b""

    while got.count(b"\n") < 11:
        os.sched_yield()
        batch = gate.take()
        got += bytes(batch[:3])
        gate.written(min(3, len(batch)))

    assert producer.error() is None
    assert got == b"".join(lines)
    assert gate.peak == 4


def test_who_waits_is_let_in_first_come_first_served_and_wakes_when_all_of_it_is_in() -> None:
    gate = _gate(capacity=4)
    first = Running(lambda: gate.put([_line(1, number) for number in range(10)]))
    _wait_until_waiting(gate, 1)
    second = Running(lambda: gate.put([_line(2, number) for number in range(3)]))
    _wait_until_waiting(gate, 2)
    got = b""

    for waiting in (2, 1, 0):  # 4 and 4 of the first; its last 2 with 2 of the second; the last 1
        got += bytes(gate.take())
        gate.written(len(gate.take()))
        _wait_until_waiting(gate, waiting)

    got += bytes(gate.take())
    assert (first.error(), second.error()) == (None, None)
    assert got == b"".join(
        [_line(1, number) for number in range(10)] + [_line(2, number) for number in range(3)]
    )
    assert gate.peak == 4


@pytest.mark.parametrize("waiting", [1, 2, 7, 32])
def test_close_frees_every_waiter_and_counts_what_is_abandoned(waiting: int) -> None:
    gate = _gate(capacity=4)
    gate.put([b"x\n"] * 3)
    gate.written(len(gate.take()[:2]))  # in the middle of a batch
    gate.put([b"y\n"])
    producers = [Running(lambda: gate.put([b"z\n"])) for _ in range(waiting)]
    _wait_until_waiting(gate, waiting)

    assert gate.close() == 4
    assert gate.close() == 4

    for producer in producers:
        assert isinstance(producer.error(), GateClosed)
    assert gate.waiting == 0
    assert gate.pending == 0
    assert not gate.take()
    with pytest.raises(GateClosed):
        gate.put([b"late\n"])
    gate.written(5)  # the write that was under way
    assert gate.pending == 0


def test_a_put_that_is_cut_short_by_the_close_raises() -> None:
    gate = _gate(capacity=2)
    producer = Running(lambda: gate.put([b"x\n"] * 5))
    _wait_until_waiting(gate, 1)

    assert gate.close() == 2

    assert isinstance(producer.error(), GateClosed)


def test_the_writer_is_woken_once_for_each_time_the_gate_was_idle() -> None:
    gate, rings = _gate(), []
    gate.on_ready(lambda: rings.append("ring"))

    gate.put([b"a\n"])
    gate.put([b"b\n"])
    gate.written(len(gate.take()))
    gate.put([b"c\n"])

    assert len(rings) == 2


@pytest.mark.parametrize("capacity", [1, 2, 4, 64])
@pytest.mark.parametrize("seed", range(5))
def test_capacity_order_and_bytes_hold_under_many_producers_and_partial_writes(
    capacity: int, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - a schedule, no secret
    gate, ready = _gate(capacity), threading.Event()
    gate.on_ready(ready.set)
    counts = [chance.randrange(1, 120) for _ in range(chance.randrange(1, 9))]
    producers = [_producer(gate, number, count, seed) for number, count in enumerate(counts)]
    got, lines, highest = b"", 0, 0

    while lines < sum(counts):
        if not (batch := gate.take()):
            assert ready.wait(WAIT_S)
            ready.clear()
            continue
        highest = max(highest, gate.pending)
        size = chance.randrange(0, len(batch) + 1)
        piece = bytes(batch[:size])
        got, lines = got + piece, lines + piece.count(b"\n")
        gate.written(size)

    assert [producer.error() for producer in producers] == [None] * len(counts)
    assert max(highest, gate.peak) <= capacity
    for producer, count in enumerate(counts):
        mine = [
            line for line in got.splitlines(keepends=True) if line.startswith(b"%d:" % producer)
        ]
        assert mine == [_line(producer, number) for number in range(count)]


def _producer(gate: Gate, number: int, count: int, seed: int) -> Running[None]:
    chance = random.Random(seed * 100 + number)  # noqa: S311
    return Running(lambda: _produce(gate, number, count, chance))


def _produce(gate: Gate, producer: int, count: int, chance: random.Random) -> None:
    number = 0
    while number < count:
        size = min(count - number, chance.randrange(1, 20))
        gate.put([_line(producer, each) for each in range(number, number + size)])
        number += size


def test_a_full_gate_holds_exactly_its_capacity() -> None:
    gate = _gate()
    producers = [Running(lambda: gate.put([b"x\n"] * 10)) for _ in range(10)]
    while gate.pending < CAPACITY:
        os.sched_yield()

    assert gate.pending == gate.peak == 64
    gate.close()
    for producer in producers:
        producer.error()


class Wire:
    """A sink that takes a few bytes at a time, sometimes none, and fails when told to."""

    def __init__(self, seed: int, faults: Faults, total: int) -> None:
        self._chance = random.Random(seed)  # noqa: S311
        self._faults = faults
        self._total = total
        self.got = b""
        self.complete = threading.Event()

    def wake(self) -> None:
        """Nobody waits here."""

    def write(self, data: memoryview) -> int:
        self._faults.at("wire.write")
        size = self._chance.randrange(0, min(len(data), 40) + 1)
        self.got += bytes(data[:size])
        if len(self.got) == self._total:
            self.complete.set()
        return size


@pytest.mark.parametrize("point", ["gate.take", "wire.write", "actor.receive", "actor.handled"])
@pytest.mark.parametrize("seed", range(4))
def test_a_restarted_writer_leaves_no_gap_and_no_duplicate(point: str, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    faults = CrashAt(point, sorted(chance.sample(range(1, 30), 8)), actor="writer")
    stage = Stage(faults)
    gate = Gate(stage.platform, faults, 8)
    lines = [_line(0, number) for number in range(200)]
    wire = Wire(seed, faults, len(b"".join(lines)))
    address = stage.address("writer")

    def restart() -> None:
        address.bind(
            stage.start(lambda: WriterActor(stage.system, address, gate, wire, boom_if_gone))
        )

    restart()
    producer = Running(lambda: gate.put(lines))
    while not wire.complete.is_set():
        os.sched_yield()
        if not stage.ends.empty():
            assert stage.end() is not None
            restart()
    producer.error()

    assert wire.got == b"".join(lines)
    assert gate.peak == 8
    faults.armed = False
    stage.close()


def boom_if_gone(why: str) -> None:
    raise AssertionError(why)


def test_a_client_that_has_gone_closes_the_gate_and_frees_producers(stage: Stage) -> None:
    class Gone(Wire):
        def write(self, data: memoryview) -> int:
            del data
            message = "Broken pipe"
            raise ClientGone(message)

    why: list[str] = []
    gate = Gate(stage.platform, NoFaults(), 2)
    address = stage.address("writer")
    wire = Gone(0, NoFaults(), 1)
    address.bind(stage.start(lambda: WriterActor(stage.system, address, gate, wire, why.append)))

    error = Running(lambda: gate.put([b"x\n"] * 10)).error()

    assert isinstance(error, GateClosed)
    assert gate.closed
    assert why == ["Broken pipe"]


def test_the_gates_owner_reports_and_closes_it(stage: Stage) -> None:
    gate = Gate(stage.platform, NoFaults())
    address = stage.address("gate")
    ref = stage.start(lambda: BackpressureActor(stage.system, address, gate))
    gate.put([b"x\n"] * 3)

    assert ref.ask(GateStatus(), timeout=WAIT_S) == GateStatus(3, 3, 0, 0)
    ref.tell(Stop())
    stage.end()

    assert gate.closed
    assert gate.abandoned == 3


def test_a_client_that_does_not_read_is_worth_a_notice(stage: Stage) -> None:
    gate = Gate(stage.platform, NoFaults(), 1)
    address = stage.address("gate")
    ref = stage.start(lambda: BackpressureActor(stage.system, address, gate))
    producer = Running(lambda: gate.put([b"x\n"] * 2))
    _wait_until_waiting(gate, 1)

    while not stage.telemetry.count("client_stalled"):
        stage.platform.advance(STALL_NOTICE_S + 1)
        ref.ask(GateStatus(), timeout=WAIT_S)

    gate.close()
    assert isinstance(producer.error(), GateClosed)
