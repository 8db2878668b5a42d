"""Each plan of `examples/faults` breaks `radian acp` as it breaks `chant acp`."""

from __future__ import annotations

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING, Any

import pytest

from tests.runtimes.radian.acp.client import ASK, call
from tests.scripts import script
from tests.shared import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtimes.chantry.broken_agent import BrokenAgent
    from tests.runtimes.radian.box import Box

PLANS = ROOT / "examples" / "faults"
ENDS = {
    "broken-line": ("end_turn", 2),
    "dies-in-turn": ("dead, exit code 3", 0),
    "garbage-crash": ("dead, exit code 1", 3),
    "no-answer": ("silent", 0),
    "out-of-pace": ("end_turn", 0),
    "repeated-question": ("end_turn", 0),
    "repeated-update": ("end_turn", 0),
    "slow-stream": ("end_turn", 0),
}
"""How a turn ends for a careful client, and how many lines are no message to it."""
LOOK = call("glob", pattern="*")
FULL_DISK = """
[[fault]]
point = "journal.write"
fault = "error"
errno = "ENOSPC"
hit = 4
"""


def _clients() -> Any:
    spec = spec_from_file_location("faults_client", PLANS / "client.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["faults_client"] = module  # a dataclass looks its module up
    spec.loader.exec_module(module)
    return module


def allow(client: Any) -> list[Any]:
    """Have a client of the examples say yes to questions; return the ids of those that come."""
    asked: list[Any] = []
    next_one: Callable[[], bytes] = client.next_line

    def next_line() -> bytes:
        while True:
            line = next_one()
            message = json.loads(line)
            if message.get("method") != ASK:
                return line
            asked.append(message["id"])
            outcome = {"outcome": "selected", "optionId": "allow_once"}
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"outcome": outcome}}
            client.agent.stdin.write(json.dumps(answer).encode() + b"\n")
            client.agent.stdin.flush()

    client.next_line = next_line
    return asked


def run(agent: BrokenAgent, box: Box) -> tuple[Any, list[Any]]:
    """Run a prompt; return how it went, and what was asked meanwhile."""
    client = _clients().CarefulClient(agent.start())
    if agent.plan is not None and agent.plan.name == "no-answer":
        client.patience_s = 3.0
    asked = allow(client)
    return client.run(str(box.workspace), "make a note"), asked


def command_of(box: Box) -> list[str]:
    home = [f"RADIAN_HOME={box.home}", f"HOME={box.home.parent}"]
    return ["/usr/bin/env", *home, script("radian"), "acp"]


def play(box: Box) -> None:
    box.play(
        {
            "text": "One moment.",
            "tool_calls": [
                call("write", path=".radian/note", content="x"),
                call("glob", pattern="*"),
            ],
        },
        {"tool_calls": [call("read", path=".radian/note"), LOOK]},
        {"text": "Done."},
    )


def test_every_plan_of_the_guide_is_here() -> None:
    assert {path.stem for path in PLANS.glob("*.toml")} == set(ENDS)


@pytest.mark.parametrize("plan", sorted(ENDS))
def test_a_plan_breaks_radian_too(
    broken_agent: Callable[..., BrokenAgent], box: Box, plan: str
) -> None:
    play(box)
    agent = broken_agent(PLANS / f"{plan}.toml", command=command_of(box))

    turn, asked = run(agent, box)

    assert (turn.how, turn.strange) == ENDS[plan]
    assert agent.fired()
    assert "radian: FAULTS ON PURPOSE" in agent.stderr()
    assert len(asked) == (2 if plan == "repeated-question" else 1)


def test_a_disk_that_is_full_ends_the_turn_and_the_client_is_told(
    broken_agent: Callable[..., BrokenAgent], box: Box
) -> None:
    play(box)
    plan = box.home / "full-disk.toml"
    plan.write_text(FULL_DISK)
    agent = broken_agent(plan, command=command_of(box))

    turn, _asked = run(agent, box)

    assert turn.how == "refusal"
    assert [(each.point, each.fault) for each in agent.fired()] == [("journal.write", "error")]


def test_a_plan_with_a_mistake_starts_nothing(box: Box) -> None:
    plan = box.home / "plan.toml"
    plan.write_text('[[fault]]\npoint = "no.such"\nfault = "crash"\n')

    done = box.run("acp", "--faults", str(plan))

    assert (done.returncode, done.stdout) == (2, "")
    assert "no.such" in done.stderr


def test_a_steward_gets_no_broken_agent_unless_it_is_allowed(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHANT_STEWARD", "robot")

    refused = box.run("acp", "--faults", str(PLANS / "no-answer.toml"))
    allowed = box.run("acp", "--allow-faults", "--faults", str(PLANS / "no-answer.toml"))

    assert (refused.returncode, allowed.returncode) == (2, 0)
