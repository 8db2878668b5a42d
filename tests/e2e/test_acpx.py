"""`chant acp` with acpx, which starts a new agent process for every turn."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.e2e.acpx_client import ABSENT, PROGRAM, Acpx
from tests.e2e.agents import CHANT
from tests.runtimes.chant.test_approve import GATED
from tests.scripts import script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.e2e.acpx_client import Told

    Make = Callable[..., "Acpx"]

pytestmark = pytest.mark.slow

ASKED = (0, 5)
"""How acpx ends: it allowed what was asked, or the turn was over first and it took the question
for cancelled."""


@pytest.fixture
def box(tmp_path: Path) -> Path:
    if not PROGRAM.is_file():
        pytest.skip(ABSENT.format("acpx is not installed"))
    folder = tmp_path / "box"
    folder.mkdir()
    CHANT.prepare(folder)
    (folder / "ops" / "gated.op.toml").write_text(GATED)
    return folder


@pytest.fixture
def make(box: Path, tmp_path: Path) -> Iterator[Make]:
    """Open a session of an agent with flags."""
    opened: list[Acpx] = []

    def client(*flags: str) -> Acpx:
        home = tmp_path / "home"
        home.mkdir()
        opened.append(Acpx(box, home, [*CHANT.command, *flags]))
        return opened[-1]

    yield client
    for each in opened:
        each.close()


def statuses(told: Told) -> list[str]:
    """Return how each tool call stood at last, in the order in which they were announced."""
    return [call.get("rawOutput", {}).get("status", "") for call in told.calls.values()]


def test_a_run_stops_at_a_gate_and_goes_through_with_a_new_process_for_each_turn(
    box: Path, make: Make
) -> None:
    client = make()

    stopped = client.turn("run gated")
    refused = client.turn("approve gated window --approver robot")
    person = [script("chant"), "approve", "gated", "window", "--approver", "ann"]
    subprocess.run(person, cwd=box, check=True, capture_output=True)
    passed = client.turn("chant run gated")

    assert stopped.result["stopReason"] == "end_turn"
    assert stopped.result["_meta"]["chant"]["exitCode"] == 3
    assert "chant approve gated window --approver <you>\n" in stopped.text
    assert statuses(stopped) == ["ok", "gated", "skipped"]
    assert refused.result["stopReason"] == "refusal"
    assert "same-origin" in refused.text
    assert passed.result["_meta"]["chant"]["status"] == "ok"
    assert statuses(passed) == ["ok", "ok", "ok"]
    assert (box / "log").read_text().split() == ["one", "one", "two"]
    for turn in (stopped, refused, passed):
        (resumed,) = turn.sent("session/resume")
        assert resumed["params"]["sessionId"] == client.session
        assert turn.sent("session/new") == []
    assert len(set(client.pids)) == 4


def test_a_cancel_in_mid_step_cleans_up(box: Path, make: Make) -> None:
    client = make()
    wait = "run undo --param 'script=echo ready; sleep 600'"

    told = client.cancelled_turn(wait, '"text":"ready')

    assert told.result["stopReason"] == "cancelled"
    assert (box / "undone").read_text() == "undone\n"
    assert not (box / "never").exists()


def test_a_client_that_allows_everything_opens_no_gate(box: Path, make: Make) -> None:
    client = make("--durable-requests", "--strict-stop-reasons")

    stopped = client.turn("run gated", ASKED)
    again = client.turn("run gated", ASKED)

    (asked,) = stopped.sent("session/request_permission")
    answers = [m for m in stopped.messages if m.get("id") == asked["id"] and "result" in m]
    assert len(answers) == 1
    assert stopped.result["_meta"]["chant"]["state"] == "waiting"
    assert statuses(again) == ["ok", "gated", "skipped"]
    assert (box / "log").read_text().split() == ["one", "one"]
