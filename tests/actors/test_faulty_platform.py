"""Threads that don't start and sleepers that wake for nothing."""

from __future__ import annotations

import pytest

from actors.fault_plan import FaultPlan, PlannedFault
from actors.faulty_platform import FaultyPlatform
from actors.gate import Gate
from actors.planned_faults import PlannedFaults
from actors.real_platform import RealPlatform
from tests.fakes import Running


def faulty(fault: PlannedFault) -> tuple[FaultyPlatform, PlannedFaults]:
    faults = PlannedFaults(FaultPlan(faults=(fault,)), RealPlatform())
    return FaultyPlatform(RealPlatform(), faults), faults


def test_a_thread_may_be_refused_as_the_system_refuses_it() -> None:
    platform, _ = faulty(PlannedFault(point="thread.start", fault="error", who="speaker"))

    platform.spawn("other", lambda: None).join(20)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        platform.spawn("speaker", lambda: None)


def test_a_sleeper_that_wakes_for_nothing_sleeps_on() -> None:
    platform, faults = faulty(PlannedFault(point="thread.wait", fault="drop", probability=0.9))
    gate = Gate(platform, faults, capacity=1)
    gate.put([b"1\n"])
    producer = Running(lambda: gate.put([b"2\n"]))

    while len(faults.fired) < 5:
        assert producer.is_running()
    gate.written(len(gate.take()))

    producer.result()
    assert gate.peak == 1
    assert bytes(gate.take()) == b"2\n"
    gate.close()
