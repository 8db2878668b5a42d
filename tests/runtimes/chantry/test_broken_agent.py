"""Real agents that break, as the pytest fixture hands them out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from actors.fault_plan import FaultPlan, PlanInvalid, PlannedFault
from actors.planned_faults import Fired
from runtimes.fault_file import read_plan
from runtimes.fault_points import all_points

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from runtimes.chantry.broken_agent import BrokenAgent

    MakeAgent = Callable[..., BrokenAgent]

HELLO = {"protocolVersion": 1, "clientCapabilities": {}}


def ask(agent: subprocess.Popen[bytes], request_id: int, method: str, params: object) -> Any:
    assert agent.stdin is not None
    assert agent.stdout is not None
    request = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    agent.stdin.write(json.dumps(request).encode() + b"\n")
    agent.stdin.flush()
    return json.loads(agent.stdout.readline())


def test_an_agent_without_a_plan_works(broken_agent: MakeAgent) -> None:
    agent = broken_agent()

    assert ask(agent.start(), 1, "initialize", HELLO)["result"]["protocolVersion"] == 1
    assert agent.fired() == []
    assert "--faults" not in agent.argv


def test_what_fires_is_told_and_can_be_pinned(broken_agent: MakeAgent, tmp_path: Path) -> None:
    chance = PlannedFault(point="line.answer", fault="garbage", text="{}", probability=1.0)
    agent = broken_agent(FaultPlan(faults=(chance,), name="mine", about="garbles"))

    garbage = ask(agent.start(), 1, "initialize", HELLO)

    assert garbage == {}
    assert agent.fired() == [Fired("line.answer", "initialize", 1, "garbage", 1)]
    assert "FAULTS ON PURPOSE by plan 'mine' (seed 0): garbles" in agent.stderr()
    pinned = tmp_path / "pinned.toml"
    pinned.write_text(agent.pinned(), encoding="utf-8")
    (fault,) = read_plan(str(pinned), all_points()).faults
    assert (fault.hit, fault.probability, fault.times) == (1, None, 1)


def test_a_planned_exit_has_its_code_and_lets_out_what_was_said_before(
    broken_agent: MakeAgent,
) -> None:
    second = PlannedFault(point="line.answer", fault="exit", hit=2, code=9)
    process = broken_agent(FaultPlan(faults=(second,))).start()

    assert ask(process, 1, "initialize", HELLO)["id"] == 1
    assert process.stdin is not None
    process.stdin.write(b'{"jsonrpc":"2.0","id":2,"method":"nothing"}\n')
    process.stdin.flush()

    assert process.stdout is not None
    assert process.stdout.read() == b""
    assert process.wait(20) == 9


def test_a_stalled_server_still_ends_with_its_input(broken_agent: MakeAgent) -> None:
    stall = PlannedFault(point="line.answer", fault="stall")
    agent = broken_agent(FaultPlan(faults=(stall,)))
    process = agent.start()
    assert process.stdin is not None
    process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"nothing"}\n')
    process.stdin.close()

    assert process.wait(20) == 0


def test_a_plan_that_can_not_work_is_refused_before_anything_starts(
    broken_agent: MakeAgent,
) -> None:
    with pytest.raises(PlanInvalid, match="unknown point 'x'"):
        broken_agent(FaultPlan(faults=(PlannedFault(point="x", fault="crash"),)))
